"""The search for trees and stumps on a sparse sample, by the stored cells of its columns."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels import grow, layout, routing, sparse, sparse_grow, split, stumps
from pacboost.kernels.runtime.team import team_for, together
from pacboost.kernels.sparse_grow import Runs, SparseColumns, SparseLeaf
from pacboost.kernels.split import LOW
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
        self._codes, self._bins, self._missing = codes, count_bins(bins), bins.missing

    def best_cut(self, amounts: Wholes, slack: int) -> tuple[int, int, int, int]:
        """Return the first feature and cut whose edge is within ``slack`` of the largest.

        Also return the sum of amounts above the cut minus that below it, and the missing values'.
        """
        feature, edge = stumps.first_feature(self.edges(amounts), slack)
        codes, bins = self._codes, int(self._bins[feature])
        histogram = np.empty(self._missing + 1, dtype=np.int64)
        stored = slice(codes.starts[feature], codes.starts[feature + 1])
        default = codes.defaults[feature]
        sparse.count(
            codes.rows[stored], codes.codes[stored], amounts, amounts.sum(), default, bins,
            self._missing, histogram,
        )  # fmt: skip
        _, cut, difference = stumps.scan(histogram, bins, edge)
        return feature, int(cut), int(difference), int(histogram[bins])

    def edges(self, amounts: Wholes) -> Wholes:
        codes, total = self._codes, amounts.sum()
        edges = np.empty(self._bins.size, dtype=np.int64)
        together(
            sparse.edges, codes.starts, codes.rows, codes.codes, codes.defaults, self._bins,
            self._missing, amounts, total, edges, at_most=team_for(codes.rows.size),
        )  # fmt: skip
        return edges


class SparseTreeSearch(TreeSearch):
    """Runs and row order of one sparse sample.

    One side of a split holds only rows that its column lists, and needs a minimum weight: a column
    that lists few rows of a leaf cannot split it. Runs shorter than half of that are dropped. If a
    leaf further down allows shorter ones, its rows are listed anew, so the trees are unaffected.
    """

    def _lay_out(self) -> NDArray[np.int64]:
        refuse_long_codes(self._bins)
        features = np.zeros((len(self._bins.thresholds), layout.FEATURE_COLUMNS), dtype=np.int64)
        features[:, layout.BINS] = count_bins(self._bins)
        features[:, layout.DEFAULT] = -1
        return features

    def _make_room(self) -> None:
        assert self.sample.sparse is not None
        self._codes = self.sample.sparse
        self._defaults = self._codes.defaults.astype(np.uint8)
        self._columns = SparseColumns(
            self._features, self._defaults, self._bins.missing, self._pairs, self._rules
        )
        self._goes_left = np.zeros(self._order.size, dtype=np.uint8)
        self._allowed = np.ones(len(self._features), dtype=np.uint8)
        self._deck = np.zeros(len(self._features), dtype=np.int64)
        self._totals = np.zeros((self._max_leaves, self._lines), dtype=np.int64)
        self._heaviest = np.zeros(self._max_leaves, dtype=np.int64)
        self._shortest = np.zeros(self._max_leaves, dtype=np.int64)
        """The length from which on runs of each leaf are not dropped."""
        self._leaves.slots[:] = np.arange(self._max_leaves)  # a leaf's totals stay where they are
        self._runs: dict[int, Runs] = {}

    def _grow(self, chosen: Rows | None, key: np.uint64) -> int:
        rows = self._order[: self._leaves.sizes[0]]
        rows[:] = np.arange(rows.size) if chosen is None else chosen
        self._begin(rows)
        self._look(0, key)
        leaves = 1
        while leaves < self._max_leaves:
            leaf = grow.next_leaf(self._leaves.gains, leaves)
            if leaf < 0:
                break
            self._split(leaf, leaves, key)
            leaves += 1
        starts, sizes = self._leaves.starts[:leaves], self._leaves.sizes[:leaves]
        routing.label(self._order, starts, sizes, 0, self._order.size, self._cells)
        return leaves

    def _begin(self, rows: NDArray[np.uint32]) -> None:
        self._goes_left[rows] = 1
        self._part(rows, 0, 1)
        self._runs.clear()
        self._shortest[0] = rows.size + 1  # nothing is listed yet

    def _part(self, rows: NDArray[np.uint32], leaf: int, new: int) -> int:
        """Sort rows by side, weigh the sides, and return how many went left."""
        totals, heaviest = np.zeros((2, self._lines), np.int64), np.zeros(2, np.int64)
        n_left = sparse_grow.part(self._goes_left, rows, self._pairs, totals, heaviest)
        self._totals[[leaf, new]], self._heaviest[[leaf, new]] = totals, heaviest
        return int(n_left)

    def _list(self, leaf: int, shortest: int) -> None:
        """List the rows of a leaf for all columns that have at least ``shortest`` of them."""
        starts, rows, codes = self._codes.starts, self._codes.rows, self._codes.codes
        begin, size = self._leaves.starts[leaf], self._leaves.sizes[leaf]
        if size < self.sample.n_rows:
            self._goes_left[:] = 0
            self._goes_left[self._order[begin : begin + size]] = 1
            inside = self._goes_left[rows] != 0
            starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(inside)])[starts]
            rows, codes = rows[inside], codes[inside]
        begins, ends, columns = starts[:-1], starts[1:], np.arange(len(self._features))
        runs = Runs(columns, begins, ends, rows.copy(), codes.astype(np.uint8))
        self._runs[leaf] = runs.within(begins, ends, shortest)
        self._shortest[leaf] = shortest

    def _look(self, leaf: int, key: np.uint64) -> None:
        self._leaves.gains[leaf] = 0.0
        rules, totals, heaviest = self._rules, self._totals[leaf], int(self._heaviest[leaf])
        weight = float(totals[0] & LOW)
        weight_of_rows = rules[layout.LEAST_ROWS] * weight / self._leaves.sizes[leaf]
        min_weight = float(max(rules[layout.LEAST_WEIGHT], weight_of_rows, 1.0))
        if weight < 2 * min_weight:
            return
        min_rows = math.ceil(min_weight / heaviest * (1 - 1e-9))  # rows; rounding does no harm
        if min_rows < self._shortest[leaf]:
            self._list(leaf, max(1, min_rows // 2))
        runs = self._runs[leaf]
        if self._interactions is not None:
            grow.draw_open(self._allowed, self._deck, self._drawn, key, self._interactions, leaf)
        elif self._drawn < len(self._features):
            grow.draw_features(self._allowed, self._deck, self._drawn, key)
        pulls = (totals >> 32).astype(np.float64)
        kind, penalty = int(rules[layout.CRITERION]), float(rules[layout.PENALTY])
        before = split.worth(kind, pulls, weight, penalty)
        min_worth = before + split.NOISE * abs(before)
        span = None if self._plain else self._spans[leaf]
        starts = runs.starts()
        after = np.full(team_for(int(starts[-1])), min_worth)
        best = np.zeros((after.size, 3), dtype=np.int64)
        sparse_leaf = SparseLeaf(totals, heaviest, min_weight, min_worth, self._allowed)
        arguments = starts, runs, self._columns, sparse_leaf, span, after, best
        together(sparse_grow.look, *arguments, at_most=after.size)
        first = int(after.argmax())  # the first one of equal splits
        if after[first] > min_worth:
            self._leaves.gains[leaf], self._leaves.best[leaf] = after[first] - before, best[first]

    def _split(self, leaf: int, new: int, key: np.uint64) -> None:
        grow.record(self._features, self._leaves, self._splits, leaf, new)
        if self._interactions is not None:
            feature = self._leaves.best[leaf, layout.FEATURE]
            grow.hand_down(self._interactions, feature, leaf, new)
        start, size = self._leaves.starts[leaf], self._leaves.sizes[leaf]
        rows = self._order[start : start + size]
        self._choose_sides(leaf, rows)
        n_left = self._part(rows, leaf, new)
        self._leaves.starts[new], self._leaves.sizes[new] = start + n_left, size - n_left
        self._leaves.sizes[leaf] = n_left
        if new + 1 == self._max_leaves or self._leaves.depths[leaf] >= self._deepest:
            self._leaves.gains[leaf] = self._leaves.gains[new] = 0.0
            return
        self._divide(leaf, new)
        if not self._plain:
            totals = self._totals[:, :, None, None]
            grow.narrow(totals, self._features, self._leaves, self._spans, leaf, new)
        for k, part in enumerate((leaf, new)):
            self._look(part, key + np.uint64(2 * new + k))

    def _choose_sides(self, leaf: int, rows: NDArray[np.uint32]) -> None:
        feature, cut, missing_left = self._leaves.best[leaf]
        self._goes_left[rows] = self._defaults[feature] <= cut
        runs = self._runs[leaf]
        place = np.searchsorted(runs.columns, feature)
        listed = slice(runs.begins[place], runs.ends[place])
        codes = runs.codes[listed]
        sides = np.where(codes == self._bins.missing, missing_left, codes <= cut)
        self._goes_left[runs.rows[listed]] = sides

    def _divide(self, leaf: int, new: int) -> None:
        runs, shortest = self._runs[leaf], int(self._shortest[leaf])
        starts, middles = runs.starts(), np.empty_like(runs.begins)
        arguments = starts, runs, self._goes_left, middles
        together(sparse_grow.divide, *arguments, at_most=team_for(int(starts[-1])))
        self._runs[leaf] = runs.within(runs.begins, middles, shortest)
        self._runs[new] = runs.within(middles, runs.ends, shortest)
        self._shortest[new] = shortest

    def _settle(self, tree: TreeRule, chosen: Rows) -> None:
        others = np.ones(self.sample.n_rows, dtype=np.bool_)
        others[chosen] = False
        self._cells[others] = tree.cells(self.sample)[others]
