"""The cells of a CSV file as text, some thousand rows at a time."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import FileError
from pacboost.sources.csv import (
    MISSING,
    UNREADABLE,
    Lines,
    fill_numbers,
    open_text,
    present_labels,
    refuse_infinite_cells,
    unreadable,
)
from pacboost.sources.table import refuse_text


@dataclass(frozen=True)
class Cells:
    """Some rows: the cells of each column, and the line of each row."""

    path: Path
    columns: dict[str, tuple[str, ...]]
    lines: list[int]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.lines)

    def of(self, name: str, what: str = "column") -> tuple[str, ...]:
        """Give the cells of a column."""
        if name not in self.columns:
            raise FileError(
                f"{self.path}: has no {what} {name!r}; its columns are "
                f"{', '.join(repr(known) for known in self.columns)}"
            )
        return self.columns[name]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Read a column of numbers; NaN where it is missing."""
        cells, column = self.of(name), np.empty(self.n_rows)
        bad = fill_numbers(column, cells)
        if bad is not None:
            where = f"{name} (line {self.lines[bad]}: {cells[bad]!r})"
            raise FileError(f"{self.path}: {refuse_text([where])}")
        refuse_infinite_cells(self.path, column, name, self.lines)
        return column

    def levels(self, name: str) -> NDArray[Any]:
        """Give a column of categories or texts; None where it is missing."""
        stripped = [cell.strip() for cell in self.of(name)]
        return np.array(
            [None if cell.lower() in MISSING else cell for cell in stripped], dtype=object
        )

    def labels(self, name: str) -> list[str]:
        """Give the labels, which every row has to have."""
        return list(present_labels(self.path, self.of(name, "target column"), name, self.lines))


def blocks(path: Path) -> Iterator[Cells]:
    """Read a file with a header, plain or gzip-compressed."""
    try:
        with open_text(path) as file:
            reader = Lines(path, csv.reader(file, strict=True))
            header = reader.header()
            empty = True
            for lines, rows in reader.chunks(len(header)):
                empty = False
                yield Cells(path, dict(zip(header, zip(*rows, strict=True), strict=True)), lines)
    except UNREADABLE as problem:
        raise unreadable(path, problem) from problem
    if empty:
        raise FileError(f"{path}: has a header but no rows; at least one is needed")


def whole(parts: Sequence[Cells]) -> Cells:
    """Put blocks together."""
    names = parts[0].columns
    columns = {name: tuple(c for part in parts for c in part.columns[name]) for name in names}
    return Cells(parts[0].path, columns, [line for part in parts for line in part.lines])
