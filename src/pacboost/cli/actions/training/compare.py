"""Train several boosters on the same rows, and compare them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from pacboost.cli.inputs.data_files import data_file
from pacboost.cli.inputs.examples import read_examples
from pacboost.cli.inputs.model_files import check_output
from pacboost.cli.output import print_parts
from pacboost.errors import ParameterError
from pacboost.estimators.compare import Contest
from pacboost.learners.tree import Tree
from pacboost.questions.compare import Comparison
from pacboost.reports.canvas import figure, save


def run_compare(
    data: Path, target: str, given: Mapping[str, Any], *, as_json: bool, plot: Path | None
) -> None:
    """Read the rows, train every booster, and show the results, also after Ctrl-C."""
    check_output(plot, data)
    if plot is not None:
        figure()  # if matplotlib is missing, it fails here and not after the work
    learner = given["learner"]
    if given["leaves"] is not None:
        if learner != "tree":
            raise ParameterError("--leaves applies to trees only; add --learner tree")
        learner = Tree(max_leaves=given["leaves"])
    examples = read_examples(
        data_file(data, given), target, given["drop"], categories=given["categories"]
    )
    contest = Contest(
        given["boosters"],
        learner,
        examples.table,
        examples.labels,
        n_rounds=given["rounds"],
        test=given["test"] or None,
        delta=given["delta"],
        share=given["share"],
        copies=given["copies"],
        random_state=given["seed"],
        verbose=sys.stderr.isatty(),
        learning_rate=given["learning_rate"],
        max_bins=given["max_bins"],
        n_jobs=given["jobs"],
    )
    try:
        contest.run()
    finally:
        if contest.entries:
            _show(contest.comparison(), as_json=as_json, plot=plot)


def _show(found: Comparison, *, as_json: bool, plot: Path | None) -> None:
    if as_json:
        click.echo(found.to_json())
    else:
        print_parts(found.table())
    if plot is not None and not all(entry.failed for entry in found):
        save(found.plot()[0].figure, plot)
