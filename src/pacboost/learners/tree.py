"""Trees, grown best-first on codes; on dense samples by histograms of all features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels import layout
from pacboost.kernels.device import gpu_in_use
from pacboost.kernels.native import LINE, native
from pacboost.kernels.team import largest_team, together
from pacboost.learners.growing import TreeSearch
from pacboost.learners.learner import Learner, Rows
from pacboost.learners.tree_parameters import TreeParameters
from pacboost.samples.blocks import lay_out
from pacboost.samples.coded_table import CodedTable
from pacboost.samples.sample import Request, Sample

MIN_CELLS_PER_THREAD = 15_000
"""Rows times lanes; below, synchronizing takes longer than the work (measured at 2,000 × 28)."""
MIN_CELLS_FOR_LARGE_TEAM = 2_000_000
MAX_SMALL_TEAM = 8
"""Maximum number of threads for fewer cells (at 50,000 × 28, 16 are slower than 8)."""
MIN_CELLS_OF_LONG_TREE = 20_000_000
"""A tree on this many cells takes one thread about 0.1 s."""
MAX_BYTES_PER_THREAD = 2**20
"""Maximum size of a thread's histograms; on wide samples, threads divide the features instead."""

MAX_HISTOGRAM_WIDTH = 264
"""Maximum number of entries in the histogram of a feature."""


@dataclass(frozen=True, eq=False)
class ManyTrees:
    """The arrays and settings for growing many trees in a row, one after the other."""

    team: int
    work: layout.TreeArrays
    spans: NDArray[np.float64] | None
    leaves: int
    penalty: float | None
    """``cat_penalty``, if there are categories."""
    takes_long: bool
    """Whether a tree takes so long that Ctrl-C should stop it midway."""


class DenseTreeSearch(TreeSearch):
    """Words of codes, and histograms of every leaf."""

    _arrays: layout.TreeArrays | None = None
    """The arrays of the last tree, for a tree on as many rows."""

    def _lay_out(self) -> NDArray[np.int64]:
        """Write the codes into words; return ``Blocks.features`` of samples/blocks.py."""
        table = self.sample.table
        if table.entries is not None:  # of a small sparse table
            assert self.sample.codes is not None
            table = CodedTable(self.sample.codes, self._bins)
        self._blocks = lay_out(table, self._bins)
        if self._blocks.lanes == len(self._blocks.features):
            self.stored_codes = self._blocks
        return self._blocks.features

    def _make_room(self) -> None:
        blocks = self._blocks
        lanes = 8 * blocks.words.shape[0]
        # Histograms 2**k wide would fall onto the same cache lines (measured: up to twice slower).
        width = self._bins.missing + 9
        if blocks.lanes < len(self._features):
            width = MAX_HISTOGRAM_WIDTH  # shared lanes have codes of several features
        self._histogram = np.zeros((self._max_leaves, self._lines, lanes, width), dtype=np.int64)
        self._spare, self._chosen = np.empty((2, self._order.size), dtype=np.uint32)
        self._sides = np.zeros((self._max_leaves, 256), dtype=np.uint8)
        count = len(self._features) if self._features[:, layout.CATEGORY].any() else 0
        self._codes = layout.Codes(
            blocks.words, self._features, blocks.lanes, self._bins.missing,
            np.zeros((count, 256), dtype=np.uint8), np.zeros(count),
        )  # fmt: skip
        self._plan = np.zeros(5, dtype=np.int64)
        self._limits = np.zeros(4, dtype=np.int64)
        if blocks.lanes == len(self._features) and not self._tree.monotone:
            self._limits[layout.LISTED] = layout.MAX_LISTED_ROWS
        self._room_for(1)

    def _room_for(self, team: int) -> None:
        histogram = self._histogram[0]
        counting = min(team, 1 + (team - 1) * MAX_BYTES_PER_THREAD // histogram.nbytes)
        self._partial = np.empty((counting - 1, *histogram.shape), dtype=np.int64)
        features = len(self._features)
        self._findings = layout.TeamFindings(
            np.zeros((team, 16), dtype=np.int64), np.zeros((team, 16)),
            np.zeros((team, 2, LINE), dtype=np.int64),
            np.zeros((team, 2, 256), dtype=np.uint8), np.zeros((team, 256), dtype=np.uint8),
            np.ones((team, features + 8 * LINE), dtype=np.uint8),
            np.zeros((team, features + LINE), dtype=np.int64),
        )  # fmt: skip
        self._largest_team, self._arrays = team, None

    def _grow(self, chosen: Rows | None, key: np.uint64) -> int:
        size = int(self._leaves.sizes[0])
        if chosen is not None:
            self._chosen[:size] = chosen
        team, arguments = self._growing(size, chosen is None)
        self._limits[layout.KEY] = key
        together(native.grow_tree, *arguments, at_most=team)
        return int(self._plan[layout.LEAVES])

    def _takes_long(self, rows: int) -> bool:
        return rows * self._blocks.lanes > MIN_CELLS_OF_LONG_TREE

    def _growing(self, rows: int, all_rows: bool) -> tuple[int, tuple[Any, ...]]:
        """Return the number of threads for a tree on this many rows, and the kernel's arguments."""
        cells = rows * self._blocks.lanes
        max_team = largest_team()
        if cells < MIN_CELLS_FOR_LARGE_TEAM:
            max_team = min(max_team, MAX_SMALL_TEAM)
        team = max(1, min(max_team, cells // MIN_CELLS_PER_THREAD))
        if self._largest_team < team:
            self._room_for(team)
        chosen = self._chosen[: 0 if all_rows else rows]
        sizes = (chosen.size, rows)
        if self._arrays is None or (self._arrays.chosen.size, self._arrays.rows.size) != sizes:
            self._arrays = layout.TreeArrays(
                self._codes, chosen, self._order[:rows], self._spare, self._pairs, self._histogram,
                self._partial, self._rules, self._leaves, self._splits, self._sides, self._findings,
                self._plan, self._limits, self._cells,
            )  # fmt: skip
        self._limits[:2] = self._drawn, self._deepest
        return team, (self._arrays, None if self._plain else self._spans, self._interactions)

    def many_trees(self, request: Request, chosen: Rows | None) -> ManyTrees | None:
        """Prepare to grow trees in a row; None if the criterion or a constraint forbids it."""
        self._prepare(request, 0, chosen)
        simple = self._lines == 1 and self._rules[layout.CRITERION] == layout.NEWTON
        if not simple or self._tree.monotone or self._interactions is not None:
            return None
        self._spans[0] = -np.inf, np.inf  # no split narrows it
        rows = self._order.size if chosen is None else chosen.size
        team, (work, spans, _) = self._growing(rows, chosen is None)
        penalty = None if self._plain else float(self._tree.cat_penalty)
        long = self._takes_long(rows)
        return ManyTrees(team, work, spans, self._max_leaves, penalty, long)


@dataclass(frozen=True)
class Tree(TreeParameters, Learner):
    """A tree of at most ``max_leaves`` leaves, grown by always making the best split.

    Missing values go to the better side; if a node had none, to the heavier side. A category is
    split into two sets of its levels, ordered by their mean pull (Fisher 1958), by that at the
    root, or by their codes. With many classes, splits are chosen by ``sketch`` random sums of the
    classes' pulls (Iosipoi and Vakhrushev 2022); the values of the leaves are exact nevertheless.
    """

    name: ClassVar[str] = "tree"
    plural: ClassVar[str] = "trees"

    codes = sparse = True

    @property
    def deterministic(self) -> bool:
        return self.share_drawn == 1

    def bytes_of_work(self, columns: int, outputs: int) -> int:
        """Return the size of the histograms of all leaves, in bytes.

        >>> Tree(31).bytes_of_work(1500, 1)
        98469888
        """
        lanes = 8 * -(-columns // 8)
        return self.max_leaves * min(outputs, self.sketch) * lanes * MAX_HISTOGRAM_WIDTH * 8

    def finds_rules(self, sample: Sample) -> bool:
        return False

    def on(self, sample: Sample) -> TreeSearch:
        # A fit on dense rows on the CPU, by far the most frequent, imports neither of the others.
        if sample.sparse is not None:
            from pacboost.learners.sparse_growing import SparseTreeSearch

            return SparseTreeSearch(self, sample)
        if gpu_in_use() and sample.table.entries is None:
            from pacboost.learners.cuda_growing import CudaTreeSearch

            return CudaTreeSearch(self, sample)
        return DenseTreeSearch(self, sample)
