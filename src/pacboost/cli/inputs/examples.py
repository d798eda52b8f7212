"""Labelled rows of a CSV file, to learn from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from pacboost.cli.output import counted, working
from pacboost.errors import FileError, ParameterError
from pacboost.estimators.strong.reading import text_columns
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
    """Read a file without some of its columns; those of text become categories.

    ``text`` names columns that are texts; so may others be that read like sentences. If it is None,
    none may be.
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
                f"{data}: column {name!r} holds {len(own):,} different texts; as a category it may "
                f"have {MOST_LEVELS} levels. Leave it out by --drop {name}"
                + ("" if text is None else f", or have its words read by --text {name}")
            )
    return LabelledTable(table, examples.labels)


def _refuse_unknown(asked: Sequence[str], known: Collection[str], option: str) -> None:
    for name in asked:
        if name not in known:
            raise ParameterError(
                f"{option} names {name!r}; the columns are {', '.join(map(repr, known))}"
            )


def without(table: ArrayTable, drop: Sequence[str]) -> ArrayTable:
    """Leave columns out."""
    names = table.names or ()
    _refuse_unknown(drop, names, "--drop")
    if not drop:
        return table
    return table.columns([j for j, name in enumerate(names) if name not in drop])


def about(
    data: Path, table: Table, text: Collection[str] = (), others: Collection[str | None] = ()
) -> str:
    """Say how a file was read, but for ``others``, which are no features.

    So that whoever misspelt a number sees that its column is taken for a category.
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
