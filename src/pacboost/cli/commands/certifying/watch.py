"""``pacboost watch``: is the certificate of a model in use still true?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pacboost.cli import options


@click.command(
    epilog=options.example(
        "pacboost watch income.pacb today.csv --target income --state income.watch",
        "pacboost watch income.pacb today.csv --reference last_year.csv --state income.watch",
    )
)
@options.model_file
@options.data_file
@click.option(
    "--target",
    metavar="COLUMN",
    help="The column that holds the labels. Without it, only the rows are compared.",
)
@click.option(
    "--state",
    type=options.FILE,
    help="Continue from this file if it exists, and save to it. Without it, the watch begins anew.",
)
@click.option(
    "--reference",
    type=options.FILE,
    help="Compare the rows with those of this file, from the time when all was well. Give the same "
    "file every time.",
)
@click.option("--error", type=float, help="The error to hold the model to.  [default: certified]")
@click.option(
    "--delta", type=float, help="The probability of ever giving a false alarm.  [default: 0.05]"
)
@click.option(
    "--run-length",
    type=int,
    help="The average number of labelled rows to a false alarm of the change detector, at least.  "
    "[default: 100000]",
)
@options.text
@options.drop
@options.format_options
@options.skip_unlabelled
@click.option("--plot", type=options.FILE, help="Draw the curves into this file.")
@click.option("--report", type=options.FILE, help="Write a page with the curves to this file.")
@options.as_json
def command(model: Path, data: Path, target: str | None, **given: Any) -> None:
    """Watch a model in use: its mistakes as labels come back, and its rows.

    Give every row once, in the order of time, for instance every night. The exit code is 3 if the
    certificate is refuted, the change detector has sounded, or the rows have drifted; also in later
    runs with the same --state.
    """
    from pacboost.cli.actions.certifying.watch import run_watch

    run_watch(model, data, target, given)
