"""Find the decision stump of least weighted error on a sparse sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels import sparse, split
from pacboost.kernels.team import team_for, together
from pacboost.samples.bins import Bins
from pacboost.samples.sparse_codes import SparseCodes

Wholes = NDArray[np.int64]


def bins_of(bins: Bins) -> Wholes:
    """How many codes of values each column has."""
    return np.array([thresholds.size + 1 for thresholds in bins.thresholds], dtype=np.int64)


class SparseStumps:
    """The histograms of all columns, one after the other, and their best cut."""

    def __init__(self, codes: SparseCodes, bins: Bins) -> None:
        self._codes, self._bins, self._missing = codes, bins_of(bins), bins.missing

    def best_cut(self, amounts: Wholes, slack: int) -> tuple[int, int, int, int]:
        """Give the first feature and cut whose edge is within ``slack`` of the largest.

        Also the sum of amounts above the cut less the sum below it, and that of missing values.
        """
        feature, wanted = split.first_feature(self.edges(amounts), slack)
        codes, bins = self._codes, int(self._bins[feature])
        own = np.empty(self._missing + 1, dtype=np.int64)
        stored = slice(codes.starts[feature], codes.starts[feature + 1])
        default = codes.defaults[feature]
        sparse.count(
            codes.rows[stored], codes.codes[stored], amounts, amounts.sum(), default, bins,
            self._missing, own,
        )  # fmt: skip
        _, cut, difference = split.scan(own, bins, wanted)
        return feature, int(cut), int(difference), int(own[bins])

    def edges(self, amounts: Wholes) -> Wholes:
        """Give the largest edge of each feature."""
        codes, total = self._codes, amounts.sum()
        edges = np.empty(self._bins.size, dtype=np.int64)
        together(
            sparse.edges, codes.starts, codes.rows, codes.codes, codes.defaults, self._bins,
            self._missing, amounts, total, edges, at_most=team_for(codes.rows.size),
        )  # fmt: skip
        return edges
