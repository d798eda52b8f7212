"""Find rows set apart that equal rows which were learned from, or other rows set apart.

Such rows may be copies, and copies say nothing about new examples: they count as mistakes. If most
rows set apart are like that, and the source was not copied as a whole (samples/content_sample.py),
the domain is discrete, new rows repeat as well, and equal rows count as separate draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels import hashing
from pacboost.samples.row_hashes import Hashes, RowHasher, among
from pacboost.samples.sketch import row_hashes
from pacboost.sources.table import Table

MOST_EQUAL = 2 / 3
"""If more of the rows set apart repeat, the domain is discrete."""

FIRST_COLUMNS = 4
"""Rows are compared by so many columns first, which is enough for nearly all."""

Flags = NDArray[np.bool_]


class KnownRows:
    """Which of some rows equal a row that was learned from, or an earlier one of these rows.

    >>> from pacboost.sources.arrays import ArrayTable
    >>> known = KnownRows([ArrayTable(np.array([[1.0], [2.0], [2.0], [3.0], [4.0]]))])
    >>> known.learn(ArrayTable(np.array([[3.0], [7.0]])))
    >>> known.mistakes.tolist(), known.discrete
    ([False, False, True, True, False], False)
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        own = [table for table in tables if table.n_rows]
        self._hashes = _joined([row_hashes(table) for table in own])
        self._first = np.unique(_joined([_first_hashes(table) for table in own]))
        self.equal = np.ones(self._hashes.size, dtype=np.bool_)
        """Which rows equal others."""
        self.equal[np.unique(self._hashes, return_index=True)[1]] = False

    def learn(self, table: Table) -> None:
        """Note rows that are learned from."""
        self.note(self.read(table))

    def read(self, table: Table, *, compiled: bool = False) -> Hashes:
        """Hash rows that may equal one of these, for ``note``; this changes nothing.

        Of rows whose first columns differ from those of all rows here, the others do not matter.
        ``compiled`` is what ``RowHasher`` says of it.
        """
        if not (self._hashes.size and table.n_rows):
            return np.empty(0, dtype=np.uint64)
        first = _first_hashes(table, compiled=compiled)
        if compiled:
            found = np.empty(first.size, dtype=np.int64)
            alike = found[: hashing.find_known(first, self._first, found)]
        else:
            alike = np.flatnonzero(among(first, self._first))
        return row_hashes(table, alike) if alike.size else np.empty(0, dtype=np.uint64)

    def note(self, hashes: Hashes) -> None:
        """Note rows that were read and are learned from."""
        if hashes.size:
            self.equal |= among(self._hashes, np.sort(hashes))

    @property
    def discrete(self) -> bool:
        """Whether so many rows repeat that equal rows are taken as separate draws."""
        return bool(np.count_nonzero(self.equal) > MOST_EQUAL * self.equal.size)

    @property
    def mistakes(self) -> Flags:
        """Which rows count as mistakes, whatever the vote says of them."""
        return np.zeros_like(self.equal) if self.discrete else self.equal


def _first_hashes(table: Table, *, compiled: bool = False) -> Hashes:
    """Hash the first columns of every row."""
    columns = range(min(FIRST_COLUMNS, table.n_columns))
    return _hasher(table.n_columns).exact(table, None, columns, compiled=compiled)


@lru_cache(maxsize=8)
def _hasher(columns: int) -> RowHasher:
    """Give a hasher without a salt; its factors are drawn once."""
    return RowHasher(0, np.ones(columns))


def _joined(parts: list[Hashes]) -> Hashes:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint64)
