"""Rows of a file, column by column, as a table and as labels; errors name file and line."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pacboost.errors import FileError
from pacboost.sources.data_file import DataFile
from pacboost.sources.frame_table import CellOrigin, FrameTable
from pacboost.sources.levels import Levels
from pacboost.sources.optional import close_names, need
from pacboost.sources.written import Spelling


def as_text(value: Any, file: DataFile, name: str, line: int) -> str:
    """Write a value as a CSV file would hold it; nothing stands for what is missing.

    >>> from pathlib import Path
    >>> [as_text(value, DataFile(Path("rows.jsonl")), "a", 1) for value in (1.5, True, None, "x")]
    ['1.5', 'true', '', 'x']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict | set | bytes):
        raise FileError(
            f"{file.where(line)}: {name!r} is {value!r:.40}; a cell has to be a number, a text, a "
            "boolean or a date. Take it apart into columns, or leave the column out of the file."
        )
    if hasattr(value, "total_seconds"):
        return repr(value.total_seconds())
    return value.isoformat(sep=" ") if hasattr(value, "hour") else str(value)


@dataclass(frozen=True)
class Cells:
    """Some rows of a file: columns of Arrow, and the line of each row.

    Every error names the file, and the line to blame.
    """

    file: DataFile
    columns: dict[str, Any]
    lines: Sequence[int] | NDArray[np.int64]
    decimal_comma: bool = False

    @property
    def n_rows(self) -> int:
        return len(self.lines)

    @cached_property
    def spelling(self) -> Spelling:
        return Spelling(self.file.missing, self.decimal_comma, self.file.day_first)

    def of(self, name: str) -> list[str]:
        """Return the cells of a column as a CSV file would hold them."""
        column = self._column(name)
        values: list[Any] = column.to_pylist()
        if column.type == "large_string" and not column.null_count:
            return values
        lines = zip(values, self.lines, strict=True)
        return [as_text(value, self.file, name, line) for value, line in lines]

    def _column(self, name: str) -> Any:
        if name not in self.columns:
            close = close_names(name, self.columns)
            end = f"Did you mean {close[0]!r}?" if close else "Name one of them."
            raise FileError(
                f"{self.file}: has no column {name!r}; its columns are "
                f"{', '.join(map(repr, self.columns))}. {end}"
            )
        return self.columns[name]

    def texts(self, name: str, known: Collection[Any] = ()) -> NDArray[Any]:
        """Return the cells of a column as texts; None where a cell is missing.

        A word for missing values that is one of the known levels is that level.
        """
        missing = self.file.missing
        stripped = [cell.strip() for cell in self.of(name)]
        return np.array(
            [None if c.lower() in missing and c not in known else c for c in stripped], dtype=object
        )

    def first_text(self, name: str) -> str:
        """Name the first cell of a column that is not a number, by its column and line."""
        for cell, line in zip(self.of(name), self.lines, strict=True):
            if not self.spelling.is_number(cell):
                where = self.file.where(line).removeprefix(f"{self.file}, ")
                return f"{name} ({where}: {cell!r})"
        return name

    def table(self, raw: Collection[str] = (), drop: Collection[str] = ()) -> FrameTable:
        """Find out what the columns hold; ``raw`` ones are categories, whatever they hold."""
        columns = {name: own for name, own in self.series.items() if name not in drop}
        return FrameTable.learn(columns, origin=self.origin, raw=raw)

    def like(self, names: Sequence[str], levels: Levels) -> FrameTable:
        return FrameTable.like(self.series, names, levels, self.origin)

    @property
    def origin(self) -> CellOrigin:
        def row(number: int) -> str:
            return self.file.where(self.lines[number]).removeprefix(f"{self.file}, ")

        return CellOrigin(self.spelling, f"{self.file}: ", row, FileError)

    @property
    def series(self) -> dict[str, Any]:
        """The columns as data frames hold them."""
        chunked = need("pyarrow").chunked_array
        return {
            name: nw.from_native(
                own if hasattr(own, "chunks") else chunked([own]), series_only=True
            )
            for name, own in self.columns.items()
        }

    def labels(self, name: str) -> list[str]:
        """Return the labels as text; every row needs one."""
        labels = [cell.strip() for cell in self.of(name)]
        for label, line in zip(labels, self.lines, strict=True):
            if label.lower() in self.file.missing:
                said = f" ({label!r} counts as missing; --missing changes that)" if label else ""
                raise FileError(
                    f"{self.file.where(line)}: has no {name!r}{said}. Rows without a label cannot "
                    "be learned from or tested on: drop them, or have them left out by "
                    "--skip-unlabelled."
                )
        return labels

    def labelled(self, target: str) -> Cells:
        """Leave rows without a label out, if the file is to be read so."""
        if not self.file.skip_unlabelled:
            return self
        kept = [k for k, cell in enumerate(self.of(target)) if not self.spelling.is_missing(cell)]
        return self if len(kept) == self.n_rows else self.take(kept)

    def take(self, kept: Sequence[int]) -> Cells:
        """Return some of the rows."""
        rows = need("pyarrow").array(kept, "int64")
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        return Cells(self.file, columns, [self.lines[k] for k in kept], self.decimal_comma)
