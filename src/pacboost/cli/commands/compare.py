"""``pacboost compare``: several boosters on the same rows."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import click

from pacboost.cli import options
from pacboost.cli.inputs.files import check_output, data_file
from pacboost.cli.output import answer, print_parts
from pacboost.estimators.parameters.trees import RATE_OF_TREES
from pacboost.learners.registry import LEARNERS


@click.command(
    epilog=options.example(
        "pacboost compare parcels.csv --target late --boosters adaboost,logit --learner tree",
        "pacboost compare answers.csv --said first_prompt --said second_prompt --truth label",
    )
)
@options.data_file
@options.truth
@options.column(
    "--said",
    multiple=True,
    help="Compare columns of answers instead of boosters; name two or more.",
)
@options.models
@click.option(
    "--boosters",
    default="adaboost,logit,adaboost_v,lp,erlp",
    help="Names of boosters, separated by commas, or 'all'.",
)
@click.option(
    "--learner", type=click.Choice([*LEARNERS]), default="stump", help="The weak learner."
)
@options.leaves
@click.option("--rounds", default=100, help="Maximum number of rounds of each booster.")
@options.real("--learning-rate", help=f"Factor on every vote.  [default: {RATE_OF_TREES}, else 1]")
@options.max_bins
@click.option(
    "--test",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.25,
    help="Share of rows held out to test on; 0 for none.",
)
@options.real(
    "--share", default=0.05, help="Show the mean margin of this share of the rows, the worst ones."
)
@options.copies
@options.categories
@options.drop
@options.format_options
@options.day_first
@options.skip_unlabelled
@options.delta
@options.seed
@options.jobs
@options.file("--plot", help="Draw errors and margins into this file.")
@options.as_json
def command(data: Path, target: str, as_json: bool, plot: Path | None, **arguments: Any) -> None:
    """Train several boosters on the rows of a file, and compare them.

    Prints rounds, seconds, training error and its bound, margins, and the error on held-out rows
    with a confidence interval. If one booster fails, the reason is shown and the others continue.
    With --said nothing is trained: columns of answers are compared pair by pair, on the same rows.
    """
    if arguments["said"]:
        _compare_answers(data, target, as_json, arguments)
        return
    from pacboost.cli.inputs.examples import read_examples
    from pacboost.estimators.contest import Contest
    from pacboost.learners.tree import Tree
    from pacboost.reports.plots import figure, save

    check_output(plot, data)
    if plot is not None:
        figure()  # if matplotlib is missing, it fails here and not after the work
    learner = arguments["learner"]
    if arguments["max_leaves"] is not None:
        if learner != "tree":
            raise click.UsageError("--leaves applies to trees only; add --learner tree")
        learner = Tree(max_leaves=arguments["max_leaves"])
    examples = read_examples(
        data_file(data, arguments), target, arguments["drop"], categories=arguments["categories"]
    )
    same = ("delta", "share", "copies", "learning_rate", "max_bins")
    contest = Contest(
        examples.table, examples.labels, arguments["boosters"], learner,
        n_estimators=arguments["rounds"], test=arguments["test"] or None,
        random_state=arguments["seed"], n_jobs=arguments["jobs"], verbose=sys.stderr.isatty(),
        **{name: arguments[name] for name in same},
    )  # fmt: skip
    try:
        contest.run()
    finally:
        # after Ctrl-C or an error, too: what has been compared took its time
        if contest.entries:
            comparison = contest.comparison()
            if as_json:
                click.echo(comparison.to_json())
            else:
                print_parts(comparison.table())
            if plot is not None and not all(entry.failed for entry in comparison):
                save(comparison.plot()[0].figure, plot)


def _compare_answers(data: Path, target: str, as_json: bool, arguments: Mapping[str, Any]) -> None:
    from pacboost.cli.inputs.rows import answered_rows
    from pacboost.questions.compare import compare_models

    names = list(dict.fromkeys(arguments["said"]))
    if len(names) < 2:
        raise click.UsageError("--said has to name two columns of answers, or more")
    models, X, y, _ = answered_rows(data, target, names, arguments)
    # all named columns are tried on these rows, whatever --models says
    tried = max(arguments["models"], len(names))
    differences = [
        compare_models(
            one, other, X, y, delta=arguments["delta"], models=tried, names=(first, second),
            copies=arguments["copies"],
        )
        for (first, one), (second, other) in combinations(zip(names, models, strict=True), 2)
    ]  # fmt: skip
    content = {"differences": [difference.to_dict() for difference in differences]}
    answer(as_json, content, *(difference.sentence for difference in differences))
