"""A sample of the rows of a large source in which every copy of a chosen row is chosen as well.

Whether rows were copied shows in how often they come (samples/copies.py), and a random sample does
not tell that: it holds one copy of a row and not the other. So rows are chosen by their content. A
weighted sum of some columns, rounded, is hashed, and rows with small hashes are chosen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacboost.samples.hidden_copies import hidden_copies
from pacboost.samples.row_hashes import Hashes, mixed
from pacboost.sources.oracles.held import Held, HeldSparse
from pacboost.sources.sparse import SparseTable
from pacboost.sources.table import Table

CHOSEN, LEAST_CHOSEN = 8192, 1024
"""About so many rows are chosen, fewer if they are long; all rows, if there are no more."""
CELLS = 2**24
"""About so many cells the chosen rows may have, unless the least number of rows has more."""
MOST_HALVINGS = 40
MOST_COLUMNS = 8
"""Rows are chosen by at most so many columns, those with the most distinct values."""
ENOUGH = 0.9
"""A column in which such a share of the rows has distinct values tells rows apart by itself."""
ROWS_LOOKED_AT = 4096
STEP = 2.0**-16
"""Sums are rounded to this part of their spread, so that tiny changes of a copy do not matter."""

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


class ContentSample:
    """Rows of a source that are chosen by their content, block by block.

    >>> from pacboost.sources.oracles.held import HeldArray
    >>> rows = np.random.default_rng(0).random((50_000, 2))
    >>> sample = ContentSample(2 * len(rows))
    >>> for block in (rows, rows[::-1]):
    ...     held = HeldArray(block, np.zeros(len(block)))
    ...     sample.keep(held.table(np.arange(len(block))))
    >>> "come exactly 2 times" in sample.copies()
    True
    """

    def __init__(self, about_rows: int, n_columns: int = 1) -> None:
        self._most = rows_chosen(n_columns)
        self._share = min(1.0, self._most / max(1, about_rows))
        self._weights: dict[int, float] = {}
        self._step = 0.0
        self._tables: list[Table] = []
        self._answer: str | None = None
        self.n_rows = 0
        """How many rows are kept."""

    def choose(self, rows: Held | Table) -> Flags:
        """Tell which rows are chosen."""
        if self._share == 1:
            return np.ones(rows.n_rows, dtype=np.bool_)
        sums = self._sums(rows)
        if not self._step:
            self._step = STEP * (float(sums.std()) or 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            cells = np.clip(np.rint(sums / self._step), -(2.0**60), 2.0**60)
        hashes: Hashes = mixed(cells.astype(np.int64).view(np.uint64))
        return np.asarray(hashes < np.uint64(self._share * (2.0**64 - 2.0**12)))

    def go_by(self, other: ContentSample) -> None:
        """Choose by the columns by which another sample chose from the first block."""
        self._weights, self._step = other._weights, other._step

    def keep(self, table: Table) -> None:
        """Keep the rows that are chosen; if they turn out to be too many, a half by content."""
        self._tables.append(table.take(np.flatnonzero(self.choose(table))))
        self.n_rows += self._tables[-1].n_rows
        for _ in range(MOST_HALVINGS if self.n_rows > 2 * self._most else 0):
            self._share /= 2
            self._tables = [own.take(np.flatnonzero(self.choose(own))) for own in self._tables]
            self.n_rows = sum(own.n_rows for own in self._tables)
            if self.n_rows <= 2 * self._most:
                return

    def copies(self) -> str:
        """Say that rows were copied, if that is sure; the rows are let go after the answer."""
        if self._answer is None:
            tables = [table for table in self._tables if table.n_rows]
            dense = not any(isinstance(table, SparseTable) for table in tables)
            self._answer = hidden_copies(tables if dense else joined(tables)) if tables else ""
            self._tables = []
        return self._answer

    def _sums(self, rows: Held | Table) -> Floats:
        if isinstance(rows, HeldSparse | SparseTable):
            weights = np.random.default_rng(0).uniform(1, 2, size=rows.n_columns)
            return np.asarray(rows.matrix @ weights)
        if not self._weights:
            self._weights = _weights(rows)
        total = np.zeros(rows.n_rows)
        for j, weight in self._weights.items():
            values = _column(rows, j)
            total += weight * np.where(np.isfinite(values), values, 0.0)
        return total


def rows_chosen(n_columns: int) -> int:
    """How many rows of so many columns are chosen.

    >>> rows_chosen(10), rows_chosen(4096), rows_chosen(10**6)
    (8192, 4096, 1024)
    """
    return min(CHOSEN, max(LEAST_CHOSEN, CELLS // max(1, n_columns)))


def joined(tables: list[Table]) -> NDArray[np.floating] | sparse.csc_array:
    """Put tables one below the other; sparse ones stay sparse."""
    stored = [table.matrix for table in tables if isinstance(table, SparseTable)]
    if stored:
        return sparse.csc_array(sparse.vstack(stored))
    return np.concatenate([table.rows() for table in tables])


def _weights(rows: Held | Table) -> dict[int, float]:
    """Weigh columns that tell rows apart: one if that is enough, else several, by their spread."""
    some = min(rows.n_rows, ROWS_LOOKED_AT)
    distinct, spread = np.zeros(rows.n_columns, dtype=np.int64), np.ones(rows.n_columns)
    for j in range(rows.n_columns):
        values = _column(rows, j, some)
        values = values[np.isfinite(values)]
        distinct[j] = np.unique(values).size
        spread[j] = (float(values.std()) if values.size else 0.0) or 1.0
    best = np.argsort(-distinct, kind="stable")
    best = best[: 1 if distinct[best[0]] >= ENOUGH * some else MOST_COLUMNS]
    factors = np.random.default_rng(0).uniform(1, 2, size=best.size)
    return {int(j): float(w / spread[j]) for j, w in zip(best, factors, strict=True)}


def _column(rows: Held | Table, column: int, most: int | None = None) -> Floats:
    """Give the values of a column, or so many of them at most."""
    values = rows.column(column) if isinstance(rows, Held) else rows.block(column, column + 1)[:, 0]
    return np.asarray(values[:most], dtype=np.float64)
