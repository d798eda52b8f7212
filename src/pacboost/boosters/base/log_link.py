"""Regression with a log link: scores are logarithms, and predictions exp(F) are positive.

Along a constant added to all scores of a cell, both losses here have their minimum in closed form:
the value log(1 + m), for m = Σ pulls / Σ weights of the cell. So cells add that, times the learning
rate, and no round lets the loss rise (if no l2 and no monotone constraint holds values back).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar

import numpy as np

from pacboost.boosters.base.newton import Floats, Newton, NewtonState
from pacboost.boosters.base.parameters import check_not_negative, check_shrinkage
from pacboost.kernels.log_link import exponentials
from pacboost.kernels.team import team_for, together
from pacboost.numerics.same_bits import log, total
from pacboost.samples.request import Sums

LEAST_FACTOR = math.exp(-8.0)
"""A cell whose targets are all 0 divides predictions by no more than e^8."""


class LogLink(Newton):
    """A booster of logarithms of means."""

    prior: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_shrinkage("learning_rate", self.learning_rate)
        check_not_negative("l2", self.l2)

    def steps(self, means: Floats) -> Floats:
        """Give the logarithm of the factor by which predictions are off."""
        return np.asarray(log(np.maximum(1.0 + means, LEAST_FACTOR)))

    def constant(self, state: NewtonState, sums: Sums) -> Floats:
        """Give the logarithm of the mean target."""
        weights = np.broadcast_to(state.base, state.targets.shape)
        mean = total(weights * state.targets) / total(weights)
        return np.full((1, 1), math.log(max(mean, 1e-300)))

    def slopes(self, state: NewtonState) -> tuple[Floats, Floats]:
        """Give minus the gradient and the curvature of every row."""
        return self.row_slopes(state.targets, state.scores)

    @abstractmethod
    def row_slopes(self, targets: Floats, scores: Floats) -> tuple[Floats, Floats]:
        """Give minus the gradient and the curvature of every row."""


def exponential(scores: Floats, sign: float = 1.0) -> Floats:
    """Give exp(sign · score) with the same bits on every machine.

    >>> [round(x, 9) for x in exponential(np.array([0.0, 1.0, -750.0])).tolist()]
    [1.0, 2.718281828, 0.0]
    """
    out = np.empty(scores.shape)
    together(exponentials, scores.reshape(-1), sign, out.reshape(-1), at_most=team_for(out.size))
    return out
