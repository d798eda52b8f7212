"""Build a sketch of training rows that arrive in batches, as in boosting by filtering."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.overlap import ValueCounts
from pacboost.samples.row_hashes import Hashes, RowHasher
from pacboost.samples.sketch import HASH_RANGE, MAX_ROWS_KEPT, Sketch, short
from pacboost.sources.table import Table

MAX_COLUMNS_TO_CHOOSE_BY = 64
"""Rows of wider tables are selected by this many of their columns."""


class Gathering:
    """Hashes of training rows; whenever there are too many, the share to keep is halved."""

    def __init__(self) -> None:
        self._hasher: RowHasher | None = None
        self._columns: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._share = 1.0
        self._parts: list[NDArray[np.uint64]] = []
        self._size = 0
        self.complete = True
        """Whether all training rows have been added."""

    def add(self, table: Table, rows: NDArray[np.uint64]) -> None:
        """Add rows; ``rows`` holds an identifier of each, so that none is counted twice."""
        if table.n_rows == 0:
            return
        if self._hasher is None:
            self._hasher = RowHasher.for_table(table)
            count = min(table.n_columns, MAX_COLUMNS_TO_CHOOSE_BY)
            self._columns = np.unique(np.linspace(0, table.n_columns - 1, count).astype(np.int64))
        self.note([self.read(table, rows)])

    @property
    def started(self) -> bool:
        """Whether rows can be hashed: the first rows give the salt."""
        return self._hasher is not None

    def read(self, table: Table, rows: NDArray[np.uint64]) -> Hashes:
        """Hash the rows to keep, for ``note``; this object is unchanged."""
        hasher = self._hasher
        if hasher is None:
            raise ValueError("no rows have been added, so there is no salt; call add first")
        every = self._columns.size == table.n_columns
        columns = None if every else self._columns.tolist()
        first = hasher.hashes(table, None, columns)
        chosen = np.flatnonzero(first < self._limit)
        whole = first[chosen] if every else hasher.hashes(table, chosen)
        exact = hasher.hashes(table, chosen, exact=True)
        return np.stack([first[chosen], whole, rows[chosen], exact])

    def empty(self) -> Gathering:
        other = copy(self)
        other._parts, other._size = [], 0
        return other

    def note(self, batches: Sequence[Hashes]) -> None:
        """Add rows hashed by ``read``, possibly while the share to keep was larger."""
        for batch in batches:
            chosen = batch[:, batch[0] < self._limit]
            self._parts.append(chosen)
            self._size += chosen.shape[1]
        while self._size > 2 * MAX_ROWS_KEPT and self._distinct() > MAX_ROWS_KEPT:
            self._share /= 2
            joined = self._joined()
            self._parts = [joined[:, joined[0] < self._limit]]
            self._size = int(self._parts[0].shape[1])

    def sketch(self) -> Sketch | None:
        """Return the sketch of all rows so far, None if there are none."""
        if self._hasher is None:
            return None
        self._distinct()
        _, whole, _, exact = self._joined()
        kept = ValueCounts.of(short(whole))
        exact_hashes = np.unique(short(exact))
        return Sketch(
            self._hasher, self._share, self._columns, kept, exact_hashes, self.complete,
            filtered=True,
        )  # fmt: skip

    @property
    def _limit(self) -> np.uint64:
        return np.uint64(self._share * HASH_RANGE)

    def _joined(self) -> Hashes:
        return np.concatenate(self._parts, axis=1)

    def _distinct(self) -> int:
        """Drop rows that were added twice, and return the number of distinct ones."""
        joined = self._joined()
        _, first = np.unique(joined[2], return_index=True)
        self._parts, self._size = [joined[:, first]], int(first.size)
        return self._size
