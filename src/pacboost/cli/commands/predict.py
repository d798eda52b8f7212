"""``pacboost predict``: a model and a file in, a class for every row out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pacboost.cli import options


@click.command(
    epilog=options.example(
        "pacboost predict income.pacb people.csv",
        "pacboost predict income.pacb people.csv --proba --keep id --output answers.csv",
    )
)
@options.model_file
@options.data_file
@click.option("--proba", is_flag=True, help="Give the probability of each class, too.")
@click.option(
    "--keep", metavar="COLUMN", multiple=True, help="Copy this column; may be given often."
)
@click.option(
    "--target", metavar="COLUMN", help="The column of labels, if there is one: count errors."
)
@options.abstain_below
@options.text
@options.drop
@options.output("Write CSV to this file instead of the standard output.")
@options.as_json
def command(model: Path, data: Path, output: Path | None, **given: Any) -> None:
    """Predict a class for every row of a CSV file.

    The file is read and answered a block of rows at a time, so it may be of any size. Columns are
    found by their names; others in the file do not matter. Answers are CSV with the columns
    "prediction" and, with --proba, one for each class.
    """
    from pacboost.cli.actions.predict import run_predict

    run_predict(model, data, output, **given)
