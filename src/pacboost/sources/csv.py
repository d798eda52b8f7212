"""Examples from a CSV file with a header, plain or gzip-compressed.

A cell that is empty or says NA, NaN, null or ? is missing. Every complaint names the file, and the
line where there is one to blame.
"""

from __future__ import annotations

import csv
import gzip
import math
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, FileError
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.table import refuse_infinite, refuse_text

MISSING = frozenset({"", "na", "nan", "null", "?"})
ROWS_AT_ONCE = 10_000


@dataclass(frozen=True)
class LabelledTable:
    """The examples of a file: a table of numbers and the label of each row."""

    table: ArrayTable
    labels: NDArray[Any]


def read_csv(path: str | Path, target: str) -> LabelledTable:
    """Read a file whose column ``target`` holds the labels and whose other columns are numbers."""
    path = Path(path)
    try:
        with _open(path) as file:
            return _read(path, csv.reader(file, strict=True), target)
    except (OSError, EOFError, zlib.error) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise FileError(f"{path}: cannot be read ({reason})") from problem
    except UnicodeDecodeError as problem:
        raise FileError(f"{path}: is not UTF-8 text ({problem})") from problem


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _read(path: Path, lines: Iterator[list[str]], target: str) -> LabelledTable:
    reader = _Lines(path, lines)
    header = reader.header()
    if target not in header:
        raise FileError(
            f"{path}: has no column {target!r}; its columns are {', '.join(header)}. "
            "Name one of them as the target."
        )
    where = header.index(target)
    names = tuple(name for k, name in enumerate(header) if k != where)
    labels: list[str] = []
    parts: list[NDArray[np.float64]] = []
    text: set[str] = set()
    for chunk in reader.chunks(len(header)):
        columns = list(zip(*chunk, strict=True))
        labels.extend(columns.pop(where))
        part = np.empty((len(chunk), len(names)))
        for k, cells in enumerate(columns):
            numbers = _numbers(cells)
            if numbers is None:
                text.add(names[k])
            else:
                part[:, k] = numbers
        parts.append(part)
    if not parts:
        raise FileError(f"{path}: has a header but no rows; at least one is needed")
    if text:
        problem = refuse_text([name for name in names if name in text])
        raise FileError(f"{path}: {problem}")
    blank = [k for k, label in enumerate(labels) if label.strip().lower() in MISSING]
    if blank:
        raise FileError(
            f"{path}: {len(blank)} rows have no {target!r} (the first is row {blank[0] + 1} after "
            "the header). Rows without a label teach nothing: drop them."
        )
    table = ArrayTable(np.concatenate(parts), names)
    for k, name in enumerate(names):
        try:
            refuse_infinite(table.block(k, k + 1)[:, 0], repr(name))
        except DataError as problem:
            raise FileError(f"{path}: {problem}") from problem
    return LabelledTable(table, _labels([label.strip() for label in labels]))


def _labels(texts: list[str]) -> NDArray[Any]:
    """Labels as whole numbers or numbers where all of them are, as text otherwise."""
    if not any("_" in text for text in texts):  # Python reads 1_2 as 12: not so in a table
        for kind in (int, float):
            with suppress(ValueError):
                return np.array([kind(text) for text in texts])
    return np.array(texts)


class _Lines:
    """The lines of one file, with the name and number of each for complaints."""

    def __init__(self, path: Path, lines: Iterator[list[str]]) -> None:
        self._path = path
        self._lines = lines

    def header(self) -> list[str]:
        for line in self._checked():
            names = [name.strip() for name in line]
            twice = {name for name in names if names.count(name) > 1}
            if twice:
                raise FileError(f"{self._path}: the header names {', '.join(sorted(twice))} twice")
            return names
        raise FileError(f"{self._path}: is empty; a header line and at least one row are needed")

    def chunks(self, width: int) -> Iterator[list[list[str]]]:
        chunk: list[list[str]] = []
        for line in self._checked():
            if len(line) != width:
                raise FileError(
                    f"{self._path}, line {self._number()}: has {len(line)} cells where the header "
                    f"has {width}. Mend or remove the line."
                )
            chunk.append(line)
            if len(chunk) == ROWS_AT_ONCE:
                yield chunk
                chunk = []
        if chunk:
            yield chunk

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


def _numbers(cells: Sequence[str]) -> list[float] | None:
    """Turn cells into numbers, None if one of them is text."""
    if any("_" in cell for cell in cells):  # Python reads 1_000 as 1000: not so in a table
        return None
    with suppress(ValueError):
        return [float(cell) for cell in cells]
    with suppress(ValueError):
        return [math.nan if cell.strip().lower() in MISSING else float(cell) for cell in cells]
    return None
