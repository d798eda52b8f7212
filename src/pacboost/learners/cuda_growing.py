"""The search for trees on a GPU: the trees that learners/dense_growing.py finds, bit for bit.

Rows stay on the GPU from round to round. Only a tree travels back, and sums over its leaves.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Cells
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels import best_split, routing
from pacboost.kernels.cuda import launches
from pacboost.kernels.cuda.device import on_gpu, to_host
from pacboost.learners.growing import TreeSearch
from pacboost.learners.learner import Rows
from pacboost.samples import fingerprint
from pacboost.samples.gpu_codes import gpu_codes
from pacboost.samples.request import Request


class CudaTreeSearch(TreeSearch):
    """Codes row by row, and histograms of every leaf, in the GPU's memory."""

    on_gpu = True

    def _lay_out(self) -> NDArray[np.int64]:
        """Bring the codes to the GPU; give what samples/blocks.py says of each feature."""
        if self._tree.interactions is not None:
            raise ParameterError(
                "interaction constraints are not available on a GPU: set device='cpu'"
            )
        found = gpu_codes(self.sample.table, self._bins)
        self._codes, self._lanes, features = found
        fingerprint.take_codes_from(self.sample, found.columns)
        return features.copy()  # monotone slopes are written into it

    def _make_room(self) -> None:
        """Reserve what is used for every tree."""
        rows = self._order.size
        self._order = np.empty(0, dtype=np.uint32)
        self._pairs = launches.empty((self._lines, rows), np.int64)
        self._cells = launches.empty(rows, self._cells.dtype)

    @cached_property
    def _growing(self) -> launches.GrowingTree:
        """What the GPU holds of the tree that is being grown; monotone slopes are set by now."""
        return launches.GrowingTree(
            self._codes, self._lanes, self._features, self._pairs, self._cells, self._leaves,
            self._bins.missing, self._drawn, self._deepest,
        )  # fmt: skip

    def partition(self, request: Request, seed: int, chosen: Rows | None) -> tuple[TreeRule, Cells]:
        """Grow a tree. The cells are where the weights of the rows are, on the GPU or not."""
        tree, cells = super().partition(request, seed, chosen)
        return tree, cells if on_gpu(request.weights) else to_host(cells)

    def _grow(self, chosen: Rows | None, key: np.uint64) -> int:
        """Have the GPU grow the tree."""
        grown = self._growing.grow(self._rules, chosen, key)
        splits = grown.leaves - 1
        self._splits[:splits], self._split_gains[:splits] = grown.splits, grown.gains
        self._split_members[:splits] = grown.members
        return grown.leaves

    def _settle(self, tree: TreeRule, chosen: Rows) -> None:
        """Walk the rows that were not chosen to their leaves."""
        own = self._features[tree.feature]
        goes_left = np.zeros((max(1, len(own)), 256), dtype=np.uint8)
        for t, feature in enumerate(own):
            routing.sides(
                feature, self._splits[t], self._split_members[t], self._bins.missing, goes_left[t]
            )
        lanes = np.ascontiguousarray(own[:, best_split.LANE])
        launches.settle(self._codes, lanes, goes_left, tree.left, tree.right, chosen, self._cells)
