"""Examples from a CSV file with a header, plain or gzip-compressed.

A cell that is empty or says NA, NaN, null or ? is missing. Every complaint names the file, and the
line where there is one to blame.
"""

from __future__ import annotations

import csv
import gzip
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import FileError
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.levels import Levels
from pacboost.sources.table import refuse_text

MISSING = frozenset({"", "na", "nan", "null", "?"})
ROWS_AT_ONCE = 10_000
UNREADABLE = (OSError, EOFError, zlib.error, UnicodeDecodeError)


@dataclass(frozen=True)
class LabelledTable:
    """The examples of a file: a table of numbers (and levels) and the label of each row."""

    table: ArrayTable
    labels: NDArray[Any]


class FileTable(ArrayTable):
    """The rows of a file: a column holds categories if one of its cells is text."""

    def alone(self, rows: NDArray[np.intp]) -> FileTable:
        """Read some rows as if the file held no others: without text, a column holds numbers."""
        values, levels = self.block(0, self.n_columns)[rows], dict(self.levels.columns)
        for column, own in self.levels.columns.items():
            present = ~np.isnan(values[:, column])
            numbers, place = np.unique(values[present, column], return_inverse=True)
            cells = [str(own[int(number)]) for number in numbers]
            found = np.empty(len(cells))
            if fill_numbers(found, cells) is None:
                values[present, column] = found[place]
                del levels[column]
        return FileTable(values, self.names, Levels(levels))


def read_csv(path: str | Path, target: str, *, categories: bool = False) -> LabelledTable:
    """Read a file whose column ``target`` holds the labels and whose other columns are numbers.

    With ``categories``, a column that holds text becomes a categorical one; else it is refused.
    """
    path = Path(path)
    try:
        examples, text = _read(path, target, [])
        if text and categories:
            del examples  # it may be large, and is read again with these columns as text
            examples, text = _read(path, target, list(text))
    except UNREADABLE as problem:
        raise unreadable(path, problem) from problem
    if text:
        raise FileError(f"{path}: {refuse_text(list(text.values()))}")
    return examples


def open_text(path: Path, errors: str = "strict") -> IO[str]:
    """Open a file, packed or not."""
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", errors=errors, newline="")
    return path.open(encoding="utf-8-sig", errors=errors, newline="")


def unreadable(path: Path, problem: Exception) -> FileError:
    """Say why a file cannot be read, and where if it is not UTF-8."""
    if not isinstance(problem, UnicodeDecodeError):
        reason = getattr(problem, "strerror", None) or problem
        return FileError(f"{path}: cannot be read ({reason})")
    with open_text(path, "surrogateescape") as file:  # it makes letters of bytes that are none
        for number, line in enumerate(file, start=1):
            stray = re.search("[\udc80-\udcff]", line)
            if stray is not None:
                byte = ord(stray[0]) - 0xDC00
                return FileError(
                    f"{path}, line {number}: is not UTF-8 text (it holds the byte 0x{byte:02x}). "
                    "Save the file as UTF-8"
                )
    return FileError(f"{path}: is not UTF-8 text ({problem.reason})")


def _read(
    path: Path, target: str, categorical: Sequence[str]
) -> tuple[LabelledTable, dict[str, str]]:
    """Read the file; also tell which columns hold text that is not categorical, and where."""
    with open_text(path) as file:
        reader = Lines(path, csv.reader(file, strict=True))
        header = reader.header()
        if target not in header:
            raise FileError(
                f"{path}: has no column {target!r}; its columns are "
                f"{', '.join(repr(name) for name in header)}. Name one of them as the target."
            )
        where = header.index(target)
        names = tuple(name for k, name in enumerate(header) if k != where)
        labels: list[str] = []
        parts: list[NDArray[np.float64]] = []
        text: dict[str, str] = {}
        seen: dict[int, dict[str, int]] = {names.index(name): {} for name in categorical}
        for numbers, chunk in reader.chunks(len(header)):
            columns = list(zip(*chunk, strict=True))
            labels.extend(present_labels(path, columns.pop(where), target, numbers))
            part = np.empty((len(chunk), len(names)))
            for j, (name, cells, column) in enumerate(zip(names, columns, part.T, strict=True)):
                if j in seen:
                    column[:] = _number(cells, seen[j])
                    continue
                bad = fill_numbers(column, cells)
                if bad is not None:
                    text.setdefault(name, f"{name} (line {numbers[bad]}: {cells[bad]!r})")
                refuse_infinite_cells(path, column, name, numbers)
            parts.append(part)
    if not parts:
        raise FileError(f"{path}: has a header but no rows; at least one is needed")
    values = np.concatenate(parts)
    levels = Levels({j: tuple(sorted(own)) for j, own in seen.items()})
    for j, own in seen.items():  # from the order in which they came to the sorted one
        values[:, j] = levels.numbers(j, Levels({j: tuple(own)}).values(j, values[:, j]), names[j])
    table = FileTable(values, names, levels)
    return LabelledTable(table, _labels(labels)), {n: text[n] for n in names if n in text}


def _number(cells: Sequence[str], seen: dict[str, int]) -> list[float]:
    """Number levels in the order in which they come."""
    levels = [cell.strip() for cell in cells]
    return [
        math.nan if level.lower() in MISSING else seen.setdefault(level, len(seen))
        for level in levels
    ]


def present_labels(
    path: Path, cells: Sequence[str], target: str, numbers: Sequence[int]
) -> Iterator[str]:
    """Give labels, each of which has to be there."""
    for cell, number in zip(cells, numbers, strict=True):
        label = cell.strip()
        if label.lower() in MISSING:
            raise FileError(
                f"{path}, line {number}: has no {target!r}. Rows without a label teach nothing: "
                "drop them."
            )
        yield label


def refuse_infinite_cells(
    path: Path, column: NDArray[np.float64], name: str, numbers: Sequence[int]
) -> None:
    """Raise if a number is infinite."""
    bad = np.isinf(column)
    if bad.any():
        raise FileError(
            f"{path}, line {numbers[int(bad.argmax())]}: {name!r} is infinite. Clip it, or leave "
            "the cell empty if the value is missing."
        )


def _labels(texts: list[str]) -> NDArray[Any]:
    """Labels as whole numbers or numbers where all of them are, as text otherwise."""
    if not any("_" in text for text in texts):  # Python reads 1_2 as 12: not so in a table
        for kind in (int, float):
            with suppress(ValueError):
                return np.array([kind(text) for text in texts])
    return np.array(texts)


class Lines:
    """The lines of one file, with the name and number of each for complaints."""

    def __init__(self, path: Path, lines: Iterator[list[str]]) -> None:
        self._path = path
        self._lines = lines

    def header(self) -> list[str]:
        """Read the names of the columns."""
        for line in self._checked():
            names = [name.strip() for name in line]
            twice = {name for name in names if names.count(name) > 1}
            if twice:
                raise FileError(f"{self._path}: the header names {', '.join(sorted(twice))} twice")
            return names
        raise FileError(f"{self._path}: is empty; a header line and at least one row are needed")

    def chunks(self, width: int) -> Iterator[tuple[list[int], list[list[str]]]]:
        """Give rows some thousands at a time, with the line of each."""
        numbers: list[int] = []
        chunk: list[list[str]] = []
        for line in self._checked():
            if len(line) != width:
                raise FileError(
                    f"{self._path}, line {self._number()}: has {len(line)} cells where the header "
                    f"has {width}. Mend or remove the line."
                )
            numbers.append(self._number())
            chunk.append(line)
            if len(chunk) == ROWS_AT_ONCE:
                yield numbers, chunk
                numbers, chunk = [], []
        if chunk:
            yield numbers, chunk

    def _checked(self) -> Iterator[list[str]]:
        while True:
            try:
                line = next(self._lines)
            except StopIteration:
                return
            except csv.Error as problem:
                raise FileError(f"{self._path}, line {self._number()}: {problem}") from problem
            if line:
                yield line

    def _number(self) -> int:
        return int(self._lines.line_num)  # type: ignore[attr-defined]


def fill_numbers(column: NDArray[np.float64], cells: Sequence[str]) -> int | None:
    """Write cells as numbers; give the place of the first that is text, None if none is."""
    if not any("_" in cell for cell in cells):  # Python reads 1_000 as 1000: not so in a table
        with suppress(ValueError):
            column[:] = [float(cell) for cell in cells]
            return None
    for k, cell in enumerate(cells):
        missing = cell.strip().lower() in MISSING
        try:
            column[k] = math.nan if missing else float("text" if "_" in cell else cell)
        except ValueError:
            column[k:] = math.nan
            return k
    return None
