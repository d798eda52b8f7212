"""Tables from arrays in the memory of a GPU: rows come from there only where they are few."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.sources.table import Table, Values


class GpuTable(Table):
    """A two-dimensional CuPy array of floats, or some of its rows."""

    far = True
    width = 8

    def __init__(self, array: Any, chosen: NDArray[np.intp] | None = None) -> None:
        self._array, self._chosen = array, chosen
        self.n_rows = len(array) if chosen is None else chosen.size
        self.n_columns = array.shape[1]

    def block(self, first: int, last: int) -> Values:
        """Copy these columns to the memory of the CPU."""
        part = self._array[:, first:last]
        if self._chosen is not None:
            import cupy

            part = part[cupy.asarray(self._chosen)]
        values: Values = part.get()
        return values

    def rows(self) -> Values:
        """Copy all columns."""
        return self.block(0, self.n_columns)

    def in_place(self) -> tuple[Any, NDArray[np.intp] | None] | None:
        """Give the array itself, and which of its rows these are."""
        return self._array, self._chosen

    def take(self, rows: NDArray[np.intp]) -> Table:
        """Some of the rows, in this order."""
        return GpuTable(self._array, rows if self._chosen is None else self._chosen[rows])
