"""``pacboost audit``: where does a model, or a column of answers, err more than elsewhere?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pacboost.cli import options
from pacboost.cli.group import THE_ANSWER_IS_NO
from pacboost.cli.inputs.files import data_file, open_model
from pacboost.cli.output import answer, bold, working


@click.command(
    epilog=options.example(
        "pacboost audit late.pacb new.csv --target late --limit 0.2",
        "pacboost audit answers.csv --said verdict --truth label",
    )
)
@options.answers
@click.option("--depth", default=2, help="The maximum number of conditions of a slice, up to 3.")
@options.real(
    "--share", default=0.05, help="Slices with at least this share of the certifying rows count."
)
@options.real(
    "--limit", help="The exit code is 1 if a slice may have an error above this: the all-clear."
)
@options.column("--groups", help="Rows with the same value depend on each other.")
@options.text
@options.drop
@options.format_options
@options.skip_unlabelled
@options.delta
@options.seed
@options.as_json
def command(
    model_path: Path, data: Path | None, target: str, limit: float | None, as_json: bool,
    **given: Any,
) -> None:  # fmt: skip
    """Search slices of the rows that err more, and certify what was found and what was not.

    One half of the rows searches, and the other half certifies: the error in named slices from
    below, and that of all slices of the size from above. This is not a test of fairness.
    """
    from pacboost.cli.inputs.rows import Reader, as_frame, labels
    from pacboost.questions.answers import answers
    from pacboost.sources.file_rows import whole
    from pacboost.studies.audit import audit

    said = given["said"]
    if said and data is not None:
        raise click.UsageError("--said reads one file of answers, but two were given")
    model: Any = None
    if said:
        data = model_path
    else:
        model, _, data = open_model(model_path, data)
    drop = {*given["drop"], target, *filter(None, (said, given["groups"]))}
    with working("searching slices"):
        cells = whole(data_file(data, given), target)
        y, frame = cells.labels(target), as_frame(cells, drop)
        wanted = {name: given[name] for name in ("depth", "share", "delta", "seed")}
        wanted["groups"] = cells.texts(given["groups"]) if given["groups"] else None
        if said:
            found = audit(answers(cells.of(said)), frame, y, **wanted)
        else:
            rows = Reader(model, given["text"], sorted(drop)).rows(cells)
            found = audit(model, rows, labels(y, model.classes_, target), columns=frame, **wanted)
    met = None if limit is None else found.at_most <= limit
    answer(as_json, {**found.to_dict(), "limit": limit, "met": met}, bold(found.sentence))
    if met is False:
        raise click.exceptions.Exit(THE_ANSWER_IS_NO)
