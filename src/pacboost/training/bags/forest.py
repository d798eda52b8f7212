"""Bags and trees of a forest: each tree is grown to pure leaves from its bag, on codes.

Random forests try a few features, drawn anew, at every split (Breiman 2001); extremely randomised
trees cut each of them at random (Geurts, Ernst and Wehenkel 2006). Weights and targets are whole
numbers, so that sums are exact, and a tree is the same wherever it is grown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.forest import LOW, ForestTree
from pacboost.kernels.forest import ForestPlan
from pacboost.kernels.native import native
from pacboost.samples.bins import Bins
from pacboost.samples.sample import Sample
from pacboost.training.bags.bags import Bag, Bags
from pacboost.training.bags.members import Answers, BagMember, Maker

WEIGHT_BITS = 16
MAX_COPIES_PER_ROW = 64


class ForestBags(Bags):
    """Bags that depend on the content of rows, but not on their order.

    Draws are positions in ``order``, which depends on content alone. A row of weight w has w
    positions, so it is drawn like w copies. Without replacement, a bag has ``drawn`` rows. Given
    the rows, every draw is uniform, so the rows of a bag are independent of their content, and
    out-of-bag certificates hold, with a probability that includes the seed
    (docs/proofs/out_of_bag.md).
    """

    def __init__(
        self,
        order: NDArray[np.intp],
        columns: int,
        seed: int,
        drawn: int,
        *,
        replacement: bool,
        weights: NDArray[np.int64] | None = None,
    ) -> None:
        super().__init__(order.size, drawn, columns, columns, seed, replacement)
        self._order = order
        self._ends = None if weights is None else np.cumsum(weights[order])

    def bag(self, number: int) -> Bag:
        order, ends = self._order, self._ends
        generator = np.random.default_rng((self.seed, number))
        if not self.replacement:
            counts = np.ones(self.rows, np.int64)
            if self.drawn < self.rows:
                counts[order[generator.permutation(self.rows)[self.drawn :]]] = 0
        else:
            total = self.rows if ends is None else int(ends[-1])
            places = generator.integers(total, size=self.drawn)
            places = places if ends is None else np.searchsorted(ends, places, side="right")
            counts = np.bincount(order[places], minlength=order.size)
        return Bag(counts, None, int(generator.integers(2**31)))


def content_order(codes: NDArray[np.uint8], targets: NDArray[Any]) -> NDArray[np.intp]:
    """Sort rows by a hash of their codes (features, rows) and targets; equal rows stay together."""
    total = np.ascontiguousarray(targets, np.float64).view(np.uint64).copy()
    columns = words(codes).view(np.uint64)
    for j in range(columns.shape[1]):
        total += columns[:, j]
        total ^= total >> np.uint64(30)
        total *= np.uint64(0xBF58476D1CE4E5B9)
        total ^= total >> np.uint64(27)
        total *= np.uint64(0x94D049BB133111EB)
    return np.argsort(total, kind="stable")


def words(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return codes row by row, padded to multiples of eight bytes."""
    features, rows = codes.shape
    lines = np.zeros((rows, -(-features // 8) * 8), np.uint8)
    lines[:, :features] = codes.T
    return lines


def whole_weights(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Convert weights to integers in the same ratios if small ones exist, else nearly the same."""
    smallest = float(weights.min())
    for part in range(1, 7):
        ratios = weights / smallest * part
        units = np.rint(ratios)
        if units.max() <= 2**WEIGHT_BITS and np.abs(ratios - units).max() < 1e-9 * part:
            return np.asarray(units, np.int64)
    scaled = np.rint(weights * (2**WEIGHT_BITS / float(weights.max())))
    return np.asarray(np.maximum(1, scaled), np.int64)


def copies_of(weights: NDArray[np.int64]) -> int:
    """Return the size of a bag: the sum of weights, or the number of rows if that is far less."""
    return (
        int(weights.sum()) if weights.sum() <= MAX_COPIES_PER_ROW * weights.size else weights.size
    )


NO_LIMIT = 2**31
SUM_BITS = 62
UNSENT = {"sample", "targets"}
NO_WEIGHTS: NDArray[np.int64] = np.empty(0, np.int64)


@dataclass(frozen=True)
class TreeLimits:
    """The limits on the size of a tree, and how it searches for splits."""

    tries: int
    least: int = 1
    """Minimum number of rows of a leaf; repeats within a bag count once."""
    smallest: int = 2
    """Minimum number of rows of a node that is split."""
    deepest: int = NO_LIMIT
    lightest: float = 0.0
    """Minimum share of a bag's weight in a leaf."""
    random: bool = False
    """Whether each feature is cut once, at random."""


@dataclass(frozen=True, eq=False)
class TreeMember(BagMember):
    """A tree with the bins that it reads; if ``hard``, it names one class."""

    inner: ForestTree
    bins: Bins
    classes: int
    middle: float
    scale: float
    hard: bool
    features: NDArray[np.intp] | None = None

    def answers(self, sample: Sample) -> Answers:
        return self.said(np.ascontiguousarray(self.bins.encode(sample.table).T))

    def said(self, lines: NDArray[np.uint8]) -> Answers:
        """Return the answers for rows of codes."""
        places = np.empty(len(lines), np.int64)
        native.find_leaves(lines, self.inner.nodes, 0, self.bins.missing, places)
        payload = (self.inner.nodes[places] & LOW).astype(np.uint32)
        if self.classes <= 2:
            values = payload.view(np.float32).astype(np.float64)
            if self.classes == 0:
                return values * self.scale + self.middle
            shares = np.stack([1 - values, values], axis=1)
            return (values > 0.5).astype(np.int64) if self.hard else shares
        table = np.vstack([np.eye(self.classes, dtype=np.float32), self.inner.table])
        return table.argmax(axis=1)[payload] if self.hard else table[payload]


class TreeMaker(Maker):
    """Grows the tree of a bag on one thread, so that several bags can be grown at once."""

    def __init__(
        self,
        sample: Sample,
        targets: NDArray[Any],
        classes: int,
        limits: TreeLimits,
        *,
        drawn: int | None = None,
        hard: bool = False,
    ) -> None:
        """Prepare for bags of ``drawn`` rows, with repeats; None for the size of the sample."""
        super().__init__(sample, targets, classes)
        assert sample.bins is not None
        assert sample.codes is not None
        self._bins, self._hard = sample.bins, hard
        self._columns = np.ascontiguousarray(sample.codes, np.uint8)
        self._lines = words(self._columns)
        weights = None if sample.base.size == 1 else whole_weights(sample.base)
        self.middle, self.scale, self._unit = 0.0, 1.0, 1.0
        self._drawn = targets.size if drawn is None else drawn
        self._parcels, self._weights = self._pack_targets(targets, weights)
        self._medians = np.ascontiguousarray(sample.bins.middle, np.int64)
        self.limits = limits
        self._plan = ForestPlan(
            classes, sample.bins.missing, limits.tries, limits.least, limits.smallest,
            limits.deepest, limits.random,
        )  # fmt: skip

    def _pack_targets(
        self, targets: NDArray[Any], weights: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pack target and weight of a row into one integer, or two (native/forest/cuts.h)."""
        ones = np.ones(targets.size, np.int64)
        if self.classes > 2:
            return (ones if weights is None else weights) << 16 | targets, NO_WEIGHTS
        if self.classes > 0:
            if weights is None:
                return targets.astype(np.int64) << 32 | ones, NO_WEIGHTS
            return targets.astype(np.int64), weights
        low, high = float(targets.min()), float(targets.max())
        self.middle = low + (high - low) / 2
        weights = ones if weights is None else weights
        heaviest = int(weights.max()) * self._drawn  # no bag weighs more
        span = max(high - self.middle, self.middle - low)
        self.scale = 2.0 ** math.frexp(span)[1] if span > 0 else 1.0
        self._unit = 2.0 ** -min(52, SUM_BITS - heaviest.bit_length())
        shares = (targets - self.middle) / self.scale  # between -1 and 1
        return np.rint(shares / self._unit).astype(np.int64), weights

    def make(self, bag: Bag) -> TreeMember:
        tree = native.grow_forest_tree(
            self._columns, self._lines, self._parcels, self._weights, bag.counts, self._unit,
            self.limits.lightest, self._medians, self._plan, bag.seed,
        )  # fmt: skip
        return self.member(ForestTree(*tree))

    def member(self, tree: ForestTree) -> TreeMember:
        return TreeMember(tree, self._bins, self.classes, self.middle, self.scale, self._hard)

    def out_of_bag(self, member: BagMember, rows: NDArray[np.intp]) -> Answers:
        assert isinstance(member, TreeMember)
        return member.said(self._lines[rows])

    def packed(self, member: BagMember) -> ForestTree:
        assert isinstance(member, TreeMember)
        return member.inner

    def unpacked(self, packed: ForestTree) -> TreeMember:
        return self.member(packed)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a worker: it needs the codes, but not the rows."""
        return {name: value for name, value in vars(self).items() if name not in UNSENT}
