"""``pacboost threshold``: the threshold at which a promise holds, and a model that uses it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pacboost.cli import options


@click.command(
    epilog=options.example(
        "pacboost threshold fraud.pacb fresh.csv --target fraud --positive yes --recall 0.95 "
        "--output careful.pacb",
        "pacboost threshold fraud.pacb fresh.csv --target fraud --cost 100,1 --json",
    )
)
@options.model_file
@options.data_file
@options.target
@click.option("--positive", metavar="CLASS", help="The class to be found.  [default: the second]")
@click.option("--recall", type=float, help="Find at least this share of the class.")
@click.option("--precision", type=float, help="At least this share of what is found is right.")
@click.option(
    "--false-positive-rate", type=float, help="At most this share of other classes is found."
)
@click.option(
    "--cost",
    metavar="MISS,ALARM",
    help="The costs of a missed example and of a false alarm; the certified mean is made small.",
)
@click.option(
    "--target-error",
    type=float,
    help="Answer only where confident, so that at most this share of the answers is wrong.",
)
@options.delta
@options.models
@options.copies
@options.order
@options.text
@options.drop
@options.format_options
@options.skip_unlabelled
@options.output("Write the model with its threshold to this file.")
@options.as_json
def command(model: Path, data: Path, target: str, output: Path | None, **given: Any) -> None:
    """Choose the threshold of a model so that recall, precision or false alarms are guaranteed.

    With --target-error rows whose confidence is too small get no answer, and the error among the
    answered is guaranteed. The rows have to be new to the model. Prints the guarantee, what is
    certified on the other side, and where the threshold lies. Exit code 1: no threshold keeps this
    promise, or more rows are needed, and how many.
    """
    from pacboost.cli.actions.certifying.threshold import run_threshold

    run_threshold(model, data, target, output, given)
