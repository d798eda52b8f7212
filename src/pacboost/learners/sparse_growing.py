"""The search for trees and stumps on a sparse sample, by the stored cells of its columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels import layout
from pacboost.kernels.native import native
from pacboost.kernels.sparse import SparseColumns, SparseTree
from pacboost.kernels.team import team_for, together
from pacboost.learners.growing import TreeSearch
from pacboost.learners.learner import Rows
from pacboost.samples.bins import Bins
from pacboost.samples.blocks import refuse_long_codes
from pacboost.samples.sparse_codes import SparseCodes

Wholes = NDArray[np.int64]


def count_bins(bins: Bins) -> Wholes:
    """Return the number of bins of each column."""
    return np.array([thresholds.size + 1 for thresholds in bins.thresholds], dtype=np.int64)


class SparseStumps:
    """The search for the decision stump of smallest weighted error on a sparse sample."""

    def __init__(self, codes: SparseCodes, bins: Bins) -> None:
        self._columns = SparseColumns(codes.starts, codes.rows, codes.codes, codes.defaults)
        self._bins, self._missing = count_bins(bins), bins.missing

    def best_cut(self, amounts: Wholes, slack: int) -> tuple[int, int, int, int]:
        """Return the first feature and cut whose edge is within ``slack`` of the largest.

        Also return the sum of amounts above the cut minus that below it, and the missing values'.
        """
        edges, found = np.empty(self._bins.size, dtype=np.int64), np.empty(4, dtype=np.int64)
        together(
            native.find_sparse_stump, self._columns, self._bins, self._missing, amounts,
            int(amounts.sum()), slack, edges, found, at_most=team_for(self._columns.rows.size),
        )  # fmt: skip
        feature, cut, difference, missing = found.tolist()
        return feature, cut, difference, missing


class SparseTreeSearch(TreeSearch):
    """The listed cells of one sparse sample."""

    def _lay_out(self) -> NDArray[np.int64]:
        refuse_long_codes(self._bins)
        features = np.zeros((len(self._bins.thresholds), layout.FEATURE_COLUMNS), dtype=np.int64)
        features[:, layout.BINS] = count_bins(self._bins)
        features[:, layout.DEFAULT] = -1
        return features

    def _make_room(self) -> None:
        codes = self.sample.sparse
        assert codes is not None
        own_codes, defaults = (
            cells.astype(np.uint8, copy=False) for cells in (codes.codes, codes.defaults)
        )
        self._arrays = SparseTree(
            SparseColumns(codes.starts, codes.rows, own_codes, defaults), self._features,
            self._bins.missing, self._order, self._pairs, self._rules, self._leaves, self._splits,
        )  # fmt: skip

    def _grow(self, chosen: Rows | None, key: np.uint64) -> int:
        rows = self._order[: self._leaves.sizes[0]]
        rows[:] = np.arange(rows.size) if chosen is None else chosen
        leaves: int = native.grow_sparse_tree(
            team_for(self._arrays.columns.rows.size), self._arrays, self._drawn, self._deepest,
            int(key), None if self._plain else self._spans, self._interactions, self._cells,
        )  # fmt: skip
        return leaves

    def _settle(self, tree: TreeRule, chosen: Rows) -> None:
        others = np.ones(self.sample.n_rows, dtype=np.bool_)
        others[chosen] = False
        self._cells[others] = tree.cells(self.sample)[others]
