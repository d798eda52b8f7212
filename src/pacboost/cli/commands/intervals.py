"""``pacboost intervals``: intervals that contain the number with the requested probability."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pacboost.cli import options
from pacboost.cli.commands.sets import calibrate
from pacboost.cli.inputs.files import open_model


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
    help="residual: all intervals have the same width; scaled: by the spread of the trees of a "
    "forest. Choose it before the rows are looked at.",
)
@options.calibrating
@options.output("Write the model with its intervals to this file.")
@options.as_json
def command(model_path: Path, data: Path, **arguments: Any) -> None:
    """Calibrate prediction intervals by rows that the model was not trained on, and certify them.

    At least the share --coverage of new examples gets an interval that holds its number, with
    confidence 1 - delta. `pacboost predict --intervals` writes the intervals of new rows.
    """
    from pacboost.estimators.decisions.intervals import intervals

    hint = "for those there is pacboost sets"
    model, _, data = open_model(model_path, data, arguments["output"], classes=hint)
    calibrate(intervals, model, data, "mean_width",
              "Intervals of the calibration rows are {:.4g} wide", **arguments)  # fmt: skip
