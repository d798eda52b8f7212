"""``pacboost intervals``: prediction intervals that hold the number as often as was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pacboost.cli import options
from pacboost.cli.commands.sets import COMMON, tell
from pacboost.cli.inputs.files import check_output, load, model_first
from pacboost.cli.output import working
from pacboost.errors import FileError


@click.command(
    epilog=options.example(
        "pacboost intervals price.pacb fresh.csv --target price --coverage 0.9 -o sure.pacb",
        "pacboost predict sure.pacb new.csv --intervals",
    )
)
@options.model_file
@options.data_file
@options.target
@options.coverage
@click.option(
    "--method",
    type=click.Choice(["residual", "scaled"]),
    default="residual",
    show_default=True,
    help="residual: all intervals have the same width; scaled: by the spread of the trees of a "
    "forest. Choose it before the rows are looked at.",
)
@options.calibrating
@options.output("Write the model with its intervals to this file.")
@options.as_json
def command(model_path: Path, data: Path, target: str, output: Path | None, **given: Any) -> None:
    """Calibrate prediction intervals by rows that the model was not trained on, and certify them.

    At least the share --coverage of new examples gets an interval that holds its number, with
    confidence 1 - delta. `pacboost predict --intervals` writes the intervals of new rows.
    """
    from pacboost.cli.inputs.rows import fresh_rows
    from pacboost.estimators.decisions.intervals import intervals

    model_path, data = model_first(model_path, data)
    check_output(output, model_path, data)
    model = load(model_path)
    if hasattr(model, "classes_"):
        raise FileError(f"{model_path}: predicts classes; for those there is pacboost sets")
    X, y, columns, order = fresh_rows(model, data, target, given)
    with working("calibrating"):
        options = {name: given[name] for name in COMMON}
        found = intervals(model, X, y, groups=columns["groups"], **options)
    width = found.mean_width_
    seen = f"Intervals of the calibration rows are {width:.4g} wide on average (an estimate)."
    tell(found, seen, output, given, {"mean_width": width, **order})
