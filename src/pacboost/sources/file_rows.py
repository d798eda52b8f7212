"""Read the rows of a file some thousand at a time, whatever its kind."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from pacboost.errors import FileError, InputWarning
from pacboost.sources.cells import Cells
from pacboost.sources.csv_rows import csv_blocks
from pacboost.sources.data_file import JSON, TEXT, DataFile
from pacboost.sources.json_rows import json_blocks


def blocks(file: DataFile) -> Iterator[Cells]:
    """Give the rows of a file in blocks; there is at least one row."""
    if file.kind == TEXT:
        found = csv_blocks(file)
    elif file.kind == JSON:
        found = json_blocks(file)
    else:
        from pacboost.sources.arrow_rows import arrow_blocks

        found = arrow_blocks(file)
    empty = True
    for cells in found:
        empty = False
        yield cells
    if empty:
        raise FileError(f"{file}: has a header but no rows; at least one is needed")


def labelled_blocks(file: DataFile, target: str) -> Iterator[Cells]:
    """Give the rows that have labels; if others are left out, say how many."""
    rows = kept = 0
    for cells in blocks(file):
        some = cells.labelled(target)
        rows, kept = rows + cells.n_rows, kept + some.n_rows
        if some.n_rows:
            yield some
    if not kept:
        raise FileError(
            f"{file}: column {target!r} holds no label in {rows:,} rows; name another column as "
            "the target"
        )
    if kept < rows:
        warnings.warn(
            f"{file}: {rows - kept:,} of {rows:,} rows have no {target!r} and are left out",
            InputWarning,
            stacklevel=2,
        )


def whole(file: DataFile, target: str | None = None) -> Cells:
    """Read all rows of a file; those with labels, if a target is named."""
    parts = list(blocks(file) if target is None else labelled_blocks(file, target))
    names = list(dict.fromkeys(name for part in parts for name in part.columns))
    columns = {
        name: tuple(c for part in parts for c in part.columns.get(name, ("",) * part.n_rows))
        for name in names
    }
    lines = [line for part in parts for line in part.lines]
    return Cells(file, columns, lines, parts[0].decimal_comma)
