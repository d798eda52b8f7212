"""``pacboost fit``: a file in, a classifier and its certificate out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from pacboost.boosters.base.registry import BOOSTERS
from pacboost.cli import options
from pacboost.cli.filter_options import filter_options, source_options

BY_HAND = ("leaves", "learning_rate", "max_bins", "resample", "validation", "certify", "hardest")
"""Options for whoever chooses booster and learner."""
CHOSEN_ALONE = ("text", "groups", "time_column")
"""Options for whoever leaves the choice to us."""
IN_MEMORY_ALONE = ("categories", "resample", "validation", "certify", "hardest", *CHOSEN_ALONE)
"""Options that boosting by filtering does not know."""


class BoosterName(click.Choice[str]):
    """The name of a booster, found without loading it, or "module:Class"."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Leave "module:Class" to the estimator, which imports it."""
        return value if ":" in value else super().convert(value, param, ctx)


@click.command(
    epilog=options.example(
        "pacboost fit adult.csv --target income --output income.pacb",
        "pacboost fit intents.csv --text utterance --target intent --output intents.pacb",
        "pacboost fit adult.csv --target income --booster adaboost --learner stump --rounds 100",
        "pacboost fit 'data/*.parquet' --target label --memory 2GB --time 60s",
    )
)
@click.argument("data", type=options.FILE, nargs=-1, required=True)
@click.option("--target", metavar="COLUMN", help="The column that holds the labels.  [required]")
@options.output("Write the model to this file.")
@options.text
@options.epsilon
@options.delta
@click.option(
    "--groups",
    metavar="COLUMN",
    help="Rows with the same value here depend on each other (a patient, a customer): whole groups "
    "are set apart.",
)
@click.option(
    "--time-column", metavar="COLUMN", help="When each row was made: the latest are set apart."
)
@options.categories
@options.drop
@click.option(
    "--booster",
    type=BoosterName(list(BOOSTERS)),
    help="How rows and rounds are weighed, if you want to choose: one of these names, or "
    "module:Class for a booster of your own. Filtering takes those whose weights lie in [0, 1], "
    "such as logit, mada or measure.  [default with --learner: adaboost; by filtering: logit]",
)
@click.option(
    "--learner",
    type=click.Choice(["stump", "tree"]),
    help="What is boosted, if you want to choose.  [default with --booster: stump; by filtering: "
    "tree]",
)
@click.option(
    "--rounds",
    type=int,
    help="The most rounds to run.  [default: 1000; 50 with --booster or --learner; 300 by "
    "filtering]",
)
@options.leaves
@click.option(
    "--learning-rate",
    type=float,
    help="Scales every vote.  [default: 0.1 for trees, else 1; 0.2 for trees by filtering]",
)
@options.max_bins
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
    help="What to certify with --booster or --learner: the training error, or the error on new "
    "rows, by held-out rows or by the training rows themselves. Otherwise it is always by rows set "
    "apart.",
)
@click.option(
    "--hardest",
    type=click.IntRange(0, 100),
    default=0,
    help="Also show so many rows that the vote finds hardest: look at their labels.",
)
@click.option(
    "--forget-rows",
    is_flag=True,
    help="Leave the sketch of the training rows out of the model file: `pacboost certify` can then "
    "not refuse rows that the model was trained on.",
)
@filter_options
@options.seed
@options.jobs
@options.as_json
@click.pass_context
def command(
    context: click.Context,
    /,
    data: tuple[Path, ...],
    target: str | None,
    output: Path | None,
    **given: Any,
) -> None:
    """Learn to tell classes apart from files with labelled rows, and certify the error.

    A CSV file (plain or .gz) with a header is read into memory. Columns of text are categories, or
    texts where they read like sentences. Some rows are set apart, the others are boosted by what
    suits them, and the rows set apart tell how wrong the result can be. Whoever names --booster or
    --learner chooses for themselves.

    Parquet, svmlight and DuckDB files, folders, patterns such as 'data/*.parquet' and several files
    are boosted by filtering: rows are drawn, the hard ones are learned from, and none has to stay
    in memory.

    Nothing is written without --output or --checkpoint. With --epsilon it ends with 1 if that was
    not reached.
    """
    from pacboost.cli.actions.fit_by_filtering import (
        by_filtering,
        filtering_parameters,
        run_filtering,
    )

    def refuse(names: tuple[str, ...], why: str) -> None:
        for name in names:
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise click.UsageError(f"--{name.replace('_', '-')} {why}")

    if by_filtering(data, given):
        refuse(IN_MEMORY_ALONE, "does not go with boosting by filtering")
        parameters = filtering_parameters(given)
        more = {name: given[name] for name in ("as_json", "forget_rows")}
        run_filtering(data, target, output, parameters, **source_options(given), **more)
        return
    if target is None:
        raise click.MissingParameter(ctx=context, param_hint="'--target'", param_type="option")
    if given["booster"] is None and given["learner"] is None:
        refuse(BY_HAND, "is for whoever chooses: name --booster or --learner, too")
        from pacboost.cli.compile_ahead import compiling_ahead

        with compiling_ahead():
            from pacboost.cli.actions.fit_strong import run_chosen

            run_chosen(data[0], target, output, given)
        return
    refuse(("epsilon", *CHOSEN_ALONE), "does not go with --booster and --learner")
    from pacboost.cli.actions.fit_in_memory import run_fit

    run_fit(data[0], target, output, given)
