"""The mean potential of a run, and by how much every round multiplies it.

A potential is no less than 1 where a margin is 0 or less, so its mean bounds the training error.
What it starts with is known, and each round records the factor Z_t: the product tells the mean at
the end, and is all that bounds/training.py needs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.base.booster import Booster
from pacboost.boosters.base.filtering_booster import FilteringBooster
from pacboost.samples.sample import Sample
from pacboost.training import judge

LEAST_NORMALISER = 1e-300
"""Regression may meet all targets, but a mean loss of 0 has no logarithm."""


class Potential:
    """What the loop measures of the potential; ``now`` is its mean after the rounds so far."""

    def __init__(self, booster: Booster[Any], sample: Sample, first_total: int) -> None:
        self._booster, self._sample, self._first_total = booster, sample, first_total
        self._outputs = int(sample.signs.shape[1])
        self.now = self.start

    @property
    def start(self) -> float:
        """The mean for scores that are all 0: what ∏ Z_t has to be multiplied with."""
        if self._sample.targets is not None:
            nothing = np.zeros((self._sample.n_rows, 1))
            return judge.mean_potential(self._booster.potential, nothing, self._sample)
        softmax = self._booster.multiclass == "softmax" and self._outputs > 1
        return math.log2(self._outputs) if softmax else 1.0

    def factor(self, *, by_row: bool) -> float:
        """Give what ∏ Z_t times bounds the training error.

        With pairs of row and class, the error of the class that is named may exceed that of pairs.
        """
        several = self._outputs > 1 and self._sample.labels is not None
        if not several or by_row or self.start != 1:
            return self.start
        convex = self._booster.potential in judge.CONVEX
        return self._outputs / 2 if convex else self._outputs

    @property
    def by_normaliser(self) -> bool:
        """Whether Z_t is known from the sums of a round."""
        return self._booster.potential in judge.BY_NORMALISER

    @property
    def floor(self) -> float:
        """What the product bounds is the error where that is above this."""
        return self._booster.floor if isinstance(self._booster, FilteringBooster) else 0.0

    def mean(self, state: Any, margins: NDArray[np.float64], rounds: int) -> float:
        """What the margins cost; or the mean weight in units of the first, where that bounds."""
        if self._booster.potential in judge.BY_WEIGHT:
            return judge.total(self._booster.request(state)) / self._first_total
        if self._booster.potential in judge.OWN:
            costs = self._booster.costs_now(state, margins, rounds)
            return judge.mean_cost(costs, margins, self._sample)
        return judge.mean_potential(self._booster.potential, margins, self._sample)

    def measured(self, mean: float) -> float:
        """Give Z_t by the mean as it is now."""
        before, self.now = self.now, mean
        return max(self.now / before if before > 0 else 1.0, LEAST_NORMALISER)

    def known(self, normaliser: float) -> float:
        """Give the Z_t that sums told, raised where ∏ Z_t would fall below the floor."""
        if self.floor:
            normaliser = max(normaliser, self.floor / self.now)
            self.now *= normaliser
        return normaliser
