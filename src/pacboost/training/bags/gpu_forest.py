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

FEW = np.iinfo(np.uint8).max


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
        if classes > 2 and self._heaviest_bag() > MOST_EXACT_WEIGHT:
            raise ParameterError(
                f"device is 'cuda', but trees of {classes} classes whose weights add up to more "
                f"than {MOST_EXACT_WEIGHT:,} in a bag are grown on the CPU only (weights without a "
                "common measure are multiples of 1/65536 of the largest one). Set device='cpu'"
            )
        self._gpu = ForestOnGpu(
            self._columns, self._lines, self._parcels, self._weights, self._bins.middle, self._plan
        )

    def _heaviest_bag(self) -> int:
        """Give what no bag of many classes weighs more than."""
        weights = self._parcels >> 16
        return int(weights.sum()) if weights.max() > 1 else self._drawn

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
