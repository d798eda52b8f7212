"""``pacboost certify``: an upper bound on the error of a model, by rows that no fit has seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pacboost.cli import options


@click.command(
    epilog=options.example(
        "pacboost certify income.pacb fresh.csv --target income",
        "pacboost certify income.pacb fresh.csv --target income --epsilon 0.15 && echo good enough",
        "pacboost certify fraud.pacb fresh.csv --target fraud --of recall,precision --by country",
        "pacboost certify intents.pacb fresh.csv --target intent --target-error 0.02",
    )
)
@options.model_file
@options.data_file
@options.target
@click.option(
    "--of",
    metavar="NAMES",
    help="What to certify, separated by commas: error, recall, precision, false_positive_rate, "
    "false_negative_rate, f1, jaccard, balanced_error, top_k_error, auc, brier, log_loss; of "
    "regressors absolute_error, large_errors.  [default: error]",
)
@click.option(
    "--cost",
    metavar="TRUE:SAID=NUMBER",
    multiple=True,
    help="Certify the mean cost, where calling the class TRUE by the name SAID costs this. The "
    "option may be repeated; what is not named costs 0.",
)
@click.option("--positive", metavar="CLASS", help="The class that recall and the like speak of.")
@click.option("--by", metavar="COLUMN", help="Certify every group of rows with a value of this.")
@click.option(
    "--end",
    type=click.Choice(["lower", "upper", "both"]),
    help="Which end to certify.  [default: the one that matters]",
)
@click.option("--top-k", default=5, show_default=True, help="For top_k_error: how many classes.")
@click.option(
    "--p-min", default=0.001, show_default=True, help="For log_loss: clip probabilities here."
)
@click.option("--clip", type=float, help="For absolute_error: larger errors count as this.")
@click.option("--larger-than", type=float, help="For large_errors: count errors above this.")
@options.epsilon
@options.delta
@options.models
@click.option(
    "--groups",
    metavar="COLUMN",
    help="Rows with the same value in this column depend on each other (the same patient).",
)
@options.copies
@options.order
@click.option("--ordered", is_flag=True, help="The rows are in the order of time.")
@options.abstain_below
@click.option(
    "--target-error",
    type=float,
    help="Find the confidence above which at most this share of the answers is wrong.",
)
@options.text
@options.drop
@options.format_options
@options.skip_unlabelled
@options.as_json
def command(model: Path, data: Path, target: str, **given: Any) -> None:
    """Certify the error of a model on new examples, by rows that it was not trained on.

    With --of, --cost or --by other measures are certified, which all hold together. With
    --abstain-below or --target-error only the confident answers are certified. With --epsilon
    the exit code is 1 if the certified error is larger than that.
    """
    from pacboost.cli.actions.certifying.certify import run_certify

    run_certify(model, data, target, given)
