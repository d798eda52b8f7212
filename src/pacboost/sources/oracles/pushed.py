"""An oracle that has what it was given: for those who bring their examples batch by batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.oracle import STREAM, AbstractOracle, Batch
from pacboost.sources.table import Table


class PushedOracle(AbstractOracle):
    """Rows come in the order in which they were pushed, once.

    >>> oracle = PushedOracle(n_columns=1)
    >>> oracle.push(ArrayTable(np.array([[1.0], [2.0]])), np.array(["a", "b"]))
    >>> oracle.draw(5).labels.tolist(), oracle.draw(5).n_rows
    (['a', 'b'], 0)
    """

    order = STREAM

    def __init__(self, n_columns: int, names: tuple[str, ...] | None = None) -> None:
        self.n_columns, self.names = n_columns, names
        self._waiting: list[Batch] = []
        self._count = 0

    def push(self, table: Table, labels: NDArray[Any]) -> None:
        """Bring examples."""
        rows = np.arange(self._count, self._count + table.n_rows, dtype=np.uint64)
        self._waiting.append(Batch(table, labels, rows, 0))
        self._count += table.n_rows

    def draw(self, n: int) -> Batch:
        """Give the oldest batch whole, or nothing."""
        if self._waiting:
            return self._waiting.pop(0)
        nothing = ArrayTable(np.empty((0, self.n_columns)), self.names)
        return Batch(nothing, np.empty(0), np.empty(0, dtype=np.uint64), 0)

    def position(self) -> dict[str, Any]:
        """Say how many rows have come."""
        return {"count": self._count}

    def seek(self, position: Mapping[str, Any]) -> None:
        """Refuse: what came is gone."""
        raise ParameterError("a stream that was brought batch by batch cannot be asked again")

    def fingerprint(self) -> str:
        """Nothing is known of what will come."""
        return "pushed"

    def place(self, row: int) -> str:
        """Count the rows that came."""
        return f"row {row} of all that came"
