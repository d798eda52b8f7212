"""``pacboost draw``: choose rows of a file to be labelled, at random and with a record."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import click

from pacboost.cli import options
from pacboost.cli.inputs.files import check_output, data_file
from pacboost.cli.output import answer, working
from pacboost.sources.optional import atomic_write

RECORD = ".draw.json"


@click.command(
    epilog=options.example(
        "pacboost draw pool.csv --rows 600 --output ask.csv --label human",
        "pacboost jury ask.csv --judges gpt,rules,vendor --truth human --draw ask.draw.json",
    )
)
@options.data_file
@click.option("--rows", type=int, required=True, help="How many rows to draw.")
@click.option(
    "--output", "-o", type=options.FILE, required=True,
    help="Write the drawn rows to this CSV file, and how they were drawn beside it (.draw.json).",
)  # fmt: skip
@click.option("--label", metavar="COLUMN", help="Add this empty column, to be filled in.")
@options.drop
@options.format_options
@options.seed
@options.as_json
def command(data: Path, output: Path, as_json: bool, **given: Any) -> None:
    """Draw rows of a file at random, for somebody to label.

    Label from the top. The order is random, so you may stop anywhere, as long as the labels have no
    say in where. Commands with --draw then know how the rows were chosen, and refuse others.
    """
    from pacboost.sources.file_rows import whole
    from pacboost.studies.draw import draw

    record = output.with_suffix(RECORD)
    for path in (output, record):
        check_output(path, data)
    with working(f"reading {data.name}"):
        cells = whole(data_file(data, given))
    names = [name for name in cells.columns if name not in given["drop"]]
    texts = [cells.of(name) for name in names]
    pool = [dict(zip(names, row, strict=True)) for row in zip(*texts, strict=True)]
    drawn = draw(pool, given["rows"], seed=given["seed"])
    label = [given["label"]] if given["label"] else []
    with atomic_write(output) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*names, *label])
        writer.writerows([*pool[row].values(), *("" for _ in label)] for row in drawn.rows)
    drawn.save(record)
    content = {"rows": len(drawn.rows), "pool": drawn.pool_rows, "output": output, "draw": record}
    answer(
        as_json, content,
        f"Drew {len(drawn.rows):,} of {drawn.pool_rows:,} rows into {output}; {record} says how. "
        "Label them from the top.",
    )  # fmt: skip
