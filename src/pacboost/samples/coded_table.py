"""A table that holds codes instead of values: one byte a cell in place of four or eight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.bins import Bins, Codes
from pacboost.sources.levels import NO_LEVELS, Levels
from pacboost.sources.table import Table
from pacboost.sources.values import Values


class CodedTable(Table):
    """Rows stored as codes.

    A cell is read back as some value with the same code, so every rule on these bins gives the
    same answer as on the original value.
    """

    width = 64

    def __init__(
        self,
        codes: Codes,
        bins: Bins,
        names: tuple[str, ...] | None = None,
        levels: Levels = NO_LEVELS,
    ) -> None:
        contiguous: Any = np.ascontiguousarray(codes)  # as kernels read it
        self.codes: Codes = contiguous
        self.bins = bins
        self.n_columns, self.n_rows = codes.shape
        self.names, self.levels = names, levels

    def block(self, first: int, last: int) -> Values:
        values = np.empty((last - first, self.n_rows), dtype=np.float32)
        for j in range(first, last):
            values[j - first] = self._representatives(j)[self.codes[j]]
        return values.T

    def _representatives(self, column: int) -> NDArray[np.float32]:
        """Return a value for each code: the threshold at the end of its bin."""
        thresholds = self.bins.thresholds[column]
        values = np.full(self.bins.missing + 1, np.nan, dtype=np.float32)
        if self.bins.levels[column]:
            values[: thresholds.size + 1] = np.arange(thresholds.size + 1)
            return values
        values[: thresholds.size] = thresholds
        last = thresholds[-1] if thresholds.size else np.float32(0)
        # above the last cut, and finite, as scikit-learn's learners refuse infinity
        values[thresholds.size] = np.nextafter(last, np.float32(np.inf))
        return values

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> CodedTable:
        return CodedTable(self.codes[:, rows], self.bins, self.names, self.levels)

    @classmethod
    def join(cls, parts: Sequence[CodedTable]) -> CodedTable:
        """Put tables with the same bins one below the other."""
        first = parts[0]
        codes: Codes = np.concatenate([part.codes for part in parts], axis=1)
        return cls(codes, first.bins, first.names, first.levels)
