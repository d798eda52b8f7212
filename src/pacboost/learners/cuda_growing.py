"""The search for trees on a GPU: the trees equal those of learners/tree.py, bit for bit.

Rows stay on the GPU from round to round. Only a tree and the sums over its leaves are copied back.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Cells
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels import layout
from pacboost.kernels.cuda import launches, twins, weighing
from pacboost.kernels.cuda.device import on_gpu, to_gpu
from pacboost.learners.growing import TreeSearch, key_of
from pacboost.learners.learner import Rows
from pacboost.samples.gpu_codes import gpu_codes
from pacboost.samples.sample import Request

if TYPE_CHECKING:
    from pacboost.kernels.cuda.device import GpuArray


class Ahead(NamedTuple):
    """A tree that is grown before it is requested."""

    request: Request
    seed: int
    unit: float

    def answers(self, request: Request, seed: int) -> bool:
        expected = self.request
        same = expected.weights is request.weights and expected.pulls is request.pulls
        totals = expected.weight == request.weight and expected.pull == request.pull
        return same and totals and seed == self.seed


class CudaTreeSearch(TreeSearch):
    """Codes row by row, and histograms of every leaf, in the GPU's memory."""

    expects = True
    _ahead: Ahead | None = None
    """The tree that is being grown for the next round."""
    _begun: int | None = None
    """The seed of a tree that was started right after the rows were weighed."""
    _rules_of: tuple[str, bool] | None = None
    """The criterion of the rules, and whether pulls are signs, if all rows took part."""

    def _lay_out(self) -> NDArray[np.int64]:
        """Copy the codes to the GPU; return ``Blocks.features`` of samples/blocks.py."""
        codes = gpu_codes(self.sample.table, self._bins)
        self._codes, self._lanes, features = codes
        self.stored_codes = codes
        return features.copy()  # monotone slopes are written into it

    def _make_room(self) -> None:
        rows = self._order.size
        self._order = np.empty(0, dtype=np.uint32)
        self._pairs = launches.empty((self._lines, rows), np.int64)
        self._cells = launches.empty(rows, self._cells.dtype)

    @cached_property
    def _growing(self) -> launches.GrowingTree:
        """The GPU's arrays of the tree that is grown; monotone slopes must be set before."""
        return launches.GrowingTree(
            self._codes, self._lanes, self._features, self._pairs, self._cells, self._max_leaves,
            self._bins.missing, self._drawn, self._deepest, self._interactions,
        )  # fmt: skip

    def beside(self, array: NDArray[Any]) -> Any:
        return to_gpu(array)

    def expect(self, request: Request, seed: int) -> None:
        """Let the GPU start the next tree once rows are weighed, without waiting for the CPU.

        Without categories, only the penalty of the rules changes from round to round.
        """
        same = self._numbers_only and self._rules_of == (request.criterion, request.signed)
        if not same or not on_gpu(request.weights):
            return
        if weighing.known(weighing.ORIGIN, request.weights) is not None:
            weighing.let_follow(partial(self._begin_after, request, seed))

    def _begin_after(self, request: Request, seed: int, totals: GpuArray) -> None:
        rules = self._rules.copy()
        rules[layout.PENALTY] = request.penalty
        twins.pair_up_after(totals, request.weights, request.pulls, self._pairs[0])
        self._begin(request, None, key_of(seed), rules, totals)
        self._begun = seed

    def look_ahead(self, request: Request, seed: int) -> None:
        weighing.let_follow(None)
        if not on_gpu(request.weights):
            return
        if self._begun == seed:
            unit = self._set_rules(request, None)
        else:
            unit = self._prepare(request, seed, None)
            self._begin(request, None, key_of(seed), self._rules)
        one = request.weights.shape[1] == 1 and not request.signed
        self._rules_of = (request.criterion, request.signed) if one else None
        self._begun, self._ahead = None, Ahead(request, seed, unit)

    def partition(self, request: Request, seed: int, chosen: Rows | None) -> tuple[TreeRule, Cells]:
        if self._ahead is None or chosen is not None or not self._ahead.answers(request, seed):
            unit = self._prepare(request, seed, chosen)
            self._begin(request, chosen, key_of(seed), self._rules)
        else:
            unit = self._ahead.unit
        self._ahead = None
        tree = self._rule(self._end(), unit)
        if chosen is not None:
            self._settle(tree, chosen)
        cells: Any = self._cells
        return tree, cells if on_gpu(request.weights) else cells.get()

    def _begin(
        self,
        request: Request,
        chosen: Rows | None,
        key: np.uint64,
        rules: NDArray[np.float64],
        totals: GpuArray | np.uintp = weighing.NOTHING,
    ) -> None:
        """Let the GPU grow a tree, and sum the rows of its leaves if that is requested next.

        The memory of weights that can be recomputed serves for the order of the rows meanwhile.
        """
        weights, pulls = request.weights, request.pulls
        one = on_gpu(weights) and weights.shape[1] == 1 and not request.signed
        origin = weighing.known(weighing.ORIGIN, weights) if one else None
        if origin is None:
            self._growing.begin(rules, chosen, key)
            return
        self._growing.begin(rules, chosen, key, weights, totals)
        self._growing.weigh_again(origin, weights, pulls, sums=chosen is None)

    def _end(self) -> int:
        grown = self._growing.end()
        splits = grown.leaves - 1
        self._splits.columns[:splits], self._splits.gains[:splits] = grown.splits, grown.gains
        self._splits.members[:splits] = grown.members
        return grown.leaves

    def _grow(self, chosen: Rows | None, key: np.uint64) -> int:
        self._growing.begin(self._rules, chosen, key)
        return self._end()

    def _sides(self, tree: TreeRule) -> NDArray[np.uint8]:
        """Return, for every split and every code of its feature's lane, whether it goes left."""
        sides = tree.sides()
        for goes_left, feature in zip(sides, self._features[tree.feature], strict=True):
            _, base, bins, default, *_ = feature.tolist()
            if default >= 0:  # the codes of other features mean that this one has its default
                away = np.delete(goes_left[:bins], default)
                goes_left[:] = goes_left[default]
                goes_left[base : base + away.size] = away
        return sides

    def _settle(self, tree: TreeRule, chosen: Rows) -> None:
        goes_left, lanes = self._sides(tree), self._features[tree.feature, layout.LANE]
        launches.settle(self._codes, lanes, goes_left, tree.left, tree.right, chosen, self._cells)
