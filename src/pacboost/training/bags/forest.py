"""Trees of a forest as members of a vote: each grown to pure leaves from its bag, on codes.

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
from pacboost.kernels import forest_grow, forest_walk
from pacboost.kernels.forest_grow import CLASSES, DEEPEST, LEAST, MISSING, RANDOM, SMALLEST, TRIES
from pacboost.samples.bins import Bins
from pacboost.samples.sample import Sample
from pacboost.training.bags.bags import Bag
from pacboost.training.bags.forest_bags import whole_weights, words
from pacboost.training.bags.members import Answers, Maker, Member

NO_LIMIT = 2**31
SUM_BITS = 62
NO_WEIGHTS: NDArray[np.int64] = np.empty(0, np.int64)


@dataclass(frozen=True)
class TreeLimits:
    """How far a tree grows, and how it looks for splits."""

    tries: int
    """Features drawn at a split."""
    least: int = 1
    """Rows a leaf has at least; repeats within a bag count once."""
    smallest: int = 2
    """Rows a node must have to be split."""
    deepest: int = NO_LIMIT
    lightest: float = 0.0
    """The share of a bag's weight that a leaf has at least."""
    random: bool = False
    """Whether each feature is cut once, at random."""


@dataclass(frozen=True, eq=False)
class TreeMember(Member):
    """A tree and what is needed to ask it; ``hard``: it names one class."""

    inner: ForestTree
    bins: Bins
    classes: int
    middle: float
    scale: float
    hard: bool
    features: NDArray[np.intp] | None = None

    def answers(self, sample: Sample) -> Answers:
        """Give the class, the shares of classes, or the number that each row's leaf holds."""
        return self.said(np.ascontiguousarray(self.bins.encode(sample.table).T))

    def said(self, lines: NDArray[np.uint8]) -> Answers:
        """Do the same for rows of codes."""
        places = np.empty(len(lines), np.int64)
        forest_walk.descend(lines, self.inner.nodes, 0, self.bins.missing, places)
        payload = (self.inner.nodes[places] & LOW).astype(np.uint32)
        if self.classes <= 2:
            values = payload.view(np.float32).astype(np.float64)
            if self.classes == 0:
                return values * self.scale + self.middle
            return (values > 0.5).astype(np.int64) if self.hard else two_shares(values)
        whole = np.vstack([np.eye(self.classes, dtype=np.float32), self.inner.table])
        return whole.argmax(axis=1)[payload] if self.hard else whole[payload]


def two_shares(second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the shares of both classes from that of the second.

    >>> two_shares(np.array([0.25, 1.0])).tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    """
    return np.stack([1 - second, second], axis=1)


class TreeMaker(Maker):
    """Grows the tree of a bag; several are grown at once, one a thread."""

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
        """Prepare for bags of ``drawn`` rows, repeats counted; None: as many as the sample has."""
        super().__init__(sample, targets, classes)
        assert sample.bins is not None
        assert sample.codes is not None
        self._bins, self._hard = sample.bins, hard
        self._columns = sample.codes.astype(np.uint8, copy=False)
        self._lines = words(self._columns)
        weights = None if sample.base.size == 1 else whole_weights(sample.base)
        self.middle, self.scale, self._unit = 0.0, 1.0, 1.0
        self._drawn = targets.size if drawn is None else drawn
        self._parcels, self._weights = self._parcelled(targets, weights)
        self.limits, self._plan = limits, np.zeros(7, np.int64)
        self._plan[CLASSES] = classes
        self._plan[MISSING] = sample.bins.missing
        self._plan[TRIES], self._plan[LEAST] = limits.tries, limits.least
        self._plan[SMALLEST], self._plan[DEEPEST] = limits.smallest, limits.deepest
        self._plan[RANDOM] = limits.random

    def _parcelled(
        self, targets: NDArray[Any], weights: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Put what a row brings along into one whole number, or two (kernels/forest_split.py)."""
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
        """Grow a tree."""
        size = int(np.count_nonzero(bag.counts))
        nodes = np.empty(2 * size, np.uint64)
        many = self.classes > 2
        table = np.empty((size // 2 + 1 if many else 0, self.classes if many else 1), np.float32)
        gains = np.zeros(len(self._columns))
        desk = forest_grow.desk(
            size, gains.size, self._plan, bag.seed, weighted=self._weights.size > 0
        )
        written, lines = forest_grow.grow(
            self._columns, self._lines, self._parcels, self._weights, bag.counts, self._unit,
            self.limits.lightest, self._bins.middle, self._plan, desk, nodes, table, gains,
        )  # fmt: skip
        return self.member(ForestTree(nodes[:written].copy(), table[:lines].copy(), gains))

    def member(self, tree: ForestTree) -> TreeMember:
        """Make a member of a tree."""
        return TreeMember(tree, self._bins, self.classes, self.middle, self.scale, self._hard)

    def out_of_bag(self, member: Member, rows: NDArray[np.intp]) -> Answers:
        """Ask on codes, which are there already."""
        assert isinstance(member, TreeMember)
        return member.said(self._lines[rows])

    def packed(self, member: Member) -> ForestTree:
        """Send the tree alone: bins are the same for all."""
        assert isinstance(member, TreeMember)
        return member.inner

    def unpacked(self, packed: ForestTree) -> TreeMember:
        """Make a member of a tree that was grown elsewhere."""
        return self.member(packed)

    def __getstate__(self) -> dict[str, Any]:
        """Give what a worker needs: codes, but not the rows that they were made from."""
        return {name: own for name, own in vars(self).items() if name not in {"sample", "targets"}}


class Shares:
    """Average the shares of classes that trees give out of bag; they come in order.

    >>> shares = Shares(np.array([0, 1]), 2)
    >>> shares.add(0, np.array([0, 1]), np.array([[1.0, 0.0], [0.6, 0.4]]))
    >>> shares.add(1, np.array([1]), np.array([[0.0, 1.0]]))
    >>> shares.mean().tolist(), shares.estimate()[0]
    ([[1.0, 0.0], [0.3, 0.7]], 0.0)
    """

    def __init__(self, labels: NDArray[np.int64], classes: int) -> None:
        self.truth = labels
        self.sums = np.zeros((labels.size, classes))
        self.counts = np.zeros(labels.size, np.int64)

    def add(self, member: int, out_rows: NDArray[np.intp], shares: Answers) -> None:
        """Add what a tree says of the rows outside its bag, each row once."""
        if out_rows.size:
            self.sums[out_rows] += shares
            self.counts[out_rows] += 1

    def mean(self) -> NDArray[np.float64]:
        """Give the mean shares of every row, NaN for rows that are in every bag."""
        means = np.full(self.sums.shape, np.nan)
        seen = self.counts > 0
        means[seen] = self.sums[seen] / self.counts[seen, None]
        return means

    def estimate(self) -> tuple[float | None, float]:
        """Give the error out of bag, ties going to the lower class, and its standard error."""
        seen = self.counts > 0
        if not seen.any():
            return None, 0.0
        error = float((self.sums.argmax(axis=1) != self.truth)[seen].mean())
        return error, math.sqrt(error * (1 - error) / self.truth.size)
