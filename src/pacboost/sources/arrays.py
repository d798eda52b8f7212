"""Tables from NumPy arrays and SciPy sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.sources.table import Table, Values


class ArrayTable(Table):
    """A two-dimensional array: floats are used in place, other numbers turned column by column."""

    def __init__(self, array: NDArray[Any], names: tuple[str, ...] | None = None) -> None:
        self._array = array
        self.n_rows, self.n_columns = array.shape
        self.names = names
        self._in_place = array.dtype in (np.float32, np.float64)
        self.width = 256 if self._in_place else 1

    def block(self, first: int, last: int) -> Values:
        """Give a view where the array holds floats."""
        part: Values = self._array[:, first:last]
        return part if self._in_place else part.astype(np.float64)


class SparseTable(Table):
    """A SciPy sparse matrix, opened up one column at a time.

    The codes made from it are dense, one byte a cell.
    """

    width = 1

    def __init__(self, matrix: Any, names: tuple[str, ...] | None = None) -> None:
        self._columns = matrix.tocsc()
        self.n_rows, self.n_columns = matrix.shape
        self.names = names

    def block(self, first: int, last: int) -> Values:
        """Open up these columns."""
        dense: NDArray[np.float64] = self._columns[:, first:last].toarray().astype(np.float64)
        return dense
