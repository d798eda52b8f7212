"""The growing of a forest's tree once more in plain Python: slow, short, and without a trick.

Every cut of every feature is scored afresh, from the definition. It draws the same numbers in the
same order as ``native.grow_forest_tree``, so it has to come to the same tree.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
WORD = 2**64 - 1


class Chance:
    """splitmix64, as in ``below`` of native/forest/cuts.cpp."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def below(self, limit: int) -> int:
        """Draw one of 0 … limit - 1."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & WORD
        x = self._state
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
        return (((x ^ (x >> 31)) >> 32) * limit) >> 32


@dataclass
class Grower:
    """Grows one tree: ``targets`` (rows, outputs) hold one number, or 0 and 1 for every class."""

    codes: NDArray[np.uint8]
    targets: Doubles
    weights: Doubles
    chance: Chance
    tries: int
    missing: int
    medians: NDArray[np.int64]
    least: int = 1
    smallest: int = 2
    deepest: int = 2**31
    random: bool = False
    lightest: float = 0.0
    nodes: list[tuple[Any, ...]] = field(default_factory=list)

    def grow(self, rows: NDArray[np.intp], known: tuple[int, ...] = (), depth: int = 0) -> None:
        """Write (feature, cut, missing goes left, right child), or (mean,) for a leaf."""
        place, mean = len(self.nodes), self._sums(rows) / self.weights[rows].sum()
        self.nodes.append((mean,))
        pure = (self.targets[rows] == self.targets[rows[0]]).all()
        few = rows.size < max(self.smallest, 2 * self.least)
        if pure or few or depth >= self.deepest:
            return
        actual, known = self._search(rows, known)
        if actual is None:
            return
        feature, cut, side = actual
        left = self._goes_left(self.codes[feature, rows], cut, side)
        if (self.codes[feature, rows] < self.missing).all():
            side = int(self.medians[feature] <= cut)
        self.grow(rows[left], known, depth + 1)
        self.nodes[place] = feature, cut, side, len(self.nodes)
        self.grow(rows[~left], known, depth + 1)

    def _search(
        self, rows: NDArray[np.intp], known: tuple[int, ...]
    ) -> tuple[tuple[int, int, int] | None, tuple[int, ...]]:
        best, actual = -1.0, None
        order, drawn, passed, tried = self._order(known), 0, 0, 0
        first, last = len(known), len(order)
        while last > first and (drawn < self.tries or not tried) and best < self._perfect(rows):
            drawn += 1
            at = self.chance.below(len(known) - passed + last - first)
            if at < len(known) - passed:
                passed += 1
                continue
            at += first - (len(known) - passed)
            feature = order[at]
            if np.ptp(self.codes[feature, rows]) == 0:
                order[at], order[first] = order[first], feature
                first += 1
                continue
            last, tried = last - 1, tried + 1
            order[at], order[last] = order[last], feature
            for cut, side in self._cuts(self.codes[feature, rows]):
                score = self._score(rows, self._goes_left(self.codes[feature, rows], cut, side))
                if score > best:
                    best, actual = score, (feature, cut, side)
        self._kept = order
        return actual, tuple(order[:first])

    def _order(self, known: tuple[int, ...]) -> list[int]:
        """The list as the last node left it: constants at its front keep their places."""
        kept: list[int] = getattr(self, "_kept", list(range(len(self.codes))))
        assert set(kept[: len(known)]) == set(known)
        return kept

    def _cuts(self, codes: NDArray[np.uint8]) -> Iterator[tuple[int, int]]:
        values = np.unique(codes).tolist()
        absent = values[-1] == self.missing
        if self.random:
            low, high = values[0], values[-2 if absent else -1]
            side = self.chance.below(2) if absent and high > low else 0
            yield low + (self.chance.below(high - low) if high > low else 0), side
            return
        for side in range(2 if absent else 1):
            for code, following in pairwise(values):
                if following == self.missing and side == 0:
                    yield code, 0
                elif following != self.missing:
                    yield (code + following - 1) >> 1, side

    def _goes_left(self, codes: NDArray[np.uint8], cut: int, side: int) -> NDArray[np.bool_]:
        return np.asarray((codes <= cut) | ((codes == self.missing) & bool(side)))

    def _sums(self, rows: NDArray[np.intp]) -> Doubles:
        return np.asarray((self.targets[rows] * self.weights[rows, None]).sum(axis=0))

    def _score(self, rows: NDArray[np.intp], left: NDArray[np.bool_]) -> float:
        heavy = self.weights[rows]
        few = min(left.sum(), (~left).sum()) < self.least
        if few or min(heavy[left].sum(), heavy[~left].sum()) < self.lightest * self.weights.sum():
            return -1.0
        one, other = (
            float((self._sums(side) ** 2).sum()) / float(self.weights[side].sum())
            for side in (rows[left], rows[~left])
        )
        return one + other

    def _perfect(self, rows: NDArray[np.intp]) -> float:
        """What two pure sides of classes score, which no cut can surpass."""
        if np.isin(self.targets, (0, 1)).all():
            return float(self._sums(rows).sum())
        return np.inf
