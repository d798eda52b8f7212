"""A table of numbers that can be read a few columns at a time.

Everything downstream reads through ``block``, so a source never has to be copied into one matrix:
an array gives views, a data frame converts one column at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError

Values = NDArray[np.float32] | NDArray[np.float64]


class Table(ABC):
    """Rows of numbers under (perhaps) named columns; NaN means missing."""

    n_rows: int
    n_columns: int
    names: tuple[str, ...] | None = None
    width: int
    """How many columns ``blocks`` gives at once."""

    @abstractmethod
    def block(self, first: int, last: int) -> Values:
        """Columns first to last as a (rows, columns) array of float32 or float64."""

    def blocks(self) -> Iterator[tuple[int, Values]]:
        """All columns in order, as (number of the first, block)."""
        for first in range(0, self.n_columns, self.width):
            yield first, self.block(first, min(first + self.width, self.n_columns))

    def rows(self) -> Values:
        """The whole table as one array, for learners that want rows."""
        return self.block(0, self.n_columns)

    def name(self, column: int) -> str:
        """What to call a column in words."""
        return f"x{column}" if self.names is None else self.names[column]


class SomeRows(Table):
    """Some rows of another table, copied a few columns at a time."""

    def __init__(self, table: Table, chosen: NDArray[np.intp]) -> None:
        self._table = table
        self._chosen = chosen
        self.n_rows, self.n_columns = chosen.size, table.n_columns
        self.names = table.names
        self.width = min(table.width, 8)

    def block(self, first: int, last: int) -> Values:
        """Copy these columns of the chosen rows."""
        return self._table.block(first, last)[self._chosen]


def refuse_infinite(values: Values, column: str) -> None:
    """Raise if a value is infinite."""
    bad = np.isinf(values)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise DataError(
            f"column {column} holds {values[row]} in row {row}; values have to be finite, or NaN "
            "where they are missing. Clip the infinite ones or make them missing."
        )


def refuse_text(columns: Sequence[str]) -> DataError:
    """Make the error for columns that hold text."""
    shown = ", ".join(columns[:5]) + (", …" if len(columns) > 5 else "")
    return DataError(
        f"these columns hold text, not numbers: {shown}. Encode them as numbers "
        "(for example with scikit-learn's OrdinalEncoder or OneHotEncoder) or drop them."
    )
