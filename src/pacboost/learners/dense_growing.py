"""The search for trees on dense samples: histograms of all features, by words of codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels import best_split, grow, plain_split, routing
from pacboost.kernels.threads import each_rows
from pacboost.learners.growing import TreeSearch
from pacboost.learners.learner import Rows
from pacboost.samples.blocks import lay_out

ROWS_WORTH_THREADS = 65_536


class DenseTreeSearch(TreeSearch):
    """Words of codes, and histograms of every leaf."""

    def _lay_out(self) -> NDArray[np.int64]:
        """Write the codes into words; give what samples/blocks.py says of each feature."""
        self._blocks = lay_out(self.sample.table, self._bins)
        return self._blocks.features

    def _make_room(self) -> None:
        """Reserve what is used for every tree."""
        lanes = 8 * self._blocks.words.shape[0]
        # Histograms 2**k wide would fall onto the same cache lines (measured: up to twice slower).
        width = self._bins.missing + 9
        if self._blocks.lanes < len(self._features):
            width = 264  # shared lanes have codes of several features
        self._histogram = np.zeros((self._leaves, self._lines, lanes, width), dtype=np.int64)
        self._spare = np.empty(self._order.size, dtype=np.uint32)
        self._allowed = np.ones((self._leaves, len(self._features)), dtype=np.uint8)

    def _begin(self, rows: NDArray[np.uint32]) -> None:
        """Count the rows of the root."""
        self._histogram[0] = 0
        self._count(rows, self._histogram[0])

    def _grow_on(self, leaves: int, key: np.uint64) -> int:
        """Split leaves as long as they are too small for threads; give the number of leaves."""
        blocks = self._blocks
        return grow.grow_on(
            blocks.words, blocks.lanes, self._order, self._spare, self._pairs, self._histogram,
            self._features, self._allowed, self._drawn, key, self._bins.missing, self._rules,
            self._starts, self._sizes, self._slots, None if self._plain else self._spans,
            self._best, self._members,
            self._gains, self._splits, self._split_members, self._split_gains, self._hangs,
            self._depths, self._deepest, ROWS_WORTH_THREADS, leaves,
        )  # fmt: skip

    def _count(self, rows: NDArray[np.uint32], into: NDArray[np.int64]) -> None:
        blocks, others = self._blocks, list[NDArray[np.int64]]()

        def task(start: int, stop: int) -> None:
            own = into
            if start > 0:  # another thread's share: counted apart, added below
                own = np.zeros_like(into)
                others.append(own)
            grow.count(blocks.words, blocks.lanes, rows[start:stop], self._pairs, own)

        each_rows(task, rows.size)
        for other in others:
            into += other

    def _look(self, leaf: int, key: np.uint64) -> None:
        """Find the best split of a leaf; ``key`` says which features are drawn for it."""
        if self._drawn < len(self._features):
            grow.draw_features(self._allowed[leaf], self._drawn, key)
        if self._plain:
            self._gains[leaf] = plain_split.scan(
                self._histogram[self._slots[leaf], 0], self._features, self._allowed[leaf],
                self._bins.missing, int(self._sizes[leaf]), self._rules, self._best[leaf],
            )  # fmt: skip
            return
        self._gains[leaf] = best_split.scan(
            self._histogram[self._slots[leaf]], self._features, self._allowed[leaf],
            self._bins.missing, int(self._sizes[leaf]), self._rules, self._spans[leaf],
            self._best[leaf], self._members[leaf],
        )  # fmt: skip

    def _split(self, leaf: int, new: int, key: np.uint64) -> None:
        """Do what ``grow.grow_on`` does for one leaf, with all threads."""
        feature = self._record(leaf, new)
        start, size = int(self._starts[leaf]), int(self._sizes[leaf])
        rows = self._order[start : start + size]
        left = self._part(feature, leaf, rows)
        if not self._parted(leaf, new, left):
            return
        left_smaller = 2 * left <= size
        self._histogram[new] = 0
        self._count(rows[:left] if left_smaller else rows[left:], self._histogram[new])
        grow.apart(self._histogram, self._slots, leaf, new, left_smaller)
        self._look_on(feature, self._histogram, leaf, new, key)

    def _part(self, feature: NDArray[np.int64], leaf: int, rows: NDArray[np.uint32]) -> int:
        """Sort rows to the two sides, each thread its share; give how many went left."""
        goes_left = self._sides(feature, self._best[leaf], self._members[leaf])
        lane = int(feature[best_split.LANE])
        block, shift = self._blocks.words[lane >> 3], np.uint64(8 * (lane & 7))
        shares: list[tuple[int, int, int]] = []

        def task(start: int, stop: int) -> None:
            own = rows[start:stop]
            left = routing.part(block, shift, goes_left, own, own, self._spare[start:stop])
            shares.append((start, stop, int(left)))

        each_rows(task, rows.size)
        shares.sort()
        at = 0
        for start, _, left in shares:
            if at < start:
                rows[at : at + left] = rows[start : start + left]
            at += left
        middle = at
        for start, stop, left in shares:
            right = stop - start - left
            rows[at : at + right] = self._spare[start : start + right]
            at += right
        return middle

    def _sides(
        self, feature: NDArray[np.int64], best: NDArray[np.int64], members: NDArray[np.uint8]
    ) -> NDArray[np.uint8]:
        goes_left = np.empty(256, dtype=np.uint8)
        routing.sides(feature, best, members, self._bins.missing, goes_left)
        return goes_left

    def _settle(self, tree: TreeRule, chosen: Rows) -> None:
        """Walk the rows that were not chosen to their leaves."""
        aside = np.ones(self._order.size, dtype=np.bool_)
        aside[chosen] = False
        rows = np.flatnonzero(aside).astype(np.uint32)
        if not tree.feature.size:
            self._cells[rows] = 0
            return
        own = self._features[tree.feature]
        tables = [
            self._sides(feature, self._splits[t], self._split_members[t])
            for t, feature in enumerate(own)
        ]
        goes_left = np.stack(tables)
        lanes = np.ascontiguousarray(own[:, best_split.LANE])

        def task(start: int, stop: int) -> None:
            routing.settle(
                self._blocks.words, lanes, goes_left, tree.left, tree.right, rows[start:stop],
                self._cells,
            )  # fmt: skip

        each_rows(task, rows.size)
