"""The cells of a CSV file with a header, plain or gzip-compressed: every reader of CSV starts here.

A cell that is empty or says NA, NaN, null or ? is missing. Labels are whole numbers if all of them
are, else numbers if all of them are, else text. Every error names the file, and the line where one
line is to blame.
"""

from __future__ import annotations

import csv
import gzip
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import FileError
from pacboost.sources.table import refuse_text

MISSING = frozenset({"", "na", "nan", "null", "?"})
ROWS_AT_ONCE = 10_000
UNREADABLE = (OSError, EOFError, zlib.error, UnicodeDecodeError)


@dataclass(frozen=True)
class Cells:
    """Some rows of a file: the cells of each column as text, and the line of each row."""

    path: Path
    columns: dict[str, tuple[str, ...]]
    lines: list[int]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.lines)

    def of(self, name: str) -> tuple[str, ...]:
        """Give the cells of a column."""
        if name not in self.columns:
            raise FileError(
                f"{self.path}: has no column {name!r}; its columns are "
                f"{', '.join(map(repr, self.columns))}. Name one of them."
            )
        return self.columns[name]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Read a column of numbers; NaN where a cell is missing."""
        column = np.empty(self.n_rows)
        text = self.fill(column, name)
        if text is not None:
            raise FileError(f"{self.path}: {refuse_text([text])}")
        return column

    def fill(self, column: NDArray[np.float64], name: str) -> str | None:
        """Write a column of numbers into an array; if it holds text, say where instead."""
        cells = self.of(name)
        bad = fill_numbers(column, cells)
        infinite = np.isinf(column)
        if infinite.any():
            raise FileError(
                f"{self.path}, line {self.lines[int(infinite.argmax())]}: {name!r} is infinite. "
                "Clip it, or leave the cell empty if the value is missing."
            )
        return None if bad is None else f"{name} (line {self.lines[bad]}: {cells[bad]!r})"

    def levels(self, name: str) -> NDArray[Any]:
        """Give a column of categories or texts; None where a cell is missing."""
        stripped = [cell.strip() for cell in self.of(name)]
        return np.array(
            [None if cell.lower() in MISSING else cell for cell in stripped], dtype=object
        )

    def labels(self, name: str) -> list[str]:
        """Give the labels as text; every row needs one."""
        labels = [cell.strip() for cell in self.of(name)]
        for label, line in zip(labels, self.lines, strict=True):
            if label.lower() in MISSING:
                raise FileError(
                    f"{self.path}, line {line}: has no {name!r}. Rows without a label cannot be "
                    "learned from or tested on: drop them."
                )
        return labels


def blocks(path: Path) -> Iterator[Cells]:
    """Read a file some thousand rows at a time."""
    empty = True
    try:
        with _open(path) as file:
            reader = csv.reader(file, strict=True)
            rows = _rows(path, reader)
            header = _header(path, next(rows, (0, []))[1])
            for lines, part in _chunks(path, rows, len(header)):
                empty = False
                yield Cells(path, dict(zip(header, zip(*part, strict=True), strict=True)), lines)
    except UNREADABLE as problem:
        raise _unreadable(path, problem) from problem
    if empty:
        raise FileError(f"{path}: has a header but no rows; at least one is needed")


def whole(path: Path) -> Cells:
    """Read all rows of a file."""
    parts = list(blocks(path))
    names = parts[0].columns
    columns = {name: tuple(c for part in parts for c in part.columns[name]) for name in names}
    return Cells(path, columns, [line for part in parts for line in part.lines])


def _rows(path: Path, reader: Any) -> Iterator[tuple[int, list[str]]]:
    """Give the lines that hold something, each with its number."""
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as problem:
            raise FileError(f"{path}, line {reader.line_num}: {problem}") from problem
        if row:
            yield reader.line_num, row


def _header(path: Path, cells: list[str]) -> list[str]:
    if not cells:
        raise FileError(f"{path}: is empty; a header line and at least one row are needed")
    names = [name.strip() for name in cells]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise FileError(f"{path}: the header names {', '.join(sorted(twice))} twice")
    return names


def _chunks(
    path: Path, rows: Iterator[tuple[int, list[str]]], width: int
) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Collect rows, with the line of each; all of them have as many cells as the header."""
    lines: list[int] = []
    chunk: list[list[str]] = []
    for line, row in rows:
        if len(row) != width:
            raise FileError(
                f"{path}, line {line}: has {len(row)} cells where the header has {width}. Mend or "
                "remove the line."
            )
        lines.append(line)
        chunk.append(row)
        if len(chunk) == ROWS_AT_ONCE:
            yield lines, chunk
            lines, chunk = [], []
    if chunk:
        yield lines, chunk


def _open(path: Path, errors: str = "strict") -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", errors=errors, newline="")
    return path.open(encoding="utf-8-sig", errors=errors, newline="")


def _unreadable(path: Path, problem: Exception) -> FileError:
    """Say why a file cannot be read, and where if it is not UTF-8."""
    if not isinstance(problem, UnicodeDecodeError):
        reason = getattr(problem, "strerror", None) or problem
        return FileError(f"{path}: cannot be read ({reason})")
    with _open(path, "surrogateescape") as file:  # bytes that are no letters can be seen then
        for number, line in enumerate(file, start=1):
            stray = re.search("[\udc80-\udcff]", line)
            if stray is not None:
                byte = ord(stray[0]) - 0xDC00
                return FileError(
                    f"{path}, line {number}: is not UTF-8 text (it holds the byte 0x{byte:02x}). "
                    "Save the file as UTF-8"
                )
    return FileError(f"{path}: is not UTF-8 text ({problem.reason})")


def fill_numbers(column: NDArray[np.float64], cells: Sequence[str]) -> int | None:
    """Write cells as numbers; give the place of the first that is text, None if none is."""
    if not any("_" in cell for cell in cells):  # the common case, in one go
        with suppress(ValueError):
            column[:] = [float(cell) for cell in cells]
            return None
    for k, cell in enumerate(cells):
        try:
            column[k] = number(cell)
        except ValueError:
            column[k:] = math.nan
            return k
    return None


def number(cell: str) -> float:
    """Read a cell as a number, NaN if it is missing; raise ValueError if it is text.

    >>> number(" 1.5"), number("?")
    (1.5, nan)
    """
    if cell.strip().lower() in MISSING:
        return math.nan
    return float("text" if "_" in cell else cell)  # Python reads 1_000 as 1000: no table does


def label_kind(texts: Iterable[str]) -> type:
    """Tell whether labels are all whole numbers, all numbers, or text.

    >>> [label_kind(texts).__name__ for texts in (["1", "-1"], ["1", "0.5"], ["1", "x"])]
    ['int', 'float', 'str']
    """
    different = list(set(texts))
    for kind in (int, float):
        with suppress(ValueError):
            read_labels(different, kind)
            return kind
    return str


def read_labels(texts: Sequence[str], kind: type | None = None) -> NDArray[Any]:
    """Read labels of a kind, by default the one that all of them are; else raise ValueError.

    >>> read_labels(["1", "0"]).tolist(), read_labels(["1_000", "1"]).tolist()
    ([1, 0], ['1_000', '1'])
    """
    if kind is None:
        kind = label_kind(texts)
    if kind is not str and any("_" in text for text in texts):
        raise ValueError("1_000 is no number in a table, though Python reads it as one")
    return np.array([kind(text) for text in texts])
