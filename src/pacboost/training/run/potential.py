"""The potentials: what a run measures to bound its training error.

A potential is a function of the margin that is at least 1 where the margin is 0 or less, so its
mean over the rows is at least the training error. The mean before the first round is known, and
each round records the factor Z_t by which it changed the mean. The product of these factors is all
that bounds/training.py needs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.base.booster import Booster
from pacboost.hypotheses.hypothesis import CellValues
from pacboost.ledgers.ledger import Round
from pacboost.samples.request import Request, Sums, Wholes
from pacboost.samples.sample import Sample

Floats = NDArray[np.float64]

LEAST_NORMALISER = 1e-300
"""A regression may fit all targets, but a mean loss of 0 has no logarithm."""
ROUNDING = 1e-9


class Potential(ABC):
    """The potential of a run on one sample; ``now`` is its mean after the rounds so far."""

    name: ClassVar[str] = ""
    convex: ClassVar[bool] = False
    """Whether two wrong pairs of row and class cost at least as much as two margins of 0."""

    def __init__(self, booster: Booster[Any], sample: Sample, first_total: int) -> None:
        self._booster, self._sample, self._first_total = booster, sample, first_total
        self.start = self.now = 1.0

    def first_weights(self, first: Request) -> Wholes:
        """Give D_1 in whole units, one for each row: the weights of the training error."""
        return first.weights[:, 0].copy()

    def factor(self, classes: int) -> float:
        """Give the number by which ∏ Z_t has to be multiplied to bound the training error.

        ``classes`` is the number K of classes if the margins are those of pairs of row and class,
        else 1. The K pairs of a wrong row cost at least 2 together, or 1 if the potential is not
        convex.
        """
        if classes == 1:
            return self.start
        return classes / 2 if self.convex else classes

    def of_cells(self, sums: Sums, values: CellValues) -> float:
        """Give Z_t of cells with these values if it follows from the sums, else 1."""
        return 1.0

    @abstractmethod
    def after_round(self, by_sums: float, state: Any, rounds: int) -> float:
        """Give Z_t of the round that led to this state; ``by_sums`` is what the sums say."""

    def on_other_rows(self) -> Potential:
        """Give the potential of a run that continues on rows of which ∏ Z_t bounds nothing."""
        return self

    @abstractmethod
    def resume(self, entries: Sequence[Round], state: Any, first_weights: Wholes) -> bool:
        """Continue after earlier rounds; say whether their record agrees with the state."""


class MeasuredPotential(Potential):
    """A potential whose mean is measured after every round, and divided by the one before."""

    @abstractmethod
    def mean(self, state: Any, rounds: int) -> float:
        """Measure the mean over all rows."""

    def after_round(self, by_sums: float, state: Any, rounds: int) -> float:
        """Give the mean after the round as a multiple of the mean before it."""
        before, self.now = self.now, self.mean(state, rounds)
        return max(self.now / before if before > 0 else 1.0, LEAST_NORMALISER)

    def on_other_rows(self) -> Potential:
        """Stop measuring."""
        return Unmeasured(self._booster, self._sample, self._first_total)

    def resume(self, entries: Sequence[Round], state: Any, first_weights: Wholes) -> bool:
        """Compare the mean with the product of the recorded factors."""
        self.now = self.mean(state, len(entries))
        return abs(math.log(self.now / self.start) - log_product(entries)) <= ROUNDING


class Unmeasured(Potential):
    """No potential at all: a product over rounds on changing rows would bound nothing."""

    def after_round(self, by_sums: float, state: Any, rounds: int) -> float:
        """Record a factor of 1."""
        return 1.0

    def resume(self, entries: Sequence[Round], state: Any, first_weights: Wholes) -> bool:
        """Refuse: there is no record to agree with."""
        return False


def log_product(entries: Sequence[Round]) -> float:
    """Give ln ∏ Z_t."""
    return math.fsum(math.log(entry.normaliser) for entry in entries)
