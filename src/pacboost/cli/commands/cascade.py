"""``pacboost cascade``: a student answers what it is sure of, and a teacher the rest of a pool."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import click

from pacboost.cli import options
from pacboost.cli.inputs.files import check_output, data_file, load
from pacboost.cli.output import answer, bold, working
from pacboost.sources.optional import atomic_write


@click.command(
    epilog=options.example(
        "pacboost draw pool.csv --rows 600 --output ask.csv --label teacher",
        "pacboost cascade pool.csv ask.csv --teacher teacher --draw ask.draw.json "
        "--target-error 0.02 --output answers.csv",
    )
)
@options.data_file
@click.argument("labelled", type=options.FILE)
@options.column("--teacher", required=True, help="The column of LABELLED with the answers.")
@options.file("--draw", required=True, help="The record of `pacboost draw`.")
@options.real(
    "--target-error", required=True,
    help="The share of the student's answers that may differ from the teacher's.",
)  # fmt: skip
@options.file("--model", help="A student that knows none of the labelled rows; else one is fitted.")
@options.file("--student", help="Write the fitted student to this file.")
@options.drop
@options.format_options
@options.delta
@options.seed
@options.output("Write an answer for each row, and who gives it, to this CSV file.")
@options.as_json
def command(
    data: Path, labelled: Path, draw: Path, model: Path | None, student: Path | None,
    output: Path | None, as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """Let a student answer those rows of a pool on which it agrees with a teacher.

    LABELLED holds the rows of DATA that were drawn, with the teacher's answers. Half of them teach
    the student, and the other half says down to which score it may answer. The exit code is 1 if
    it may answer nothing.
    """
    from pacboost.cli.group import THE_ANSWER_IS_NO
    from pacboost.cli.inputs.rows import as_frame
    from pacboost.sources.file_rows import whole
    from pacboost.studies.cascade import cascade
    from pacboost.studies.draw import Draw

    for path in (output, student):
        check_output(path, data, labelled)
    record = Draw.load(draw)
    with working("asking the student"):
        pool, asked = (
            as_frame(whole(data_file(path, given)), given["drop"]) for path in (data, labelled)
        )
        found = cascade(
            pool.select(list(record.columns)), asked, given["teacher"], draw=record,
            target_error=given["target_error"], student=None if model is None else load(model),
            delta=given["delta"], seed=given["seed"],
        )  # fmt: skip
    if student is not None:
        found.student.save(student)
    if output is not None:
        with atomic_write(output) as part, part.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["answer", "who"])
            writer.writerows(zip(found.answers, found.who, strict=True))
    answer(as_json, found.to_dict(), bold(found.sentence))
    if found.of_pool is None:
        raise click.exceptions.Exit(THE_ANSWER_IS_NO)
