"""Tables from NumPy arrays, and from CuPy arrays in the memory of a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.sources.levels import NO_LEVELS, Levels
from pacboost.sources.look_up import Level
from pacboost.sources.table import ColumnTable, Table, refuse_infinite, refuse_text
from pacboost.sources.values import Values, distinct, is_missing


class ArrayTable(Table):
    """A two-dimensional array; floats are used in place, other numbers converted by column.

    Categorical columns, if any, already hold the numbers of their levels.
    """

    def __init__(
        self,
        array: NDArray[Any],
        names: tuple[str, ...] | None = None,
        levels: Levels = NO_LEVELS,
    ) -> None:
        self._array = array
        self.n_rows, self.n_columns = array.shape
        self.names, self.levels = names, levels
        # kernels take steps of whole numbers: fields of structured arrays may have others
        self._in_place = array.dtype in (np.float32, np.float64) and array.flags.aligned
        self.width = 256 if self._in_place else 1

    def block(self, first: int, last: int) -> Values:
        part: Values = self._array[:, first:last]
        return part if self._in_place else part.astype(np.float64)

    def in_place(self) -> tuple[Any, NDArray[np.intp] | None] | None:
        return (self._array, None) if self._in_place else None

    def columns(self, numbers: Sequence[int]) -> Self:
        names = None if self.names is None else tuple(self.names[j] for j in numbers)
        return type(self)(self._array[:, list(numbers)], names, self.levels.of(numbers))


class CategorisedArray(ColumnTable):
    """A two-dimensional array of any type whose categorical columns hold unencoded levels."""

    def __init__(
        self, array: NDArray[Any], levels: Levels, names: tuple[str, ...] | None = None
    ) -> None:
        self._array = array
        self.n_rows, self.n_columns = array.shape
        self.names, self.levels = names, levels
        numbers = [j for j in range(self.n_columns) if j not in levels]
        text = [self.name(j) for j in numbers if holds_text(array[:, j])]
        if text:
            raise refuse_text(text)
        for j in numbers:
            refuse_infinite(self.column(j), self._shown(j))

    def column(self, number: int) -> Values:
        cells = self._array[:, number]
        if number in self.levels:
            return self.levels.numbers(number, cells, self._shown(number))
        if cells.dtype in (np.float32, np.float64):
            return cells
        if cells.dtype.kind == "O":
            cells = np.array([None if is_missing(cell) else cell for cell in cells], dtype=object)
        try:
            return cells.astype(np.float64)
        except (TypeError, ValueError) as problem:
            raise DataError(
                f"column {self._shown(number)} holds a value that is not a number: {problem}"
            ) from problem

    def given(self, column: int, row: int) -> Any:
        return self._array[row, column]

    def every_level(self, column: int) -> tuple[Level, ...]:
        return tuple(sorted(distinct(self._array[:, column])))

    def level_numbers(self, column: int, levels: tuple[Level, ...]) -> Values:
        return Levels({column: levels}).numbers(column, self._array[:, column], self._shown(column))

    def _shown(self, number: int) -> str:
        return str(number) if self.names is None else repr(self.names[number])


def holds_text(cells: NDArray[Any]) -> bool:
    """Check whether a column of an array holds any text."""
    if cells.dtype.kind == "O":
        return any(isinstance(cell, str) for cell in cells)
    return cells.dtype.kind in "UT"


class GpuTable(Table):
    """A two-dimensional CuPy array of floats, or some of its rows.

    Blocks are copied to the memory of the CPU.
    """

    far = True
    width = 8

    def __init__(self, array: Any, chosen: NDArray[np.intp] | None = None) -> None:
        self._array, self._chosen = array, chosen
        self.n_rows = len(array) if chosen is None else chosen.size
        self.n_columns = array.shape[1]

    def block(self, first: int, last: int) -> Values:
        part = self._array[:, first:last]
        if self._chosen is not None:
            import cupy

            part = part[cupy.asarray(self._chosen)]
        values: Values = part.get()
        return values

    def in_place(self) -> tuple[Any, NDArray[np.intp] | None] | None:
        return self._array, self._chosen

    def take(self, rows: NDArray[np.intp]) -> Table:
        return GpuTable(self._array, rows if self._chosen is None else self._chosen[rows])
