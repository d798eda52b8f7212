"""``pacboost diagnose``: does the weak learner have an edge?"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from pacboost.cli import options
from pacboost.cli.group import THE_ANSWER_IS_NO


@click.command(epilog=options.example("pacboost diagnose parcels.csv --target late"))
@options.data_file
@options.target
@click.option("--label", help="With more than two classes: the class to separate from the others.")
@options.categories
@options.drop
@options.format_options
@options.day_first
@options.skip_unlabelled
@options.delta
@options.seed
@options.as_json
def command(data: Path, target: str, label: str | None, **arguments: Any) -> None:
    """Measure how much better than guessing decision stumps are, while boosting reweights rows.

    Half of the rows are boosted for some rounds. The other half measures the edge of new rules on
    rows that have become hard. The exit code is 1 if these rules are no better than guessing.
    """
    from pacboost.cli.inputs.examples import read_examples
    from pacboost.cli.inputs.files import data_file
    from pacboost.cli.output import answer, working
    from pacboost.models.schema import ColumnOptions, Schema
    from pacboost.questions.diagnose import diagnose

    file, delta = data_file(data, arguments), arguments["delta"]
    examples = read_examples(file, target, arguments["drop"], categories=arguments["categories"])
    y: Any = examples.labels
    if label is not None:
        named = [str(one) for one in y.tolist()]
        if label not in named:
            raise click.UsageError(
                f"--label is {label!r}; the labels are {', '.join(sorted(set(named)))}",
            )
        y = [one == label for one in named]
    elif len(set(y.tolist())) > 2:
        shown = ", ".join(sorted({str(one) for one in y.tolist()})[:10])
        raise click.UsageError(
            f"column {target!r} holds {len(set(y.tolist()))} classes; edges are measured for one "
            f"against the others: name it by --label, one of {shown}",
        )
    with working("measuring"):
        # as in a fit, rare levels of many are grouped
        table = Schema.learn(examples.table, ColumnOptions("diagnose", "from_dtype"))[1]
        diagnosis = diagnose(table, y, delta=delta, seed=arguments["seed"])
    stages = [asdict(stage) for stage in diagnosis.stages]
    content = {"sentence": diagnosis.sentence, "delta": delta, "stages": stages}
    answer(arguments["as_json"], content, str(diagnosis))
    # only a learner that surely has no edge is a "no": one that may have one is undecided
    if max(stage.upper for stage in diagnosis.stages) <= 0:
        sys.exit(THE_ANSWER_IS_NO)
