"""The potentials: means over rows that a run measures to bound its training error.

A potential is a function of the margin that is at least 1 where the margin is 0 or less, so its
mean over the rows is at least the training error. The mean before the first round is known, and
each round records the factor Z_t by which it changed the mean. The product of these factors is
all that bounds/training.py needs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Booster, State
from pacboost.boosters.loss import Loss
from pacboost.hypotheses.hypothesis import CellValues
from pacboost.kernels.costs import mean_cost
from pacboost.kernels.native import native
from pacboost.ledgers.ledger import Round
from pacboost.samples.sample import Request, Sample, Sums, Wholes
from pacboost.training.run.scores import (
    MIN_COST,
    Margins,
    SoftmaxRows,
    base_weights,
    exact_total,
    exponential_normaliser,
    mean_of_costs,
)

Floats = NDArray[np.float64]

MIN_NORMALISER = 1e-300
"""Minimum factor of a round: a regression may fit all targets, and 0 has no logarithm."""


class Potential(ABC):
    """The potential of a run on one sample; ``now`` is its mean after the rounds so far."""

    convex: ClassVar[bool] = False
    """Whether two wrong pairs of row and class cost at least as much as two margins of 0."""

    def __init__(self, booster: Booster[Any], sample: Sample, first_total: int) -> None:
        self._booster, self._sample, self._first_total = booster, sample, first_total
        self.start = self.now = 1.0

    def first_weights(self, first: Request) -> Wholes:
        """Return D_1 in whole units, one for each row: the weights of the training error."""
        return first.weights[:, 0].copy()

    def factor(self, classes: int) -> float:
        """Return the number by which ∏ Z_t has to be multiplied to bound the training error.

        ``classes`` is the number K of classes if the margins are those of pairs of row and class,
        else 1. The K pairs of a wrong row cost at least 2 in total, or 1 if the potential is not
        convex.
        """
        if classes == 1:
            return self.start
        return classes / 2 if self.convex else classes

    def of_cells(self, sums: Sums, values: CellValues) -> float:
        """Return Z_t of cells with these values if the sums determine it, else 1."""
        return 1.0

    @abstractmethod
    def after_round(self, by_sums: float, state: State, rounds: int) -> float:
        """Return Z_t of the round that led to this state; ``by_sums`` comes from ``of_cells``."""

    def on_other_rows(self) -> Potential:
        """Return the potential of a run that continues on rows whose error ∏ Z_t does not bound."""
        return self

    def resume(self, entries: Sequence[Round], state: State) -> None:  # noqa: B027
        """Continue after the rounds that led to this state."""


class MeasuredPotential(Potential):
    """A potential whose mean is measured after every round, and divided by the one before."""

    @abstractmethod
    def mean(self, state: State, rounds: int) -> float:
        """Measure the mean over all rows."""

    def after_round(self, by_sums: float, state: State, rounds: int) -> float:
        before, self.now = self.now, self.mean(state, rounds)
        return max(self.now / before if before > 0 else 1.0, MIN_NORMALISER)

    def on_other_rows(self) -> Potential:
        return Unmeasured(self._booster, self._sample, self._first_total)

    def resume(self, entries: Sequence[Round], state: State) -> None:
        self.now = self.mean(state, len(entries))


class Unmeasured(Potential):
    """No potential: a product over rounds on changing rows would bound nothing."""

    def after_round(self, by_sums: float, state: State, rounds: int) -> float:
        return 1.0


class Exponential(Potential):
    """exp(-margin): Z_t = Σ D_t exp(-what round t added) follows from sums over cells."""

    convex = True

    def of_cells(self, sums: Sums, values: CellValues) -> float:
        return exponential_normaliser(sums, values)

    def after_round(self, by_sums: float, state: State, rounds: int) -> float:
        return by_sums


class Projected(Exponential):
    """Exponential weights that are projected to the same mean after every round.

    The product of the factors bounds the error as long as that is above the booster's ``floor``.
    """

    convex = False

    def after_round(self, by_sums: float, state: State, rounds: int) -> float:
        """Return ``by_sums``, or more if the product would fall below the floor."""
        # below the floor the product would no longer bound the error
        normaliser = max(by_sums, self._booster.floor / self.now)
        self.now *= normaliser
        return normaliser

    def resume(self, entries: Sequence[Round], state: State) -> None:
        for entry in entries:
            self.now *= entry.normaliser


class MeanWeight(MeasuredPotential):
    """The weight of a row, in units of its weight before the first round."""

    def mean(self, state: State, rounds: int) -> float:
        return exact_total(self._booster.request(state)) / self._first_total


class MarginCost(MeasuredPotential):
    """A cost of the margin that has a kernel, in units of its value at 0."""

    convex = True
    kernel: ClassVar[int]
    unit: ClassVar[float] = 1.0

    def mean(self, state: State, rounds: int) -> float:
        mean = mean_cost(self.kernel, state.margins, self._sample.base, self.unit)
        return max(mean, MIN_COST)


class Logistic(MarginCost):
    """log₂(1 + exp(-2·margin))."""

    kernel, unit = native.LOGISTIC, math.log(2)


class Clipped(MarginCost):
    """exp(-margin), or 1 - margin where the margin is negative."""

    kernel = native.CLIPPED


class Softmax(MeasuredPotential):
    """-log₂ p(y|x) of classes that share one softmax."""

    def __init__(
        self, booster: Booster[Any], sample: Sample, first_total: int, rows: SoftmaxRows
    ) -> None:
        super().__init__(booster, sample, first_total)
        self._rows = rows
        self.start = self.now = math.log2(sample.signs.shape[1])

    def factor(self, classes: int) -> float:
        """Return log₂ K: the cost is one for the whole row, not for pairs."""
        return self.start

    def mean(self, state: State, rounds: int) -> float:
        return self._rows.mean_cost()


class LossPotential(MeasuredPotential):
    """The loss of a regression, a function of the residual; scores stand in for margins."""

    def __init__(self, booster: Loss[Any], sample: Sample, first_total: int) -> None:
        super().__init__(booster, sample, first_total)
        self._loss = booster
        self.start = self.now = self._mean_loss(np.zeros(sample.n_rows))

    def mean(self, state: State, rounds: int) -> float:
        return self._mean_loss(state.margins[:, 0])

    def _mean_loss(self, scores: Floats) -> float:
        targets = self._sample.targets
        assert targets is not None
        return self._loss.mean(targets, scores, self._sample.base)


class BoosterCost(MeasuredPotential):
    """A potential that the booster defines by ``costs``; the run checks that it is a bound."""

    def first_weights(self, first: Request) -> Wholes:
        return base_weights(self._sample)

    def mean(self, state: State, rounds: int) -> float:
        costs = self._booster.costs_now(state, state.margins, rounds)
        return mean_of_costs(costs, state.margins, self._sample.base)


class Hinge(BoosterCost):
    """max(0, 1 - factor·margin), with a factor that the booster chooses."""

    convex = True


POTENTIALS: dict[str, type[Potential]] = {
    "exponential": Exponential,
    "projected": Projected,
    "weight": MeanWeight,
    "logistic": Logistic,
    "clipped": Clipped,
    "hinge": Hinge,
}


def potential_of(
    booster: Booster[Any], sample: Sample, scores: Margins, first: Request
) -> Potential:
    """Create the potential that a booster names; an unknown name is defined by its ``costs``."""
    if isinstance(scores, SoftmaxRows):
        return Softmax(booster, sample, first.weight, scores)
    if isinstance(booster, Loss):
        return LossPotential(booster, sample, first.weight)
    return POTENTIALS.get(booster.potential, BoosterCost)(booster, sample, first.weight)
