"""Codes of a sparse table: the cells of each column whose code differs from that of 0.

They take five bytes each (six where codes have two bytes), and a few bytes for each column: never
rows times columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacboost.kernels.native import native
from pacboost.samples.bins import Bins, Codes, upper_cuts
from pacboost.sources.table import Entries, Places, picked

MAX_CELLS_PER_BLOCK = 1 << 24
"""Rows that are walked down trees are made dense in blocks of at most this many codes."""


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """The rows of column j from ``starts[j]`` to ``starts[j + 1]``; all others have its default."""

    n_rows: int
    starts: Places
    rows: NDArray[np.int32]
    codes: Codes
    defaults: Codes

    @classmethod
    def from_entries(
        cls, entries: Entries, bins: Bins, columns: Places | None = None
    ) -> SparseCodes:
        """Encode the stored cells of a table, or those of some ``columns`` only."""
        thresholds = bins.thresholds
        if columns is not None:
            entries, thresholds = entries.of(columns), tuple(thresholds[j] for j in columns)
        offsets = np.cumsum([0, *map(len, thresholds)])
        cuts = upper_cuts(np.concatenate([np.empty(0, np.float32), *thresholds]))
        codes: Codes = np.empty(entries.rows.size, dtype=bins.dtype)
        defaults: Codes = np.empty(len(thresholds), dtype=bins.dtype)
        values = entries.values
        values = values if values.flags.c_contiguous else values.copy()  # a single 1 for all words
        native.encode_sparse(entries.starts, values, cuts, offsets, bins.missing, defaults, codes)
        away = codes != defaults[entries.columns]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(away)])[entries.starts]
        return cls(entries.n_rows, starts, entries.rows[away], codes[away], defaults)

    def pick(self, columns: Places) -> SparseCodes:
        starts, places = picked(self.starts, columns)
        rows, codes = self.rows[places], self.codes[places]
        return SparseCodes(self.n_rows, starts, rows, codes, self.defaults[columns])

    def column(self, number: int) -> Codes:
        dense = np.full(self.n_rows, self.defaults[number])
        stored = slice(self.starts[number], self.starts[number + 1])
        dense[self.rows[stored]] = self.codes[stored]
        return dense

    def dense(self) -> Codes:
        """Return the codes of all columns as a dense array (columns, rows)."""
        dense = self._defaults(self.n_rows)
        columns = np.repeat(np.arange(self.defaults.size), np.diff(self.starts))
        dense[columns, self.rows] = self.codes
        return dense

    def blocks(self) -> Iterator[tuple[int, Codes]]:
        """Yield blocks of rows: the number of the first row, and dense codes (columns, rows)."""
        shape = (self.n_rows, self.defaults.size)
        places = np.arange(self.rows.size)
        by_row = sparse.csc_array((places, self.rows, self.starts), shape=shape).tocsr()
        step = max(1, MAX_CELLS_PER_BLOCK // max(1, shape[1]))
        for first in range(0, self.n_rows, step):
            last = min(first + step, self.n_rows)
            dense = self._defaults(last - first)
            stored = slice(by_row.indptr[first], by_row.indptr[last])
            inside = self.rows[by_row.data[stored]] - first
            dense[by_row.indices[stored], inside] = self.codes[by_row.data[stored]]
            yield first, dense

    def _defaults(self, rows: int) -> Codes:
        dense: Codes = np.empty((self.defaults.size, rows), dtype=self.defaults.dtype)
        dense[:] = self.defaults[:, None]
        return dense
