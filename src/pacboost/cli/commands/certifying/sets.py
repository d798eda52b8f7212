"""``pacboost sets``: prediction sets that hold the true class as often as was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pacboost.cli import options


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
def command(model: Path, data: Path, target: str, output: Path | None, **given: Any) -> None:
    """Calibrate prediction sets by rows that the model was not trained on, and certify them.

    At least the share --coverage of new examples gets a set that holds its class, with confidence
    1 - delta. `pacboost predict --sets` writes the sets of new rows.
    """
    from pacboost.cli.actions.certifying.covering import run_sets

    run_sets(model, data, target, output, given)
