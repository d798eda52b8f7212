"""Recognise rows of a stream that come again, by their content.

A stream has no row numbers that could be trusted: a second call of ``partial_fit`` with the same
rows, or a generator that starts over, gives them new positions. So each row is hashed. Equal rows
have equal hashes, and whatever is decided by the hash is decided alike for all copies of a row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.row_hashes import RowHasher, among
from pacboost.sources.table import Table

Hashes = NDArray[np.uint64]
Flags = NDArray[np.bool_]

REMEMBERED = 2**18
"""The hashes of so many rows are remembered; two million bytes."""


def hashes_of(table: Table, key: np.uint64) -> Hashes:
    """Hash the values of every row, keyed; -0 equals 0, and all missing values are equal.

    >>> from pacboost.sources.arrays import ArrayTable
    >>> found = hashes_of(ArrayTable(np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]])), np.uint64(7))
    >>> bool(found[0] == found[1]), bool(found[0] == found[2])
    (True, False)
    """
    return RowHasher(int(key), np.ones(table.n_columns)).exact(table)


class Arrivals:
    """The rows of a stream that came so far, and whether one of them came again.

    >>> arrivals = Arrivals(np.uint64(0))
    >>> arrivals.first_time(np.array([3, 5], dtype=np.uint64)).tolist()
    [True, True]
    >>> arrivals.first_time(np.array([8, 5, 9], dtype=np.uint64)).tolist()
    [True, False, False]
    """

    def __init__(self, key: np.uint64) -> None:
        self.key = key
        self.repeated = False
        """Whether a row came again. From then on nothing counts as a first arrival."""
        self.known: Hashes = np.empty(0, dtype=np.uint64)
        """The hashes that are remembered, sorted."""

    @property
    def full(self) -> bool:
        """Whether later rows were not remembered, so that copies of theirs are not recognised."""
        return self.known.size >= REMEMBERED

    def first_time(self, hashes: Hashes, others: Hashes | None = None) -> Flags:
        """Tell which rows came before any row came again; ``others`` are known besides."""
        if self.repeated:
            return np.zeros(hashes.size, dtype=np.bool_)
        again = among(hashes, self.known)
        if others is not None:
            again |= among(hashes, np.sort(others))
        again[_later_copies(hashes)] = True
        first = int(again.argmax()) if again.any() else hashes.size
        self.repeated = first < hashes.size
        self._remember(hashes[:first])
        return np.asarray(np.arange(hashes.size) < first)

    def _remember(self, hashes: Hashes) -> None:
        more = np.sort(hashes[: max(0, REMEMBERED - self.known.size)])
        self.known = np.insert(self.known, np.searchsorted(self.known, more), more)


def _later_copies(hashes: Hashes) -> NDArray[np.intp]:
    """Give the places of rows that have an equal one before them."""
    order = np.argsort(hashes, kind="stable")
    equal = hashes[order[1:]] == hashes[order[:-1]]
    return np.asarray(order[1:][equal], dtype=np.intp)
