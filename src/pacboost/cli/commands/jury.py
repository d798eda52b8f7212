"""``pacboost jury``: several judges on the same rows become one certified answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pacboost.cli import options
from pacboost.cli.inputs.files import check_output, data_file
from pacboost.cli.output import answer, bold, working


def named(text: str | None) -> list[str]:
    """Return the names in a list that is separated by commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


draw_option = options.file(
    "--draw", help="The record of `pacboost draw`: how the rows were chosen from a pool."
)


@click.command(
    epilog=options.example(
        "pacboost jury verdicts.csv --judges gpt,claude,rules,vendor --truth human",
        "pacboost jury verdicts.csv --judges gpt,rules --truth human --target-error 0.03",
    )
)
@options.data_file
@options.truth
@click.option(
    "--judges", metavar="COLUMNS", required=True,
    help="The columns of verdicts or scores, separated by commas.",
)  # fmt: skip
@click.option(
    "--context", metavar="COLUMNS",
    help="Columns of what else is known: trees may find out which judge is right where.",
)  # fmt: skip
@options.column("--by", help="Certify every group of rows with a value of this.")
@options.real(
    "--target-error",
    help="Answer only where the jury is far enough ahead that at most this share is wrong.",
)
@draw_option
@options.drop
@options.format_options
@options.delta
@options.seed
@options.output("Write votes and certificates to this file, as JSON.")
@options.as_json
def command(
    data: Path, target: str, output: Path | None, draw: Path | None, as_json: bool, **given: Any
) -> None:
    """Give judges votes, and certify what they say together.

    Judges are columns: language models, vendors, rules, people. Blanks say nothing; numbers are
    cut. Half of the rows give votes, and the other half certifies the jury, the best judge and the
    majority.
    """
    from pacboost.cli.inputs.rows import as_frame
    from pacboost.sources.file_rows import whole
    from pacboost.studies.draw import Draw
    from pacboost.studies.jury import jury

    check_output(output, data)
    record = None if draw is None else Draw.load(draw)
    with working("asking the jury"):
        cells = whole(data_file(data, given), target)
        found = jury(
            as_frame(cells, given["drop"]), target, judges=named(given["judges"]),
            context=named(given["context"]), by=given["by"], target_error=given["target_error"],
            draw=record, delta=given["delta"], seed=given["seed"],
        )  # fmt: skip
    if output is not None:
        found.save(output)
    sentence, _, rest = str(found).partition("\n")
    written = [] if output is None else ["", f"Votes and certificates are in {output}."]
    answer(as_json, found.to_dict(), bold(sentence), rest, *written)
