"""The command and its parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from pacboost import __version__
from pacboost.cli.filter_options import FILTERING_ALONE, filter_options, source_options
from pacboost.cli.plan import Questions
from pacboost.errors import PacboostError

IN_MEMORY = (
    "adaboost", "logit", "gentle", "mada", "adaboost_v", "arc_gv", "lp", "total", "soft", "erlp",
    "corrective_erlp", "mlp", "brown", "majority", "graph_separation",
)  # fmt: skip
"""Boosters by name, written out here: the help shall not load the compiler."""

IN_MEMORY_ALONE = ("categories", "resample", "validation", "certify", "hardest")
"""Options that boosting by filtering does not know."""


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
@click.argument("data", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--target", help="The column that holds the labels.  [required]")
@click.option(
    "--booster",
    type=click.Choice([*IN_MEMORY, *FILTERING_ALONE]),
    help="How rounds are weighed; by filtering logit, mada, measure, smooth, projection or "
    "majority.  [default: adaboost; logit by filtering]",
)
@click.option(
    "--learner",
    type=click.Choice(["stump", "tree"]),
    help="What is boosted.  [default: stump; tree by filtering]",
)
@click.option("--leaves", type=int, help="The most leaves of a tree.  [default: 31]")
@click.option("--categories", is_flag=True, help="Take columns of text as categories.")
@click.option("--rounds", type=int, help="The most rounds to run.  [default: 50; 300 by filtering]")
@click.option(
    "--learning-rate",
    type=float,
    help="Scales every vote.  [default: 0.1 for trees, else 1; 0.2 for trees by filtering]",
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
    "the training rows themselves. By filtering it is always by rows set apart.",
)
@click.option(
    "--delta",
    type=float,
    default=0.05,
    show_default=True,
    help="The probability with which what is certified may fail.",
)
@filter_options
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Seed for everything drawn by chance.",
)
@click.option("--jobs", default=-1, show_default=True, help="Threads; -1 means all cores.")
@click.option(
    "--hardest",
    type=click.IntRange(0, 100),
    default=0,
    help="Also show so many rows that the vote finds hardest: look at their labels.",
)
@click.option("--output", type=click.Path(path_type=Path), help="Write the model to this file.")
@click.pass_context
def fit(
    context: click.Context,
    /,
    data: tuple[Path, ...],
    target: str | None,
    output: Path | None,
    **given: Any,
) -> None:
    """Boost stumps or trees on files with labelled rows.

    A CSV file (plain or .gz) with a header is read into memory. Parquet, svmlight and DuckDB files,
    folders, patterns such as 'data/*.parquet' and several files are boosted by filtering: rows are
    drawn, the hard ones are learned from, and none has to stay in memory.

    Prints the rounds and the certificate. Nothing is written without --output or --checkpoint.
    """
    from pacboost.cli.filtering import by_filtering, filtering_parameters, run_filtering
    from pacboost.cli.fit import in_memory_model, run_fit

    if by_filtering(data, given):
        for name in IN_MEMORY_ALONE:
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise click.UsageError(f"--{name} does not go with boosting by filtering")
        run_filtering(data, target, output, filtering_parameters(given), **source_options(given))
        return
    if target is None:
        raise click.MissingParameter(ctx=context, param_hint="'--target'", param_type="option")
    model = in_memory_model(given)
    run_fit(
        model,
        data[0],
        target,
        output,
        categories=given["categories"],
        hardest=given["hardest"],
    )


@main.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", required=True, help="The column that holds the labels.")
@click.option(
    "--boosters",
    default="adaboost,logit,adaboost_v,lp,erlp",
    show_default=True,
    help="Names of boosters with commas between them, or 'all'.",
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
@click.option("--rounds", default=100, show_default=True, help="The most rounds each may run.")
@click.option(
    "--learning-rate", type=float, help="Scales every vote.  [default: 0.1 for trees, else 1]"
)
@click.option("--max-bins", default=255, show_default=True, help="The most bins per feature.")
@click.option(
    "--test",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.25,
    show_default=True,
    help="Share of rows that no booster sees, to test on; 0 for none.",
)
@click.option(
    "--delta",
    type=float,
    default=0.05,
    show_default=True,
    help="The probability with which any of the intervals may fail.",
)
@click.option(
    "--share",
    type=float,
    default=0.05,
    show_default=True,
    help="Share of the worst rows whose mean margin is shown.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Seed for everything drawn by chance.",
)
@click.option("--jobs", default=-1, show_default=True, help="Threads; -1 means all cores.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw errors and margins.")
def compare(data: Path, target: str, as_json: bool, plot: Path | None, **given: Any) -> None:
    """Boost the rows of a CSV file by several rules, and lay them side by side.

    Prints rounds, seconds, training error against its bound, margins, and the error on rows set
    apart with its interval. A booster that fails says why, and the others go on.
    """
    from pacboost.cli.compare import run_compare

    run_compare(data, target, given, as_json=as_json, plot=plot)


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
