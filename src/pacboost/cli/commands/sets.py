"""``pacboost sets``: prediction sets that hold the true class as often as was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from pacboost.cli import options
from pacboost.cli.inputs.files import check_output, load, model_first
from pacboost.cli.output import bold, print_json, print_parts, working
from pacboost.errors import FileError

COMMON = ("coverage", "method", "delta", "models", "copies")


@click.command(
    epilog=options.example(
        "pacboost sets intents.pacb fresh.csv --target intent --coverage 0.95 --output sure.pacb",
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
    show_default=True,
    help="lac: labels of at least some probability; aps: larger sets where the model is unsure; "
    "raps: the same with a penalty on many labels. Choose it before the rows are looked at.",
)
@click.option("--by-class", is_flag=True, help="Cover the examples of every class to this extent.")
@click.option("--by", metavar="COLUMN", help="Cover every group of rows with a value of this.")
@options.calibrating
@options.output("Write the model with its sets to this file.")
@options.as_json
def command(model_path: Path, data: Path, target: str, output: Path | None, **given: Any) -> None:
    """Calibrate prediction sets by rows that the model was not trained on, and certify them.

    At least the share --coverage of new examples gets a set that holds its class, with confidence
    1 - delta. `pacboost predict --sets` writes the sets of new rows.
    """
    from pacboost.cli.inputs.rows import fresh_rows
    from pacboost.estimators.decisions.sets import sets

    model_path, data = model_first(model_path, data)
    check_output(output, model_path, data)
    model = load(model_path)
    if not hasattr(model, "classes_"):
        raise FileError(f"{model_path}: predicts numbers; for those there is pacboost intervals")
    X, y, columns, order = fresh_rows(model, data, target, given)
    with working("calibrating"):
        options = {name: given[name] for name in COMMON}
        found = sets(model, X, y, by_class=given["by_class"], **columns, **options)
    size = found.mean_size_
    seen = f"Sets of the calibration rows hold {size:.3g} classes on average (an estimate)."
    tell(found, seen, output, given, {"mean_size": size, **order})


def tell(
    found: Any, seen: str, output: Path | None, given: Mapping[str, Any], more: Mapping[str, Any]
) -> None:  # fmt: skip
    """Save the model if asked to, and print what is certified and what was seen."""
    from pacboost.bounds.family import Family

    certified = found.certificate_
    if output is not None:
        found.save(output)
    if given["as_json"]:
        print_json({"sentence": found.sentence_, **certified.to_dict(), **more})
        return
    written = [f"Written to {output}."] if output is not None else []
    table = ["", str(certified)] if isinstance(certified, Family) else []
    print_parts(bold(found.sentence_), seen, *table, "", *written)
