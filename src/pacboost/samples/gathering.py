"""A sketch of rows that come in batches, as boosting by filtering learns from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.coarse_codes import CoarseCodes
from pacboost.samples.row_hashes import Hashes, RowHasher
from pacboost.samples.sketch import MOST_CODES, MOST_KEPT, WHOLE, HashCounts, Sketch, coarse_codes
from pacboost.sources.table import Table

MOST_COLUMNS = 64
"""Rows of wider tables are selected by so many of their columns."""


class Gathering:
    """Hashes of rows that were learned from; the share that is kept is halved as they get many."""

    def __init__(self) -> None:
        self._hasher: RowHasher | None = None
        self._codes, self._fine = CoarseCodes.by(()), False
        self._columns: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._share = 1.0
        self._parts: list[NDArray[np.uint64]] = []
        self._size = 0
        self.complete = True
        """Whether all rows that were learned from have been added."""

    def add(self, table: Table, rows: NDArray[np.uint64]) -> None:
        """Take note of rows; ``rows`` identifies each, so that none is counted twice."""
        if table.n_rows == 0:
            return
        if self._hasher is None:
            self._hasher = RowHasher.of(table)
            count = min(table.n_columns, MOST_COLUMNS)
            self._columns = np.unique(np.linspace(0, table.n_columns - 1, count).astype(np.int64))
            some = np.linspace(0, table.n_rows - 1, min(table.n_rows, MOST_KEPT)).astype(np.intp)
            self._codes, _, self._fine = coarse_codes(table, self._hasher, some)
        self.note([self.read(table, rows)])

    @property
    def started(self) -> bool:
        """Whether rows can be read: the first ones that are added say how all are hashed."""
        return self._hasher is not None

    def read(self, table: Table, rows: NDArray[np.uint64], *, compiled: bool = False) -> Hashes:
        """Hash rows that may be kept, for ``note``; this changes nothing.

        ``compiled`` is what ``RowHasher`` says of it.
        """
        hasher = self._hasher
        if hasher is None:
            raise ValueError("rows are hashed by what the first ones that are added look like")
        every = self._columns.size == table.n_columns
        columns = None if every else self._columns.tolist()
        first = hasher.near(table, None, columns, compiled=compiled)
        chosen = np.flatnonzero(first < self._limit)
        exact = hasher.exact(table, chosen, compiled=compiled)
        near = first[chosen] if every else hasher.near(table, chosen, compiled=compiled)
        coarse = self._codes.hashes(table, chosen, hasher.salt)
        return np.stack([first[chosen], exact, near, rows[chosen], coarse])

    def empty(self) -> Gathering:
        """Return one that reads rows as this one does, and has taken note of none."""
        other = Gathering()
        other._hasher, other._columns, other._share = self._hasher, self._columns, self._share
        other._codes, other._fine = self._codes, self._fine
        return other

    def note(self, read: Sequence[Hashes]) -> None:
        """Take note of rows that were read, perhaps when a larger share of them was kept."""
        for own in read:
            kept = own[:, own[0] < self._limit]
            self._parts.append(kept)
            self._size += kept.shape[1]
        while self._size > 2 * MOST_KEPT and self._distinct() > MOST_KEPT:
            self._share /= 2
            joined = self._joined()
            self._parts = [joined[:, joined[0] < self._limit]]
            self._size = int(self._parts[0].shape[1])

    def sketch(self) -> Sketch | None:
        """Return the sketch of all rows so far; None if there were none."""
        if self._hasher is None:
            return None
        self._distinct()
        _, exact, near, _, coarse = self._joined()
        exact, near, coarse = map(
            HashCounts.of, (exact, near, coarse[:: max(1, -(-coarse.size // MOST_CODES))])
        )
        return Sketch(
            self._hasher, self._share, self._columns, exact, near, self._codes, coarse, self._fine,
            self.complete, weighted=True,
        )  # fmt: skip

    @property
    def _limit(self) -> np.uint64:
        return np.uint64(self._share * WHOLE)

    def _joined(self) -> Hashes:
        return np.concatenate(self._parts, axis=1)

    def _distinct(self) -> int:
        """Drop rows that were learned from before, and count what is left."""
        joined = self._joined()
        _, first = np.unique(joined[3], return_index=True)
        self._parts, self._size = [joined[:, first]], int(first.size)
        return self._size
