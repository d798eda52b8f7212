"""``pacboost fit``: train a classifier on a file and certify it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from pacboost.boosters.registry import BOOSTERS, loss_names
from pacboost.cli import options
from pacboost.estimators.parameters.table import PARAMS
from pacboost.learners.registry import LEARNERS

ESTIMATORS = {
    "chosen": ("StrongClassifier",),
    "by_hand": ("BoostClassifier", "AdaBoostClassifier"),
    "numbers": ("BoostRegressor",),
    "filtering": ("FilterBoostClassifier",),
}
"""The classes that a way of fitting is; their parameters are its options."""
# An option that a way of fitting would ignore is refused: silence would look like consent.
IN_MEMORY = ("chosen", "by_hand", "numbers")
OTHERS = {
    "groups": ("chosen",), "time_column": ("chosen",), "hardest": ("by_hand",),
    **dict.fromkeys(("categories", "encoding", "skip_unlabelled", "dayfirst", "weight"), IN_MEMORY),
}  # fmt: skip
"""The ways of options that are not parameters, where they are not for all of them."""
WHY_NOT = {
    "chosen": "requires --booster or --learner; add one of them",
    "by_hand": "cannot be combined with --booster or --learner; leave it out",
    "numbers": "cannot be combined with --loss; leave it out",
    "filtering": "cannot be combined with boosting by filtering; leave it out",
}


def ways_of(option: click.Parameter) -> Sequence[str]:
    """Return the ways of fitting that an option is for.

    >>> ways_of(click.Option(["--leaves"])), ways_of(click.Option(["--groups"]))
    (('by_hand', 'numbers', 'filtering'), ('chosen',))
    """
    kinds = {
        kind for param in PARAMS if param.option.partition("/")[0] in option.opts
        for kind in param.of
    }  # fmt: skip
    if not kinds:
        return OTHERS.get(option.name or "", tuple(ESTIMATORS))
    return tuple(way for way, names in ESTIMATORS.items() if kinds & {*names})


def refuse_others(context: click.Context, way: str) -> None:
    """Raise if an option was given that is for other ways of fitting."""
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        ways = ways_of(option)
        if source is ParameterSource.COMMANDLINE and way not in ways:
            alone = "numbers" in ways and "by_hand" not in ways and way != "filtering"
            why = "requires --loss; add it" if alone else WHY_NOT[way]
            if way == "chosen" and "by_hand" not in ways and not alone:
                why = WHY_NOT["by_hand"]
            raise click.UsageError(f"{option.opts[0]} {why}")


if TYPE_CHECKING:
    Names = click.Choice[str]
else:
    Names = click.Choice  # before click 8.2, it is not generic


class BoosterName(Names):
    """The name of a booster, found without loading it, or "module:Class"."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Leave "module:Class" to the estimator, which imports it."""
        return value if ":" in value else super().convert(value, param, ctx)


class LearnerName(Names):
    """The name of a learner, or "file.py:function" for one of the user."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Load the function or object that the file defines."""
        if not isinstance(value, str) or ":" not in value:
            return super().convert(value, param, ctx)
        from pacboost.cli.inputs.own_code import defined_in

        return defined_in(value)


@click.command(
    epilog=options.example(
        "pacboost fit parcels.csv --target late --output late.pacb",
        "pacboost fit calls.csv --text utterance --target type --output calls.pacb",
        "pacboost fit payments.csv --target fraud --recall 0.95 --output careful.pacb",
        "pacboost fit parcels.csv --target late --booster adaboost --learner stump --rounds 100",
        "pacboost fit parcels.csv --target late --learner mine.py:make_rule --epsilon 0.1",
        "pacboost fit houses.csv --target price --loss absolute_error --output price.pacb",
        "pacboost fit 'data/*.parquet' --target label --memory 2GB --time 60s",
        "pacboost fit s3://bucket/data --target label --cluster tcp://host:8786",
    )
)
@click.argument("data", type=options.FILE, nargs=-1, required=True)
@options.column("--target", help="The column that holds the labels.  [required]")
@options.output("Write the model to this file.")
@click.option(
    "--loss",
    type=click.Choice(loss_names()),
    help="Predict numbers, not classes: boost trees that lower this loss. A fit certifies "
    "nothing about numbers.",
)
@options.real(
    "--quantile",
    help='For "quantile": which one, between 0 and 1. 0.9 predicts numbers that nine of ten '
    "targets lie below.",
)
@options.real(
    "--alpha",
    help="With --loss huber: the share of rows that are not outliers; with --loss quantile the "
    "same as --quantile.  [default: 0.9 with --loss huber]",
)
@options.text
@options.epsilon
@options.real(
    "--recall",
    help="Find at least this share of the positive class: the certifying rows, a fifth of all, "
    "then choose the threshold (as `pacboost threshold` does), and the sentence states it.",
)
@options.real(
    "--precision",
    help="At least this share of the rows predicted positive is positive. Only one of --epsilon, "
    "--recall and --precision may be given.",
)
@click.option(
    "--positive",
    metavar="CLASS",
    help="The class for --recall and --precision. [default: the second of two]",
)
@options.delta
@options.column(
    "--groups",
    help="Rows with the same value in this column depend on each other (the same patient, the same "
    "customer): whole groups are held out.",
)
@options.column("--time-column", help="The time of each row: the latest rows are held out.")
@options.copies
@options.column(
    "--weight",
    help="The weight of each row in training. Held-out rows certify without weights: the error on "
    "new examples counts every example once.",
)
@click.option(
    "--class-weight",
    type=click.Choice(["balanced"]),
    help='The weight of the rows of each class in training; "balanced" gives all classes the same '
    "sum. Set it if mistakes on a rare class cost more. The certificate counts rows without "
    "weights.",
)
@options.categories
@options.drop
@options.format_options
@options.day_first
@options.skip_unlabelled
@click.option(
    "--booster",
    type=BoosterName(list(BOOSTERS)),
    help="The boosting algorithm: one of these names, or module:Class for a class of yours. "
    "Filtering accepts those whose weights lie in [0, 1], such as logit, mada or measure.  "
    "[default: chosen automatically; with --learner, and by filtering: logit]",
)
@click.option(
    "--learner",
    type=LearnerName([*LEARNERS]),
    help="The weak learner: one of these names, or file.py:name for a function (X, y), (X, y, "
    "weights) or an object with fit and predict of yours.  [default: chosen automatically; with "
    "--booster, and by filtering: tree]",
)
@options.together(*options.of_trials)
@options.rounds
@options.leaves
@options.constraints
@options.learning_rate
@options.max_bins
@options.flag(
    "--resample",
    help="Train each rule on rows drawn with probability proportional to their weights.",
)
@click.option(
    "--validation",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    help="Share of rows held out for early stopping.",
)
@click.option(
    "--certify",
    type=click.Choice(["train-error", "holdout"]),
    help="What to certify with --booster or --learner: the error on new rows, by held-out rows "
    "(holdout), or the training error alone (train-error). Without --booster and --learner it is "
    "always by held-out rows.  [default: holdout; train-error if there are fewer than 40 rows]",
)
@click.option(
    "--hardest",
    type=click.IntRange(0, 100),
    default=0,
    help="Also show this many of the hardest rows: their labels may be wrong.",
)
@options.flag(
    "--forget-rows",
    help="Leave the sketch of the training rows out of the model file. `pacboost certify` can then "
    "no longer refuse rows that the model was trained on.",
)
@options.filtering
@options.seed
@options.jobs
@options.device
@options.details
@options.as_json
@click.pass_context
def command(
    context: click.Context,
    /,
    data: tuple[Path, ...],
    target: str | None,
    output: Path | None,
    **arguments: Any,
) -> None:
    """Train a classifier on labelled rows, and certify its error on new examples.

    A file is CSV, TSV, JSON lines, Parquet or Feather, perhaps compressed (.gz, .bz2, .xz, .zip,
    .zst), or - for the standard input. Separator and encoding are detected. Columns of text are
    categories, or texts if they read like sentences; dates become columns of numbers. Some rows are
    held out; booster and learner are chosen to suit the others; and the held-out rows certify the
    error of the result. Use --booster and --learner to choose yourself, and --loss to predict
    numbers.

    Parquet files above 100 MB, svmlight and DuckDB files, folders, patterns such as
    'data/*.parquet' and several files are boosted by filtering: rows are drawn, the hard ones are
    learned from, and the data need not fit in memory. With --cluster the workers of a Dask cluster
    read them; addresses such as s3://bucket/folder are read through fsspec.

    Nothing is written without --output or --checkpoint. With --epsilon, --recall or
    --precision the exit code is 1 if that could not be certified.
    """
    from pacboost.cli.commands.fit_filtering import by_filtering, run_filtering

    no_file = next((str(path) for path in data[1:] if not path.exists()), None)
    is_named = context.get_parameter_source("categories") is ParameterSource.COMMANDLINE
    if no_file is not None and is_named:
        raise click.UsageError(
            f"--categories takes no names; {no_file!r} was read as a second file"
        )
    if by_filtering(data, arguments):
        refuse_others(context, "filtering")
        run_filtering(data, target, output, arguments)
        return
    if target is None:
        # only after filtering, as lines of svmlight begin with the label and have no column of it
        raise click.MissingParameter(ctx=context, param_hint="'--target'", param_type="option")
    named = isinstance(arguments["learner"], str)
    way = "by_hand" if named or arguments["booster"] is not None else "chosen"
    way = "numbers" if arguments["loss"] is not None else way
    refuse_others(context, way)
    from pacboost.cli.commands.fit_memory import run_in_memory

    run_in_memory(way, data[0], target, output, arguments)
