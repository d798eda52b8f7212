"""Newton steps on any loss, by a gradient and a curvature for each row.

A row pulls with minus the gradient of its loss and weighs its curvature, both times the weight of
the row; Σ pulls / Σ weights of a cell is Newton's step. Both are turned into whole numbers, by two
powers of two that follow from their sums alone, so that sums over rows are exact, and the model
does not depend on the number of threads. They are rounded before they are multiplied by the weight,
so that a row of weight 3 equals three rows, to the last bit.

``margins`` are scores F(x) in regression, and y·F(x) for two classes.

**GentleBoost** (Friedman, Hastie and Tibshirani 2000) has the weights of AdaBoost and gentler
votes. Each cell adds the weighted mean of its signs, (W₊ - W₋)/(W₊ + W₋), which never exceeds 1:
the Newton step of the exponential loss, while AdaBoost goes to the minimum. With the Z_t of these
votes,

    training error ≤ mean exp(-yF) = ∏ Z_t.
"""

from __future__ import annotations

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
    check_rate,
    numbers_for,
    whole_values,
)
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.numerics.exact import MAX_VOTE, VOTE_UNIT, in_units_of_least, whole_scale
from pacboost.numerics.same_bits import mean, total
from pacboost.samples.sample import Request, Signs, Sums

MAX_WEIGHT_RATIO = 2.0**20
"""Maximum ratio of two base weights; smaller weights are raised."""


@dataclass(frozen=True, eq=False)
class NewtonState:
    """Scores of every row with the pulls and weights that follow from them, in whole units."""

    targets: Floats
    signs: Signs
    margins: Floats
    base: Floats
    """Base weights in units of the least, one for each row or one for all."""
    user_base: Floats
    """Base weights of the user, unmodified."""
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
        return self.margins[:, 0] * self.signs[:, 0]

    @property
    def step_unit(self) -> float:
        """The factor that turns ratios of whole pulls and weights into steps."""
        return self.curvature_unit / self.pull_unit


class Newton(Booster[NewtonState]):
    """A booster by gradient and curvature; a subclass defines both, and the values of cells."""

    learning_rate: float
    l2: float

    def init(self, signs: Signs, base: Floats, targets: Floats | None = None) -> NewtonState:
        rows = signs.shape[0]
        labels = self.labels(signs, targets)
        state = NewtonState(
            targets=labels,
            signs=signs,
            margins=np.zeros((rows, 1)),
            base=in_units_of_least(np.maximum(base, base.max() / MAX_WEIGHT_RATIO)),
            user_base=base,
            unit=self.unit_for(labels),
            weights=np.zeros((rows, 1), dtype=np.int64),
            pulls=np.zeros((rows, 1), dtype=np.int64),
        )
        return self._weigh(state)

    def labels(self, signs: Signs, targets: Floats | None) -> Floats:
        """Return the labels or targets that the loss compares scores with."""
        return numbers_for(self, targets)

    def unit_for(self, targets: Floats) -> float:
        """Return the unit that values are multiples of."""
        return VOTE_UNIT

    @abstractmethod
    def slopes(self, state: NewtonState) -> tuple[Floats, Floats]:
        """Return the negative gradient and the curvature of every row, before they are weighted."""

    @abstractmethod
    def steps(self, means: Floats) -> Floats:
        """Convert Newton's steps of cells into values, before shrinkage."""

    def constant(self, state: NewtonState, sums: Sums) -> Floats:
        """Return the constant of the first round."""
        return self.steps(sums.means() * state.step_unit)

    def unit(self, state: NewtonState) -> float:
        return state.unit

    def request(self, state: NewtonState) -> Request:
        penalty = self._penalty(state)
        return Request(state.weights, state.pulls, state.weight, state.pull, "newton", penalty)

    def values(self, state: NewtonState, sums: Sums, cells: Cells) -> CellValues:
        if self.prior and not state.cast and len(sums.pulls) == 1:
            return whole_values(self.constant(state, sums), state.unit)
        # both sums are whole; their units differ by a power of two, which costs no digit
        means = sums.means(self._penalty(state)) * state.step_unit
        return whole_values(self.rate(len(state.cast)) * self.steps(means), state.unit)

    def rate(self, rounds: int) -> float:
        """Return the learning rate of the next round."""
        return self.learning_rate

    def move(self, state: NewtonState, moved: Moved) -> NewtonState:
        state.cast.append(1.0)
        state.margins[:] += moved.values[moved.cells] * state.signs
        return self._weigh(state)

    def _penalty(self, state: NewtonState) -> float:
        return self.l2 * self.weight_of_a_row(state) * state.curvature_unit

    def weight_of_a_row(self, state: NewtonState) -> float:
        """Return the unit of l2, as a weight."""
        return mean(state.base)

    def _weigh(self, state: NewtonState) -> NewtonState:
        pulls, curvatures = self.slopes(state)
        # scales follow from two sums alone, so that they do not depend on the order of rows
        sizes = total(state.base * np.abs(pulls)), total(state.base * curvatures)
        pull_unit, curvature_unit = (whole_scale(size) if size > 0 else 1.0 for size in sizes)
        # rounded before it is weighted: a row of weight 3 equals three rows
        state.pulls[:, 0] = np.rint(state.base * np.rint(pulls * pull_unit))
        state.weights[:, 0] = np.rint(state.base * np.rint(curvatures * curvature_unit))
        return replace(
            state,
            weight=max(1, int(state.weights.sum())),
            pull=max(1, int(np.abs(state.pulls).sum())),
            curvature_unit=curvature_unit,
            pull_unit=pull_unit,
        )


@dataclass(frozen=True)
class Gentle(ExponentialWeights):
    """Like AdaBoost, with smaller steps where classes overlap."""

    name: ClassVar[str] = "gentle"
    title: ClassVar[str] = "GentleBoost"
    criterion: ClassVar[str] = "newton"

    learning_rate: float = 1.0

    def __post_init__(self) -> None:
        check_rate("learning_rate", self.learning_rate)

    def values(self, state: ExponentialState, sums: Sums, cells: Cells) -> CellValues:
        values = self.learning_rate * sums.means()
        # a mean of signs is at most 1, but the learning rate may be larger
        return whole_values(np.clip(values, -MAX_VOTE, MAX_VOTE))
