"""The levels of categorical columns, and the kinds of all others that are no plain numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.sources.kinds.categories import Categories
from pacboost.sources.kinds.kind import ColumnKind
from pacboost.sources.kinds.order import PLAIN, from_json, to_json
from pacboost.sources.look_up import Level


@dataclass(frozen=True)
class Levels:
    """Which columns are categorical, and the levels of each in sorted order.

    >>> levels = Levels({2: ("blue", "red")})
    >>> levels.numbers(2, np.array(["red", "green", "blue"]), "colour").tolist()
    [1.0, nan, 0.0]
    """

    columns: Mapping[int, tuple[Level, ...]] = field(default_factory=dict)
    kinds: Mapping[int, ColumnKind] = field(default_factory=dict)
    """The kinds of columns that are neither categories nor plain numbers."""

    @classmethod
    def of_kinds(cls, kinds: Iterable[ColumnKind]) -> Levels:
        """Take the kind of every column."""
        columns, others = {}, {}
        for column, kind in enumerate(kinds):
            if isinstance(kind, Categories):
                columns[column] = kind.levels
            elif kind != PLAIN:
                others[column] = kind
        return cls(columns, others)

    def __contains__(self, column: int) -> bool:
        return column in self.columns

    def __bool__(self) -> bool:
        return bool(self.columns)

    def kind(self, column: int) -> ColumnKind:
        """Return the kind of a column."""
        levels = self.columns.get(column)
        return self.kinds.get(column, PLAIN) if levels is None else Categories(levels)

    @property
    def in_parts(self) -> bool:
        """True if several columns are made of one column of the input."""
        return any(kind.part for kind in self.kinds.values())

    def counts(self, n_columns: int) -> NDArray[np.int64]:
        """Return the number of levels of each column, 0 if it is not categorical."""
        counts = np.zeros(n_columns, dtype=np.int64)
        for column, levels in self.columns.items():
            counts[column] = len(levels)
        return counts

    def numbers(self, column: int, cells: object, name: str) -> NDArray[np.float64]:
        """Return the level number of each cell, NaN for missing and unknown ones."""
        return Categories(self.columns[column]).numbers(cells, name)

    def values(self, column: int, numbers: NDArray[np.floating]) -> NDArray[Any]:
        """Return the levels of level numbers, None for NaN."""
        return Categories(self.columns[column]).values(numbers)

    def of(self, columns: Iterable[int]) -> Levels:
        pairs = list(enumerate(columns))
        return Levels(
            {new: self.columns[old] for new, old in pairs if old in self.columns},
            {new: self.kinds[old] for new, old in pairs if old in self.kinds},
        )

    def sources(self, names: Sequence[str]) -> list[str]:
        """Return the name of the input column that each column is made of."""
        return [self.kinds.get(j, PLAIN).source(name) for j, name in enumerate(names)]

    def to_dict(self) -> dict[str, Any]:
        """Return the levels of each column, or its kind if it has none, as values for JSON."""
        both: dict[int, Any] = {j: to_json(kind) for j, kind in self.kinds.items()}
        both |= {j: list(levels) for j, levels in self.columns.items()}
        return {str(column): both[column] for column in sorted(both)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Levels:
        kinds = {int(j): kind for j, kind in content.items() if not isinstance(kind, list)}
        columns = {int(j): tuple(v) for j, v in content.items() if isinstance(v, list)}
        for column, levels in columns.items():
            if column < 0 or list(levels) != sorted(set(levels)):
                raise ValueError(f"the levels of column {column} are not in order")
        if any(column < 0 for column in kinds):
            raise ValueError("columns have the numbers 0, 1, ...")
        return cls(columns, {column: from_json(kind) for column, kind in kinds.items()})


NO_LEVELS = Levels()
