"""Thresholds and intervals on single features, with ends in a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Answers, Names, Rule
from pacboost.learners.version_space.finite_class import FiniteClass, SearchResult
from pacboost.samples.sample import Sample, Signs
from pacboost.sources.table import Values

DEFAULT_GRID = tuple(np.arange(-4, 4.125, 0.125).tolist())


@dataclass(frozen=True)
class Band(Rule):
    """Answer ``within`` where low < feature ≤ high, else ``-within``."""

    feature: int
    low: float
    high: float
    within: int = 1

    def answers(self, sample: Sample) -> Answers:
        """Compare the raw values."""
        values = sample.table.block(self.feature, self.feature + 1)[:, 0]
        inside = (values > self.low) & (values <= self.high)
        return np.where(inside, np.int8(self.within), np.int8(-self.within))

    def negated(self) -> Band:
        """Turn the answers round."""
        return replace(self, within=-self.within)

    def words(self, names: Names) -> str:
        """Say it as a comparison.

        >>> Band(1, 0.5, math.inf).words(Names(lambda j: f"x{j}"))
        'x1 > 0.5 → +, else −'
        """
        column = names.column(self.feature)
        yes, no = names.answer(self.within), names.answer(-self.within)
        if self.low >= self.high:
            return f"always {no}"
        if math.isinf(self.low) and math.isinf(self.high):
            return f"always {yes}"
        if math.isinf(self.high):
            return f"{column} > {self.low:.6g} → {yes}, else {no}"
        lower = "" if math.isinf(self.low) else f"{self.low:.6g} < "
        return f"{lower}{column} ≤ {self.high:.6g} → {yes}, else {no}"


@dataclass(frozen=True)
class Bands(FiniteClass):
    """On each feature (or one), bands whose ends are in the grid or infinite; and "never".

    Thresholds are the bands with an infinite end: values above a cut, or up to it. Each cut gives
    two of them, and G cuts give (G + 1)(G + 2)/2 intervals, among them the whole line.
    """

    grid: tuple[float, ...] = DEFAULT_GRID
    feature: int | None = None
    intervals: bool = False

    def size(self, features: int) -> int:
        """Count "never" and "always" once."""
        searched = 1 if self.feature is not None else features
        return 2 + searched * (self._ends()[0].size - 1)

    def search(self, X: Values, signs: Signs) -> SearchResult:
        """Go through all of them; "never" wins a tie, then the first feature does."""
        ends = np.array([-np.inf, *self.grid, np.inf])
        low, high = self._ends()
        widths = high - low
        whole = widths == ends.size - 1
        positive = int((signs > 0).sum())
        found, mistakes = Band(0, math.inf, math.inf), positive
        survivors = int(positive == 0) + int((signs > 0).all())
        for j in range(X.shape[1]) if self.feature is None else [self.feature]:
            before = self._sums(X[:, j], signs)
            errors = positive - (before[high] - before[low])
            survivors += int((errors[~whole] == 0).sum())
            if errors.min() < mistakes:
                mistakes = int(errors.min())
                chosen = self._choose(np.flatnonzero(errors == mistakes), widths)
                found = Band(j, float(ends[low[chosen]]), float(ends[high[chosen]]))
        return SearchResult(found, mistakes, survivors)

    def _ends(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Number the ends of every band; 0 is -∞, the last is ∞."""
        last = len(self.grid) + 1
        if self.intervals:
            return np.triu_indices(last + 1, 1)
        cuts = np.arange(1, last)
        low = np.concatenate([np.zeros_like(cuts), cuts, [0]])
        return low, np.concatenate([cuts, np.full_like(cuts, last), [last]])

    def _sums(self, values: NDArray[Any], signs: Signs) -> NDArray[np.int64]:
        """Add up the signs of the rows up to each end."""
        codes = np.searchsorted(np.array(self.grid), values, side="left")
        totals = np.zeros(len(self.grid) + 2, dtype=np.int64)
        np.add.at(totals, codes + 1, signs)
        return np.cumsum(totals)

    def _choose(self, ties: NDArray[np.intp], widths: NDArray[np.intp]) -> np.intp:
        """Take the tightest interval, or the middle threshold."""
        chosen: np.intp = ties[widths[ties].argmin()] if self.intervals else ties[ties.size // 2]
        return chosen
