"""``pacboost sets``: prediction sets that hold the true class as often as was asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from pacboost.cli import options
from pacboost.cli.inputs.files import FittedModel, open_model
from pacboost.cli.output import answer, bold, working


@click.command(
    epilog=options.example(
        "pacboost sets calls.pacb fresh.csv --target type --coverage 0.95 --output sure.pacb",
        "pacboost predict sure.pacb new.csv --sets",
    )
)
@options.model_file
@options.data_file
@options.target
@options.coverage
@click.option(
    "--method",
    type=click.Choice(["lac", "aps", "raps"]),
    default="lac",
    help="lac: labels of at least some probability; aps: larger sets where the model is unsure; "
    "raps: the same with a penalty on many labels. Choose it before the rows are looked at.",
)
@options.flag("--by-class", help="Cover the examples of every class to this extent.")
@options.column("--by", help="Cover every group of rows with a value of this.")
@options.calibrating
@options.output("Write the model with its sets to this file.")
@options.as_json
def command(model_path: Path, data: Path, by_class: bool, **arguments: Any) -> None:
    """Calibrate prediction sets by rows that the model was not trained on, and certify them.

    At least the share --coverage of new examples gets a set that holds its class, with confidence
    1 - delta. `pacboost predict --sets` writes the sets of new rows.
    """
    from pacboost.estimators.decisions.sets import sets

    hint = "for those there is pacboost intervals"
    model, _, data = open_model(model_path, data, arguments["output"], numbers=hint)
    make = partial(sets, by_class=by_class)
    calibrate(make, model, data, "mean_size", "Sets of the calibration rows hold {:.3g} classes",
              **arguments)  # fmt: skip


def calibrate(
    make: Callable[..., Any], model: FittedModel, data: Path, measure: str, average_text: str,
    target: str, output: Path | None, **arguments: Any,
) -> None:  # fmt: skip
    """Calibrate sets or intervals, save them, and print the certificate and the average size."""
    from pacboost.bounds.family import Family
    from pacboost.cli.inputs.rows import fresh_rows

    X, y, columns = fresh_rows(model, data, target, arguments)
    chosen = {name: arguments[name] for name in ("coverage", "method", "delta", "models", "copies")}
    asked = {name: column for name, column in columns.items() if column is not None}
    with working("calibrating"):
        covering = make(model, X, y, **asked, **chosen)
    if output is not None:
        covering.save(output)
    certified, mean = covering.certificate_, getattr(covering, f"{measure}_")
    content = {"sentence": covering.sentence_, **certified.to_dict(), measure: mean}
    table = ["", str(certified)] if isinstance(certified, Family) else []
    written = [f"Written to {output}."] if output is not None else []
    average = f"{average_text.format(mean)} on average (an estimate)."
    answer(arguments["as_json"], content, bold(covering.sentence_), average, *table, "", *written)
