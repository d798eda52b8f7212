"""Find the tightest axis-parallel box around the positive rows.

If the labels are those of some box, the tightest one lies within it: it never calls a negative row
positive, and its error is what it misses near its 2d sides. That is what its bounds rest on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Answers, Names, Rule
from pacboost.learners.learner import Learner, Search, Weights
from pacboost.samples.sample import Sample, Signs
from pacboost.sources.table import Values

SMALLEST = float(np.finfo(np.float64).tiny)
"""The depth of a row on a side of the box, which belongs to it."""


@dataclass(frozen=True, eq=False)
class Box(Rule):
    """Answer ``within`` in the box, sides included, and ``-within`` outside."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    within: int = 1

    def depth(self, X: Values) -> NDArray[np.float64]:
        """Return how far a row is from the nearest side: above 0 inside, below 0 outside.

        Outside it is minus the largest distance by which a feature lies off the box.

        >>> Box(np.zeros(2), np.ones(2)).depth(np.array([[0.5, 0.25], [3.0, 0.5]])).tolist()
        [0.25, -2.0]
        """
        least: NDArray[np.float64] = np.minimum(X - self.lower, self.upper - X).min(axis=1)
        # A distance may round to 0, a comparison is exact: it decides on which side a row lies.
        inside = self.inside(X)
        least[inside] = np.maximum(least[inside], SMALLEST)
        least[~inside] = np.minimum(least[~inside], -SMALLEST)
        return least

    def inside(self, X: Values) -> NDArray[np.bool_]:
        """Return which rows lie in the box."""
        within: NDArray[np.bool_] = np.all((self.lower <= X) & (self.upper >= X), axis=1)
        return within

    def answers(self, sample: Sample) -> Answers:
        inside = self.inside(sample.rows)
        return np.where(inside, np.int8(self.within), np.int8(-self.within))

    def negated(self) -> Box:
        return replace(self, within=-self.within)

    def words(self, names: Names) -> str:
        """Say it as ranges.

        >>> Box(np.array([0.0, 1.5]), np.array([2.0, 3.0])).words(Names(lambda j: f"x{j}"))
        '0 ≤ x0 ≤ 2 and 1.5 ≤ x1 ≤ 3 → +, else −'
        """
        yes, no = names.answer(self.within), names.answer(-self.within)
        if not (self.lower <= self.upper).all():
            return f"always {no}"
        ranges = [
            f"{low:.6g} ≤ {names.column(j)} ≤ {high:.6g}"
            for j, (low, high) in enumerate(zip(self.lower, self.upper, strict=True))
        ]
        return f"{' and '.join(ranges)} → {yes}, else {no}"


def tightest(X: Values, signs: Signs) -> Box:
    """Return the smallest box with every positive row in it; the empty one if there is none.

    >>> box = tightest(np.array([[1.0, 5.0], [2.0, 3.0], [9.0, 9.0]]), np.array([1, 1, -1]))
    >>> box.lower.tolist(), box.upper.tolist()
    ([1.0, 3.0], [2.0, 5.0])
    """
    positive = np.asarray(X[signs > 0], dtype=np.float64)
    return Box(positive.min(axis=0, initial=np.inf), positive.max(axis=0, initial=-np.inf))


@dataclass(frozen=True)
class Rectangle(Learner):
    """The tightest box around the positive rows that have weight; how much does not matter."""

    deterministic = True

    def on(self, sample: Sample) -> RectangleSearch:
        return RectangleSearch(sample)


@dataclass(frozen=True)
class RectangleSearch(Search):
    """The box fitted to one sample."""

    sample: Sample

    def find(self, weights: Weights, signs: Signs, seed: int) -> Box:
        counting = weights > 0
        return tightest(self.sample.rows[counting], signs[counting])
