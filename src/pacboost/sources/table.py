"""Tables of numbers that are read a few columns at a time.

All other code reads through ``block``, so no source has to be copied into one matrix: an array
gives views, a data frame converts one column at a time.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.sources.levels import NO_LEVELS, Levels
from pacboost.sources.look_up import Level
from pacboost.sources.values import Values, is_missing

FINITE = (
    "values must be finite, or NaN if they are missing. Clip infinite values or make them missing."
)

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Entries:
    """The stored cells of a sparse table by columns; all others are 0.

    Those of column j lie from ``starts[j]`` to ``starts[j + 1]``, sorted by row, without
    duplicates.
    """

    n_rows: int
    starts: Places
    rows: NDArray[np.int32]
    values: NDArray[np.float32] | NDArray[np.float64]

    @property
    def columns(self) -> Places:
        return np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))

    def of(self, columns: NDArray[np.integer]) -> Entries:
        starts, places = picked(self.starts, columns)
        return Entries(self.n_rows, starts, self.rows[places], self.values[places])

    def refuse_infinite(self) -> None:
        bad = np.isinf(self.values)
        if bad.any():
            place = int(bad.argmax())
            column = int(np.searchsorted(self.starts, place, side="right")) - 1
            where = f"column {column} holds {self.values[place]} in row {self.rows[place]}"
            raise DataError(f"{where}; {FINITE}")


def picked(starts: Places, lines: NDArray[np.integer]) -> tuple[Places, Places]:
    """Select some lists: return their new start indices, and the indices of their elements."""
    sizes = np.diff(starts)[lines]
    begins = starts_of(sizes)
    moved = np.repeat(starts[:-1][lines] - begins[:-1], sizes)
    return begins, moved + np.arange(int(begins[-1]))


def starts_of(sizes: NDArray[Any]) -> Places:
    """Return the start index of each of several consecutive lists, and the end of the last.

    >>> starts_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


class Table(ABC):
    """Rows of numbers in columns that may have names; NaN means missing.

    A categorical column holds the numbers of its levels, which are listed in ``levels``.
    """

    n_rows: int
    n_columns: int
    names: tuple[str, ...] | None = None
    width: int
    """Number of columns in each block of ``blocks``."""
    levels: Levels = NO_LEVELS
    far: bool = False
    """Whether the numbers are in the memory of a GPU, so that copying few rows is faster."""
    entries: Entries | None = None
    """The stored cells of a sparse table; None for other tables."""

    @abstractmethod
    def block(self, first: int, last: int) -> Values:
        """Return columns ``first`` to ``last - 1`` as a float array of shape (rows, columns)."""

    def column(self, number: int) -> Values:
        return self.block(number, number + 1)[:, 0]

    def blocks(self) -> Iterator[tuple[int, Values]]:
        """Yield all columns in order, as pairs (number of the first, block)."""
        for first in range(0, self.n_columns, self.width):
            yield first, self.block(first, min(first + self.width, self.n_columns))

    def blocks_of(self, columns: Iterable[int]) -> Iterator[tuple[int, Values]]:
        """Yield the blocks that contain at least one of these columns."""
        for first in sorted({j // self.width * self.width for j in columns}):
            yield first, self.block(first, min(first + self.width, self.n_columns))

    def rows(self) -> Values:
        """Return the table as one array, for learners that read rows."""
        return self.block(0, self.n_columns)

    def in_place(self) -> tuple[Any, NDArray[np.intp] | None] | None:
        """Return an array of floats and the rows of it that form the table (None: all), if any."""
        return None

    def take(self, rows: NDArray[np.intp]) -> Table:
        return SomeRows(self, rows)

    def alone(self, rows: NDArray[np.intp]) -> Table:
        """Return some of the rows, with the types of columns learned from them alone."""
        return self.take(rows)

    def name(self, column: int) -> str:
        """Return the name of a column, such as x0 if it has none."""
        return f"x{column}" if self.names is None else self.names[column]

    def cells(self, column: int) -> NDArray[Any]:
        """Return a column with levels in place of their numbers, None for missing ones."""
        return self._decoded(column, self.column(column))

    def given(self, column: int, row: int) -> Any:
        """Return a cell as it was given; None if it is missing, a number if the text is unknown."""
        return self._decoded(column, self.column(column)[row : row + 1])[0]

    def text(self, column: int, row: int) -> str:
        """Return a cell as text for people, in its original spelling if that is known."""
        given, value = self.given(column, row), float(self.column(column)[row])
        if is_missing(given):
            return "missing"
        if column in self.levels and math.isnan(value):
            return f"{given}, one of the others"
        if isinstance(given, str | bool | np.bool_):
            return str(given)
        return self.levels.kind(column).show(value)

    def distinct(self, column: int) -> NDArray[Any]:
        return self._decoded(column, np.unique(self.column(column)))

    def every_level(self, column: int) -> tuple[Level, ...]:
        """Return the levels of a column, with those that the fit groups."""
        known = self.levels.columns.get(column)
        return tuple(np.unique(self.column(column)).tolist()) if known is None else known

    def level_numbers(self, column: int, levels: tuple[Level, ...]) -> Values:
        """Return the numbers that these levels have in a column, NaN for other ones."""
        values, name = self.column(column), self.name(column)
        wanted, old_levels = Levels({column: levels}), self.levels.columns.get(column)
        if old_levels is None:
            return wanted.numbers(column, values, name)
        present = ~np.isnan(values)
        numbers = np.full(values.size, np.nan)
        if present.any():  # from old to new level numbers
            there = np.array(old_levels, dtype=object)
            numbers[present] = wanted.numbers(column, there, name)[values[present].astype(int)]
        return numbers

    def _decoded(self, column: int, values: NDArray[Any]) -> NDArray[Any]:
        return self.levels.values(column, values) if column in self.levels else values


class ColumnTable(Table):
    """A table that is converted one column at a time."""

    width = 1

    @abstractmethod
    def column(self, number: int) -> Values:
        """Convert one column."""

    def block(self, first: int, last: int) -> Values:
        if last - first == 1:
            return self.column(first)[:, None]
        columns = np.array([self.column(j) for j in range(first, last)], dtype=np.float64)
        return np.ascontiguousarray(columns.T)


class SomeRows(Table):
    """Some rows of another table, copied a few columns at a time."""

    def __init__(self, table: Table, chosen: NDArray[np.intp]) -> None:
        self._table = table
        self._chosen = chosen
        self.n_rows, self.n_columns = chosen.size, table.n_columns
        self.names, self.levels = table.names, table.levels
        self.width = min(table.width, 8)

    def block(self, first: int, last: int) -> Values:
        return self._table.block(first, last)[self._chosen]

    def given(self, column: int, row: int) -> Any:
        return self._table.given(column, int(self._chosen[row]))

    def every_level(self, column: int) -> tuple[Level, ...]:
        return self._table.every_level(column)

    def level_numbers(self, column: int, levels: tuple[Level, ...]) -> Values:
        return self._table.level_numbers(column, levels)[self._chosen]

    def in_place(self) -> tuple[Any, NDArray[np.intp] | None] | None:
        source = self._table.in_place()
        if source is None:
            return None
        array, rows = source
        return array, self._chosen if rows is None else rows[self._chosen]


class RecodedTable(ColumnTable):
    """Another table whose categorical columns are renumbered by the levels of fit."""

    def __init__(self, table: Table, levels: Levels) -> None:
        text = [j for j in table.levels.columns if j not in levels and table.levels.columns[j]]
        if text:
            raise refuse_text([table.name(j) for j in text])
        self._table = table
        self.n_rows, self.n_columns = table.n_rows, table.n_columns
        self.names, self.levels = table.names, levels

    def given(self, column: int, row: int) -> Any:
        return self._table.given(column, row)

    def column(self, number: int) -> Values:
        if number not in self.levels:
            return self._table.column(number)
        return self._table.level_numbers(number, self.levels.columns[number])

    def every_level(self, column: int) -> tuple[Level, ...]:
        return self._table.every_level(column)

    def level_numbers(self, column: int, levels: tuple[Level, ...]) -> Values:
        return self._table.level_numbers(column, levels)


def refuse_infinite(values: Values, column: str) -> None:
    """Raise if a value is infinite."""
    bad = np.isinf(values)
    if bad.any():
        row = int(bad.argmax())
        raise DataError(f"column {column} holds {values[row]} in row {row}; {FINITE}")


def refuse_text(columns: Sequence[str]) -> DataError:
    """Return the error for columns that hold text."""
    shown = ", ".join(columns[:5]) + (", …" if len(columns) > 5 else "")
    return DataError(
        f"these columns hold text, not numbers: {shown}. Encode them as numbers (for example with "
        "scikit-learn's OrdinalEncoder or OneHotEncoder), drop them, or name them in "
        "categorical_features, where the estimator has it."
    )
