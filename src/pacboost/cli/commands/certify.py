"""``pacboost certify``: how wrong can a model be? Counted on rows that no fit has seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pacboost.cli import options


@click.command(
    epilog=options.example(
        "pacboost certify income.pacb fresh.csv --target income",
        "pacboost certify income.pacb fresh.csv --target income --epsilon 0.15 && echo good enough",
        "pacboost certify intents.pacb fresh.csv --target intent --target-error 0.02",
    )
)
@options.model_file
@options.data_file
@options.target
@options.epsilon
@options.delta
@click.option(
    "--models",
    default=1,
    show_default=True,
    help="How many models are scored on these rows, one of which may be kept.",
)
@click.option(
    "--groups",
    metavar="COLUMN",
    help="Rows with the same value here depend on each other (a patient, a customer).",
)
@click.option(
    "--copies",
    type=click.Choice(["auto", "independent", "once"]),
    default="auto",
    show_default=True,
    help="How equal rows with equal labels are counted: as separate draws, or once. auto: as "
    "separate draws if the training rows show that rows repeat, else in the worse of both ways.",
)
@click.option("--ordered", is_flag=True, help="Rows come in the order of time.")
@options.abstain_below
@click.option(
    "--target-error",
    type=float,
    help="Find the confidence from which on answers err on at most this share.",
)
@options.text
@options.drop
@options.as_json
def command(model: Path, data: Path, target: str, **given: Any) -> None:
    """Certify the error of a model on new examples, by rows that had no part in fitting it.

    With --abstain-below or --target-error it certifies the answers of which the model is confident.
    With --epsilon it ends with 1 if the error cannot be certified to be at most that.
    """
    from pacboost.cli.actions.certify import run_certify

    run_certify(model, data, target, given)
