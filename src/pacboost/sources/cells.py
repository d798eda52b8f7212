"""Rows of a file as text, column by column; every error names the file, and the line to blame."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import FileError
from pacboost.sources.data_file import DataFile
from pacboost.sources.dates import PARTS, order_of, part_of, read_date
from pacboost.sources.numbers import ReadNumbers, Spelling
from pacboost.sources.optional import close_names
from pacboost.sources.table import refuse_text


@dataclass(frozen=True)
class Cells:
    """Some rows of a file: the cells of each column as text, and the line of each row."""

    file: DataFile
    columns: dict[str, tuple[str, ...]]
    lines: list[int]
    decimal_comma: bool = False

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.lines)

    @cached_property
    def spelling(self) -> Spelling:
        """How numbers are written."""
        return Spelling(self.file.missing, self.decimal_comma)

    def of(self, name: str) -> tuple[str, ...]:
        """Return the cells of a column."""
        if name not in self.columns:
            close = close_names(name, self.columns)
            end = f"Did you mean {close[0]!r}?" if close else "Name one of them."
            raise FileError(
                f"{self.file}: has no column {name!r}; its columns are "
                f"{', '.join(map(repr, self.columns))}. {end}"
            )
        return self.columns[name]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Read a column of numbers; NaN where a cell is missing.

        A column that a fit made of dates is made of them again.
        """
        made = part_of(name)
        if name not in self.columns and made is not None and made[0] in self.columns:
            return self._part_of_dates(made[0], PARTS[made[1]], order_of(name))
        read = self.read_numbers(name)
        if read.bad is not None:
            raise FileError(f"{self.file}: {refuse_text([self.at(name, read.bad)])}")
        return read.values

    def read_numbers(self, name: str) -> ReadNumbers:
        """Read a column of numbers, of which some may turn out to be text."""
        read = self.spelling.read(self.of(name))
        infinite = np.isinf(read.values)
        if infinite.any():
            raise FileError(
                f"{self.file.where(self.lines[int(infinite.argmax())])}: {name!r} is infinite. "
                "Clip it, or leave the cell empty if the value is missing."
            )
        return read

    def at(self, name: str, row: int) -> str:
        """Name a cell by its column and line, and show it."""
        line = self.file.where(self.lines[row]).removeprefix(f"{self.file}, ")
        return f"{name} ({line}: {self.of(name)[row]!r})"

    def _part_of_dates(
        self, name: str, part: Callable[[Any], float], order: str
    ) -> NDArray[np.float64]:
        column = np.full(self.n_rows, np.nan)
        for k, cell in enumerate(self.of(name)):
            if self.spelling.is_missing(cell):
                continue
            moment = read_date(cell.strip(), order)
            if moment is None:
                written = f" written as {order}" if order else ""
                raise FileError(
                    f"{self.file.where(self.lines[k])}: {name!r} is {cell!r}, which is no date"
                    f"{written}, and the model was fitted on such dates. Write it as in "
                    "2024-01-31, or leave the cell empty."
                )
            column[k] = part(moment)
        return column

    def levels(self, name: str, known: Collection[Any] = ()) -> NDArray[Any]:
        """Return a column of categories or texts; None where a cell is missing.

        A word for missing values that is one of the known levels is that level.
        """
        missing = self.file.missing
        stripped = [cell.strip() for cell in self.of(name)]
        return np.array(
            [None if c.lower() in missing and c not in known else c for c in stripped], dtype=object
        )

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
        if len(kept) == self.n_rows:
            return self
        columns = {n: tuple(own[k] for k in kept) for n, own in self.columns.items()}
        return Cells(self.file, columns, [self.lines[k] for k in kept], self.decimal_comma)
