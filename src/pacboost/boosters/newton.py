"""What boosters share whose rows have a gradient and a curvature: Newton steps on any loss.

A row pulls with minus the gradient of its loss and weighs its curvature, both times the weight of
the row; Σ pulls / Σ weights of a cell is Newton's step. Both are turned into whole numbers, by two
powers of two that follow from their sums alone, so that what is summed over rows is exact, and the
model does not depend on the number of threads. They are rounded before they are multiplied by the
weight, so that a row of weight 3 is three rows, to the last bit.

``margins`` are scores F(x) in regression, and y·F(x) for two classes.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.adaboost import ExponentialState, ExponentialWeights
from pacboost.boosters.booster import (
    Booster,
    Floats,
    Moved,
    check_not_negative,
    check_rate,
    check_shrinkage,
    numbers_for,
    whole_values,
)
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.kernels.runtime.team import team_for, together
from pacboost.kernels.same_bits import raise_scores
from pacboost.numerics.exact import MAX_VOTE, VOTE_UNIT, in_units_of_least, whole_scale
from pacboost.numerics.same_bits import log, mean
from pacboost.numerics.same_bits import total as sum_of
from pacboost.samples.sample import Request, Signs, Sums

MOST_RATIO = 2.0**20
"""Rows that weigh less than this part of the heaviest are treated as if they weighed so much."""


@dataclass(frozen=True, eq=False)
class NewtonState:
    """Scores of every row with the pulls and weights that follow from them, in whole units."""

    targets: Floats
    signs: Signs
    margins: Floats
    base: Floats
    """Base weights in units of the least, one for each row or one for all."""
    given: Floats
    """Base weights as they were given."""
    unit: float
    weights: NDArray[np.int64]
    pulls: NDArray[np.int64]
    weight: int = 1
    pull: int = 1
    curvature_unit: float = 1.0
    """The whole number that a curvature of 1 becomes: a power of two."""
    pull_unit: float = 1.0
    cast: list[float] = field(default_factory=list)

    @property
    def scores(self) -> Floats:
        """F(x) of every row."""
        return self.margins[:, 0] * self.signs[:, 0]

    @property
    def step_unit(self) -> float:
        """The factor that turns ratios of whole pulls and weights into steps."""
        return self.curvature_unit / self.pull_unit


class Newton(Booster[NewtonState]):
    """A booster by gradient and curvature; a subclass defines both, and what cells add."""

    learning_rate: float
    l2: float

    def init(self, signs: Signs, base: Floats, targets: Floats | None = None) -> NewtonState:
        rows = signs.shape[0]
        known = self.known(signs, targets)
        state = NewtonState(
            targets=known,
            signs=signs,
            margins=np.zeros((rows, 1)),
            base=in_units_of_least(np.maximum(base, base.max() / MOST_RATIO)),
            given=base,
            unit=self.unit_for(known),
            weights=np.zeros((rows, 1), dtype=np.int64),
            pulls=np.zeros((rows, 1), dtype=np.int64),
        )
        return self._weigh(state)

    def known(self, signs: Signs, targets: Floats | None) -> Floats:
        """Return what the loss compares scores with."""
        return numbers_for(self, targets)

    def unit_for(self, targets: Floats) -> float:
        """Return the unit that values are multiples of."""
        return VOTE_UNIT

    @abstractmethod
    def slopes(self, state: NewtonState) -> tuple[Floats, Floats]:
        """Return minus the gradient and the curvature of every row, without its weight."""

    @abstractmethod
    def steps(self, means: Floats) -> Floats:
        """Turn Newton's steps of cells into what they would add to scores, not shrunk."""

    def constant(self, state: NewtonState, sums: Sums) -> Floats:
        """Return the constant of the first round."""
        return self.steps(sums.means() * state.step_unit)

    def unit(self, state: NewtonState) -> float:
        return state.unit

    def request(self, state: NewtonState) -> Request:
        penalty = self._penalty(state)
        return Request(state.weights, state.pulls, state.weight, state.pull, "newton", penalty)

    def values(self, state: NewtonState, sums: Sums, cells: Cells) -> CellValues:
        """Return each cell its step, shrunk unless it is the first constant."""
        if self.prior and not state.cast and len(sums.pulls) == 1:
            return whole_values(self.constant(state, sums), state.unit)
        means = sums.means(self._penalty(state)) * state.step_unit
        return whole_values(self.learning_rate * self.steps(means), state.unit)

    def move(self, state: NewtonState, moved: Moved) -> NewtonState:
        state.cast.append(1.0)
        state.margins[:] += moved.values[moved.cells] * state.signs
        return self._weigh(state)

    def _penalty(self, state: NewtonState) -> float:
        return self.l2 * self.weight_of_a_row(state) * state.curvature_unit

    def weight_of_a_row(self, state: NewtonState) -> float:
        """Return the weight that l2 counts in."""
        return mean(state.base)

    def _weigh(self, state: NewtonState) -> NewtonState:
        pulls, curvatures = self.slopes(state)
        sizes = sum_of(state.base * np.abs(pulls)), sum_of(state.base * curvatures)
        pull_unit, curvature_unit = (whole_scale(size) if size > 0 else 1.0 for size in sizes)
        state.pulls[:, 0] = np.rint(state.base * np.rint(pulls * pull_unit))
        state.weights[:, 0] = np.rint(state.base * np.rint(curvatures * curvature_unit))
        return replace(
            state,
            weight=max(1, int(state.weights.sum())),
            pull=max(1, int(np.abs(state.pulls).sum())),
            curvature_unit=curvature_unit,
            pull_unit=pull_unit,
        )


# Regression with a log link: scores are logarithms, and predictions exp(F) are positive.
#
# Along a constant added to all scores of a cell, both losses here have their minimum in closed
# form: the value log(1 + m), for m = Σ pulls / Σ weights of the cell. So cells add that, times the
# learning rate, and no round lets the loss rise (if no l2 and no monotone constraint holds values
# back).

LEAST_FACTOR = math.exp(-8.0)
"""A cell whose targets are all 0 divides predictions by no more than e^8."""


class LogLink(Newton):
    """A booster of logarithms of means."""

    prior: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_shrinkage("learning_rate", self.learning_rate)
        check_not_negative("l2", self.l2)

    def steps(self, means: Floats) -> Floats:
        """Return the logarithm of the factor by which predictions are off."""
        return np.asarray(log(np.maximum(1.0 + means, LEAST_FACTOR)))

    def constant(self, state: NewtonState, sums: Sums) -> Floats:
        weights = np.broadcast_to(state.base, state.targets.shape)
        mean = sum_of(weights * state.targets) / sum_of(weights)
        return np.full((1, 1), math.log(max(mean, 1e-300)))

    def slopes(self, state: NewtonState) -> tuple[Floats, Floats]:
        return self.row_slopes(state.targets, state.scores)

    @abstractmethod
    def row_slopes(self, targets: Floats, scores: Floats) -> tuple[Floats, Floats]:
        """Return minus the gradient and the curvature of every row."""


def exponential(scores: Floats, sign: float = 1.0) -> Floats:
    """Return exp(sign · score) with the same bits on every machine.

    >>> [round(x, 9) for x in exponential(np.array([0.0, 1.0, -750.0])).tolist()]
    [1.0, 2.718281828, 0.0]
    """
    out = np.empty(scores.shape)
    together(raise_scores, scores.reshape(-1), sign, out.reshape(-1), at_most=team_for(out.size))
    return out


# GentleBoost (Friedman, Hastie and Tibshirani 2000): AdaBoost's weights, with gentler votes.
#
# Each cell adds the weighted mean of its signs, (W₊ - W₋)/(W₊ + W₋), which never exceeds 1: the
# Newton step of the exponential loss, where AdaBoost takes the whole way to the minimum. Training
# error ≤ mean exp(-yF) = ∏ Z_t, with the Z_t it really had.


@dataclass(frozen=True)
class Gentle(ExponentialWeights):
    """The rules of GentleBoost; ``learning_rate`` scales what cells add.

    >>> sums = Sums(np.array([[6], [-2]]), np.array([[8], [2]]), 10, 10, 10)
    >>> rules = Gentle()
    >>> state = rules.init(np.ones((10, 1), dtype=np.int8), np.ones(1))
    >>> rules.values(state, sums, np.zeros(10, dtype=np.uint8)).tolist()
    [[0.75], [-1.0]]
    """

    name: ClassVar[str] = "gentle"
    title: ClassVar[str] = "GentleBoost"
    criterion: ClassVar[str] = "newton"

    learning_rate: float = 1.0

    def __post_init__(self) -> None:
        check_rate("learning_rate", self.learning_rate)

    def values(self, state: ExponentialState, sums: Sums, cells: Cells) -> CellValues:
        values = self.learning_rate * sums.means()
        return whole_values(np.clip(values, -MAX_VOTE, MAX_VOTE))
