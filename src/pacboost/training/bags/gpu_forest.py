"""Trees of a forest, many at once on a GPU: the same trees as those of the CPU."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.hypotheses.forest import ForestTree
from pacboost.kernels.cuda.forest import MOST_EXACT_WEIGHT, ForestOnGpu, SmallBag
from pacboost.samples.sample import Sample
from pacboost.training.bags.bags import Bag, Bags, in_order
from pacboost.training.bags.forest import TreeLimits, TreeMaker, TreeMember
from pacboost.training.bags.forest_bags import whole_weights

FEW = np.iinfo(np.uint8).max
TREES_WORTH_A_GPU = 300
"""A GPU grows some hundred trees in the time of one, which is long; fewer are sooner done by cores
of a CPU, except where trees of two classes try few features (docs/gpu.md)."""


def too_heavy(sample: Sample, classes: int, drawn: int) -> bool:
    """Tell whether squares of sums over a bag of many classes may not be exact in a float.

    >>> from pacboost.sources.arrays import ArrayTable
    >>> rows = Sample(ArrayTable(np.zeros((2, 1))), np.ones((2, 1), np.int8), np.array([1.0, 3.0]))
    >>> too_heavy(rows, 2, 2), too_heavy(rows, 3, 2), too_heavy(rows, 3, 2**27)
    (False, False, False)
    """
    if classes <= 2:
        return False
    heaviest = drawn if sample.base.size == 1 else int(whole_weights(sample.base).sum())
    return heaviest > MOST_EXACT_WEIGHT


class GpuTreeMaker(TreeMaker):
    """Grows the trees of many bags at once."""

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
        """Bring codes and targets to the GPU."""
        super().__init__(sample, targets, classes, limits, drawn=drawn, hard=hard)
        if too_heavy(sample, classes, self._drawn):
            raise ParameterError(
                f"device is 'cuda', but trees of {classes} classes whose weights add up to more "
                f"than {MOST_EXACT_WEIGHT:,} in a bag are grown on the CPU only (weights without a "
                "common measure are multiples of 1/65536 of the largest one). Set device='cpu'"
            )
        self._gpu = ForestOnGpu(
            self._columns, self._lines, self._parcels, self._weights, self._bins.middle, self._plan
        )

    def make_all(
        self, bags: Bags, numbers: range, threads: int
    ) -> Generator[tuple[TreeMember, Bag]]:
        """Make the members of bags; while they grow, the next bags are drawn."""
        growing: list[Bag] = []
        at_once = self._gpu.most_trees(min(self._drawn, bags.rows))
        for first in range(0, len(numbers), at_once):
            drawn = list(in_order(_Drawing(bags), numbers[first : first + at_once], threads))
            done = list(self._ended(growing))
            self._gpu.begin([_small(bag, bags) for bag in drawn], self._unit, self.limits.lightest)
            growing = drawn
            yield from done
        yield from self._ended(growing)

    def _ended(self, bags: list[Bag]) -> Iterator[tuple[TreeMember, Bag]]:
        """Give the members of the bags that were begun, once their trees are grown."""
        for bag, grown in zip(bags, self._gpu.end() if bags else (), strict=True):
            if grown is None:  # a tree that is too deep for the GPU
                wide = replace(bag, counts=bag.counts.astype(np.int64))
                yield self.make(wide), bag
            else:
                yield self.member(ForestTree(*grown)), bag


class _Drawing:
    """Draws a bag, and keeps how often rows are in it in as few bytes as possible."""

    def __init__(self, bags: Bags) -> None:
        self._bags = bags

    def __call__(self, number: int) -> Bag:
        bag = self._bags.bag(number)
        kind = np.uint8 if bag.counts.max() <= FEW else np.uint32
        return replace(bag, counts=bag.counts.astype(kind))


def _small(bag: Bag, bags: Bags) -> SmallBag:
    counts = np.empty(0, np.uint8) if bags.hold_all else bag.counts
    return SmallBag(counts, int(np.count_nonzero(bag.counts)), bag.seed)
