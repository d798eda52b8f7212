"""Codes of a sparse table: those of its columns' rows that are away from the code of 0.

Five bytes for each (six where codes have two bytes), and a few for each column: never rows times
columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacboost.kernels import sparse as kernels
from pacboost.samples.bins import Bins, Codes, upper_cuts
from pacboost.sources.table import Entries, Places, picked

CELLS_AT_ONCE = 1 << 24
"""So many codes are opened up at once, where rows are walked down trees."""


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """The rows of column j from ``starts[j]`` to ``starts[j + 1]``; all others have its default."""

    n_rows: int
    starts: Places
    rows: NDArray[np.int32]
    codes: Codes
    defaults: Codes
    """The code of 0 in each column."""

    @classmethod
    def of(cls, entries: Entries, bins: Bins, columns: Places | None = None) -> SparseCodes:
        """Encode what a table stores, or its ``columns`` of these numbers.

        >>> entries = Entries(3, np.array([0, 2]), np.int32([0, 2]), np.array([-1.0, np.nan]))
        >>> bins = Bins((np.array([-0.5], dtype=np.float32),), np.array([1]))
        >>> codes = SparseCodes.of(entries, bins)
        >>> codes.column(0).tolist(), codes.defaults.tolist()
        ([0, 1, 2], [1])
        """
        own = bins.thresholds
        if columns is not None:
            entries, own = entries.of(columns), tuple(own[j] for j in columns)
        offsets = np.cumsum([0, *map(len, own)])
        cuts = upper_cuts(np.concatenate([np.empty(0, np.float32), *own]))
        codes: Codes = np.empty(entries.rows.size, dtype=bins.dtype)
        defaults: Codes = np.empty(len(own), dtype=bins.dtype)
        values = entries.values
        values = values if values.flags.c_contiguous else values.copy()  # a single 1 for all words
        kernels.encode(entries.starts, values, cuts, offsets, bins.missing, defaults, codes)
        away = codes != defaults[entries.columns]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(away)])[entries.starts]
        return cls(entries.n_rows, starts, entries.rows[away], codes[away], defaults)

    def pick(self, columns: Places) -> SparseCodes:
        """Return some of the columns."""
        starts, places = picked(self.starts, columns)
        rows, codes = self.rows[places], self.codes[places]
        return SparseCodes(self.n_rows, starts, rows, codes, self.defaults[columns])

    def column(self, number: int) -> Codes:
        """Open up one column."""
        dense = np.full(self.n_rows, self.defaults[number])
        own = slice(self.starts[number], self.starts[number + 1])
        dense[self.rows[own]] = self.codes[own]
        return dense

    def dense(self) -> Codes:
        """Open up all columns: (columns, rows)."""
        dense = self._defaults(self.n_rows)
        columns = np.repeat(np.arange(self.defaults.size), np.diff(self.starts))
        dense[columns, self.rows] = self.codes
        return dense

    def blocks(self) -> Iterator[tuple[int, Codes]]:
        """Open up some rows at a time: the number of the first, and codes (columns, rows)."""
        shape = (self.n_rows, self.defaults.size)
        places = np.arange(self.rows.size)
        by_row = sparse.csc_array((places, self.rows, self.starts), shape=shape).tocsr()
        step = max(1, CELLS_AT_ONCE // max(1, shape[1]))
        for first in range(0, self.n_rows, step):
            last = min(first + step, self.n_rows)
            dense = self._defaults(last - first)
            own = slice(by_row.indptr[first], by_row.indptr[last])
            inside = self.rows[by_row.data[own]] - first
            dense[by_row.indices[own], inside] = self.codes[by_row.data[own]]
            yield first, dense

    def _defaults(self, rows: int) -> Codes:
        """Return so many rows that have all defaults."""
        dense: Codes = np.empty((self.defaults.size, rows), dtype=self.defaults.dtype)
        dense[:] = self.defaults[:, None]
        return dense
