"""Rows of a file, column by column, as a table and as labels; errors name the file and line."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pacboost.errors import FileError
from pacboost.sources.arrow import is_installed, number_column, one_column
from pacboost.sources.data_file import DataFile
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.kinds.column import CellOrigin
from pacboost.sources.levels import Levels
from pacboost.sources.optional import close_names
from pacboost.sources.spelling import Spelling


def as_text(value: Any, file: DataFile, name: str, line: int) -> str:
    """Return a value as it would stand in a CSV file; a missing value becomes an empty text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict | set | bytes):
        raise FileError(
            f"{file.where(line)}: {name!r} is {value!r:.40}; a cell must be a number, a text, a "
            "boolean or a date. Split it into columns, or remove the column from the file."
        )
    if hasattr(value, "total_seconds"):
        return repr(value.total_seconds())
    return value.isoformat(sep=" ") if hasattr(value, "hour") else str(value)


@dataclass(frozen=True)
class Cells:
    """Some rows of a file: columns of Arrow or NumPy, and the line number of each row.

    Every error names the file and the line.
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
        """Return the cells of a column as they would stand in a CSV file."""
        if name not in self.columns:
            close = close_names(name, self.columns)
            end = f"Did you mean {close[0]!r}?" if close else "Name one of them."
            raise FileError(
                f"{self.file}: has no column {name!r}; its columns are "
                f"{', '.join(map(repr, self.columns))}. {end}"
            )
        column = self.columns[name]
        if isinstance(column, np.ndarray):  # texts of a file, without pyarrow
            return list(column)
        values: list[Any] = column.to_pylist()
        if column.type == "large_string" and not column.null_count:
            return values
        lines = zip(values, self.lines, strict=True)
        return [as_text(value, self.file, name, line) for value, line in lines]

    def texts(self, name: str, levels: Collection[Any] = ()) -> NDArray[Any]:
        """Return the cells of a column as texts, with None for missing cells.

        A word for missing values that is also one of ``levels`` is read as that level.
        """
        missing = self.file.missing
        cells = map(str.strip, self.of(name))
        texts = [None if c.lower() in missing and c not in levels else c for c in cells]
        return np.array(texts, dtype=object)

    def first_text(self, name: str) -> str:
        """Return the column name, with the line and text of its first cell that is not a number."""
        for row, cell in enumerate(self.of(name)):
            if not self.spelling.is_number(cell):
                return f"{name} ({self._place(row)}: {cell!r})"
        return name

    def _place(self, row: int) -> str:
        return self.file.where(self.lines[row]).removeprefix(f"{self.file}, ")

    def table(
        self, raw: Collection[str] = (), drop: Collection[str] = (), *, reads_text: bool = False
    ) -> FrameTable:
        """Learn the type of each column; columns in ``raw`` are always categories."""
        columns = {name: cells for name, cells in self.series.items() if name not in drop}
        return FrameTable.learn(columns, origin=self.origin, raw=raw, reads_text=reads_text)

    def like(self, names: Sequence[str], levels: Levels) -> FrameTable:
        return FrameTable.like(self.series, names, levels, self.origin)

    @property
    def origin(self) -> CellOrigin:
        return CellOrigin(self.spelling, f"{self.file}: ", self._place, FileError)

    @property
    def series(self) -> dict[str, Any]:
        """The columns as narwhals series; those of NumPy unmodified."""
        columns = {
            name: column if hasattr(column, "chunks") else one_column([column])
            for name, column in self.columns.items()
        }
        return {
            name: nw.from_native(column, series_only=True, pass_through=True)
            for name, column in columns.items()
        }

    def labels(self, name: str) -> list[str]:
        labels = [cell.strip() for cell in self.of(name)]
        for label, line in zip(labels, self.lines, strict=True):
            if label.lower() in self.file.missing:
                raise FileError(
                    f"{self.file.where(line)}: {name!r} is {label!r}, which may be a class or a "
                    "missing label. Leave such rows out by --skip-unlabelled; if it is a class, "
                    "name other words for missing values by --missing, such as --missing NA."
                )
        return labels

    def labelled_rows(self, target: str) -> list[int]:
        absent = self.file.unlabelled
        return [k for k, cell in enumerate(self.of(target)) if cell.strip().lower() not in absent]

    def take(self, numbers: Sequence[int]) -> Cells:
        if len(numbers) == self.n_rows:
            return self
        rows: Any = np.array(numbers, np.int64)
        rows = number_column(rows) if is_installed() else rows
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        return replace(self, columns=columns, lines=[self.lines[k] for k in numbers])
