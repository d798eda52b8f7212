"""``pacboost predict``: predict a class for every row of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pacboost.cli import options


@click.command(
    epilog=options.example(
        "pacboost predict income.pacb people.csv",
        "pacboost predict income.pacb people.csv --sets",
        "pacboost predict income.pacb people.csv --proba --keep id --output answers.csv",
    )
)
@options.model_file
@options.data_file
@click.option("--proba", is_flag=True, help="Also give the probability of each class.")
@click.option(
    "--sets",
    is_flag=True,
    help="Also give the prediction set of each row, its classes separated by |. `pacboost sets` "
    "has to come first.",
)
@click.option(
    "--by",
    metavar="COLUMN",
    help="With --sets: the column of groups, if every group has sets of its own.",
)
@click.option(
    "--intervals",
    is_flag=True,
    help="Also give the two ends of the interval of each row. `pacboost intervals` has to come "
    "first.",
)
@click.option(
    "--keep", metavar="COLUMN", multiple=True, help="Copy this column. The option may be repeated."
)
@click.option(
    "--target",
    metavar="COLUMN",
    help="The column of labels, if there is one: errors are then counted.",
)
@click.option(
    "--raw",
    is_flag=True,
    help="Write texts that begin with =, +, - or @ as they are. Otherwise an apostrophe is put "
    "before them, so that no spreadsheet runs them as formulas.",
)
@options.abstain_below
@options.text
@options.drop
@options.format_options
@options.output("Write CSV to this file instead of the standard output.")
@options.as_json
def command(model: Path, data: Path, output: Path | None, **given: Any) -> None:
    """Predict a class for every row of a file.

    The file is read in blocks of rows, so it may be larger than memory. Columns are found by their
    names; other columns are ignored. The output is CSV with the column "prediction" and, with
    --proba, one more column for each class; with --sets the column "set", and with --intervals the
    columns "low" and "high".
    """
    from pacboost.cli.actions.predict import run_predict

    run_predict(model, data, output, **given)
