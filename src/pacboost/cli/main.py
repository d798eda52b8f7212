"""The command and its parts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from pacboost import __version__
from pacboost.cli.plan import Questions
from pacboost.errors import PacboostError


class Readable(click.Group):
    """Show errors we raise on purpose as one sentence, not as a traceback."""

    def invoke(self, ctx: click.Context) -> object:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except PacboostError as problem:
            raise click.ClickException(str(problem)) from problem


@click.group(cls=Readable, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pacboost")
def main() -> None:
    """Boost weak rules into a strong classifier, and say how wrong it can be."""


@main.command()
@click.option("--rounds", default=50, show_default=True, help="Rounds on the real data set.")
def demo(rounds: int) -> None:
    """Boost ten points by hand, then a real data set, each with its certificate."""
    from pacboost.cli.demo import run_demo

    run_demo(rounds)


@main.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", required=True, help="The column that holds the labels.")
@click.option(
    "--booster",
    type=click.Choice(["adaboost", "logit", "gentle", "mada"]),
    default="adaboost",
    show_default=True,
    help="How rounds are weighed.",
)
@click.option(
    "--learner",
    type=click.Choice(["stump", "tree"]),
    default="stump",
    show_default=True,
    help="What is boosted.",
)
@click.option("--leaves", type=int, help="The most leaves of a tree.  [default: 31]")
@click.option("--categories", is_flag=True, help="Take columns of text as categories.")
@click.option("--rounds", default=50, show_default=True, help="The most rounds to run.")
@click.option(
    "--learning-rate", type=float, help="Scales every vote.  [default: 0.1 for trees, else 1]"
)
@click.option("--max-bins", default=255, show_default=True, help="The most bins per feature.")
@click.option("--resample", is_flag=True, help="Train each rule on a draw from the weights.")
@click.option(
    "--validation",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    help="Share of rows held back to stop early on.",
)
@click.option(
    "--certify",
    type=click.Choice(["train-error", "holdout", "train"]),
    default="train-error",
    show_default=True,
    help="What to certify: the training error, or the error on new rows, by held-out rows or by "
    "the training rows themselves.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Seed for everything drawn by chance.",
)
@click.option("--jobs", default=-1, show_default=True, help="Threads; -1 means all cores.")
@click.option("--output", type=click.Path(path_type=Path), help="Write the model to this file.")
def fit(
    data: Path,
    target: str,
    booster: str,
    learner: str,
    leaves: int | None,
    categories: bool,
    rounds: int,
    learning_rate: float | None,
    max_bins: int,
    resample: bool,
    validation: float,
    certify: str,
    seed: int,
    jobs: int,
    output: Path | None,
) -> None:
    """Boost stumps or trees on a CSV file (plain or .gz) with a header.

    Prints the rounds and the certificate. Nothing is written without --output.
    """
    from pacboost.cli.fit import run_fit
    from pacboost.estimators.adaboost import AdaBoostClassifier
    from pacboost.estimators.boost import BoostClassifier

    common: dict[str, Any] = {
        "n_estimators": rounds,
        "max_bins": max_bins,
        "early_stopping": validation > 0,
        "validation_fraction": validation or 0.1,
        "certify": None if certify == "train-error" else certify,
        "random_state": seed,
        "n_jobs": jobs,
        "verbose": sys.stderr.isatty(),
    }
    model: AdaBoostClassifier | BoostClassifier
    if (booster, learner) == ("adaboost", "stump") and leaves is None:
        rate = 1.0 if learning_rate is None else learning_rate
        model = AdaBoostClassifier(learning_rate=rate, resample=resample, **common)
    elif resample:
        raise click.UsageError("--resample goes with --booster adaboost --learner stump")
    else:
        model = BoostClassifier(
            booster, learner, learning_rate=learning_rate, max_leaves=leaves, **common
        )
    run_fit(model, data, target, output, categories=categories)


@main.command()
@click.argument("model", type=click.Path(path_type=Path))
def verify(model: Path) -> None:
    """Recompute the certificate of a saved model, without its data."""
    from pacboost.questions.verify import verify as check_file

    checks = check_file(model)
    for check in checks:
        click.echo(f"{'holds' if check.holds else 'FAILS'}  {check.name}: {check.words}")
    if not all(check.holds for check in checks):
        raise click.ClickException(f"{model}: the certificate does not stand")


@main.group(cls=Questions)
def plan() -> None:
    """Say how many examples, rounds, draws or runs are needed."""
