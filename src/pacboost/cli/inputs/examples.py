"""Labelled rows of a CSV file, for training."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from pacboost.cli.output import working
from pacboost.errors import FileError, ParameterError
from pacboost.estimators.strong.reading import text_columns
from pacboost.reports.text import counted
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.categories import MOST_LEVELS
from pacboost.sources.columns import Columns
from pacboost.sources.csv import LabelledTable, read_csv
from pacboost.sources.table import Table, refuse_text


def read_examples(
    data: Path,
    target: str,
    drop: Sequence[str] = (),
    *,
    categories: bool = True,
    text: Sequence[str] | None = None,
) -> LabelledTable:
    """Read a file without some of its columns; columns of text become categories.

    ``text`` names columns that hold texts; others that read like sentences are found. If ``text``
    is None, no column is read as texts.
    """
    with working(f"reading {data.name}"):
        examples = read_csv(data, target, categories=categories or bool(drop) or bool(text))
        table = without(examples.table, drop)
    kept = Columns({name: table.cells(j) for j, name in enumerate(table.names or ())})
    _refuse_unknown(text or (), kept.cells, "--text")
    found = set() if text is None else {*text, *text_columns(kept)}
    others = {j: own for j, own in table.levels.columns.items() if table.name(j) not in found}
    if others and not categories:
        raise FileError(f"{data}: {refuse_text([table.name(j) for j in others])}")
    for column, own in others.items():
        if len(own) > MOST_LEVELS:
            name = table.name(column)
            raise FileError(
                f"{data}: column {name!r} holds {len(own):,} different texts; a category may have "
                f"at most {MOST_LEVELS} levels. Ignore the column by --drop {name}"
                + ("" if text is None else f", or have its words read by --text {name}")
            )
    return LabelledTable(table, examples.labels)


def _refuse_unknown(asked: Sequence[str], known: Collection[str], option: str) -> None:
    for name in asked:
        if name not in known:
            raise ParameterError(
                f"{option} names {name!r}, which is no column; the columns are "
                f"{', '.join(map(repr, known))}"
            )


def without(table: ArrayTable, drop: Sequence[str]) -> ArrayTable:
    """Remove columns."""
    names = table.names or ()
    _refuse_unknown(drop, names, "--drop")
    if not drop:
        return table
    return table.columns([j for j, name in enumerate(names) if name not in drop])


def about(
    data: Path, table: Table, text: Collection[str] = (), others: Collection[str | None] = ()
) -> str:
    """Describe how a file was read; ``others`` are columns that are no features.

    A column of numbers with a typing error shows up here as a category.
    """
    kinds: dict[str, list[str]] = {"numbers": [], "categories": [], "texts": [*text]}
    for j, name in enumerate(table.names or ()):
        if name not in text and name not in others:
            kinds["categories" if j in table.levels else "numbers"].append(name)
    read = [
        f"{len(own)} of {kind}" + ("" if kind == "numbers" else f" ({', '.join(map(repr, own))})")
        for kind, own in kinds.items()
        if own
    ]
    columns = counted(sum(map(len, kinds.values())), "column")
    return f"{data.name}: {counted(table.n_rows, 'row')} of {columns}, {' and '.join(read)}"
