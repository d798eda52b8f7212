"""Columns that are derived from two others: sums, differences, products and ratios.

Trees follow a ratio of two columns in many small steps; as a column of its own it takes one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pacboost.sources.table import Table
from pacboost.sources.values import Values

Operator = Literal["+", "-", "*", "/", "mean"]
OPERATORS: dict[Operator, np.ufunc] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide,
}  # fmt: skip
SIGNS: dict[Operator, str] = {"+": "+", "-": "−", "*": "×", "/": "/"}


@dataclass(frozen=True)
class DerivedColumn:
    """A column made of two others, named by their numbers.

    >>> ratio = DerivedColumn("/", 0, 2)
    >>> ratio.name(["price", "rooms", "area"])
    'price / area'
    >>> ratio.values(np.array([6.0, 1.0]), np.array([4.0, 0.0])).tolist()
    [1.5, nan]
    """

    learned_otherwise: ClassVar[bool] = False
    """Whether the rows of a fit are given other values than ``of`` computes for them later."""
    operator: Operator
    first: int
    second: int

    def name(self, names: Sequence[str] | Mapping[int, str]) -> str:
        """Return the name of the column, by the names of all others."""
        return f"{names[self.first]} {SIGNS[self.operator]} {names[self.second]}"

    def of(self, table: Table) -> NDArray[np.float32]:
        """Return the column that is derived from those of a table; NumPy must not warn."""
        return self._computed(table.column(self.first), table.column(self.second))

    def values(self, first: Values, second: Values) -> NDArray[np.float32]:
        """Return the values; results that are not finite are missing."""
        with np.errstate(all="ignore"):
            return self._computed(first, second)

    def _computed(self, first: Values, second: Values) -> NDArray[np.float32]:
        # in 32 bits, as values are compared, so that any program in any language gets the same
        made: NDArray[np.float32] = OPERATORS[self.operator](
            np.asarray(first, dtype=np.float32), np.asarray(second, dtype=np.float32)
        )
        made[~np.isfinite(made)] = np.nan
        return made


def derivable(columns: Iterable[int]) -> tuple[DerivedColumn, ...]:
    """Return all columns that can be derived from pairs of these."""
    return tuple(
        DerivedColumn(operator, *pair)
        for pair in combinations(columns, 2)
        for operator in OPERATORS
    )


class DerivedTable(Table):
    """Another table, followed by columns that are derived from its own.

    >>> from pacboost.sources.arrays import ArrayTable
    >>> table = ArrayTable(np.array([[6.0, 4.0], [1.0, 2.0]]))
    >>> DerivedTable(table, (DerivedColumn("/", 0, 1),)).rows().tolist()
    [[6.0, 4.0, 1.5], [1.0, 2.0, 0.5]]
    """

    def __init__(self, table: Table, derived: tuple[DerivedColumn, ...]) -> None:
        self.given_columns, self.derived = table, derived
        self.n_rows, self.n_columns = table.n_rows, table.n_columns + len(derived)
        self.levels, self.width = table.levels, table.width
        if table.names is not None:
            self.names = (*table.names, *(column.name(table.names) for column in derived))

    def block(self, first: int, last: int) -> Values:
        """Return these columns, of which some may be derived."""
        table = self.given_columns
        own = table.n_columns
        if last <= own:
            return table.block(first, last)
        parts: list[NDArray[Any]] = [table.block(first, own)] if first < own else []
        with np.errstate(all="ignore"):  # once: of one row, it takes longer than a column
            for column in self.derived[max(first - own, 0) : last - own]:
                parts.append(column.of(table)[:, None])
        joined: Values = np.concatenate(parts, axis=1)
        return joined

    def take(self, rows: NDArray[np.intp]) -> Table:
        """Return some of the rows."""
        return DerivedTable(self.given_columns.take(rows), self.derived)

    def alone(self, rows: NDArray[np.intp]) -> Table:
        """Return some of the rows, with the types of columns learned from them alone."""
        return DerivedTable(self.given_columns.alone(rows), self.derived)

    def name(self, column: int) -> str:
        """Return the name of a column."""
        own = self.given_columns.n_columns
        if column < own:
            return self.given_columns.name(column)
        return self.derived[column - own].name([self.given_columns.name(j) for j in range(own)])

    def given(self, column: int, row: int) -> Any:
        """Return a cell as it was given; of a derived column its value."""
        if column < self.given_columns.n_columns:
            return self.given_columns.given(column, row)
        return super().given(column, row)
