"""Regression of positive numbers: Newton's method on their logarithms."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar

import numpy as np

from pacboost.boosters.booster import Floats, check_not_negative, check_shrinkage, grown
from pacboost.boosters.link import Link
from pacboost.boosters.loss import Loss
from pacboost.boosters.newton import Newton, NewtonState
from pacboost.kernels.native import native
from pacboost.kernels.team import team_for, together
from pacboost.numerics.same_bits import log, total
from pacboost.samples.sample import Sums

MIN_FACTOR = math.exp(-8.0)
"""Minimum factor of a cell on predictions, for cells whose targets are all 0."""


class LogLink(Newton, Loss[NewtonState]):
    """A regression with a log link: scores are logarithms, and predictions exp(F) are positive.

    Along a constant added to all scores of a cell, both losses have their minimum in closed form:
    log(1 + m), for m = Σ pulls / Σ weights of the cell. Cells add that, times the learning rate, so
    no round raises the loss (unless l2 or a monotone constraint limits values).
    """

    prior: ClassVar[bool] = True
    link: ClassVar[Link] = Link.LOG

    grows_after: float

    def rate(self, rounds: int) -> float:
        return grown(self.learning_rate, rounds, self.grows_after)

    def __post_init__(self) -> None:
        check_shrinkage("learning_rate", self.learning_rate)
        check_not_negative("l2", self.l2)

    def steps(self, means: Floats) -> Floats:
        """Return the logarithm of the ratio of targets to predictions in each cell."""
        # a cell of zeros alone would go to minus infinity; exp(-8) is a factor of 3,000 a round
        return np.asarray(log(np.maximum(1.0 + means, MIN_FACTOR)))

    def constant(self, state: NewtonState, sums: Sums) -> Floats:
        weights = np.broadcast_to(state.base, state.targets.shape)
        mean_target = total(weights * state.targets) / total(weights)
        # the minimum in closed form: Newton's step from F = 0 would be far off for large means
        return np.full((1, 1), math.log(max(mean_target, 1e-300)))

    def slopes(self, state: NewtonState) -> tuple[Floats, Floats]:
        return self.row_slopes(state.targets, state.scores)

    @abstractmethod
    def row_slopes(self, targets: Floats, scores: Floats) -> tuple[Floats, Floats]:
        """Return the negative gradient and the curvature of every row."""


def exponential(scores: Floats, sign: float = 1.0) -> Floats:
    """Return exp(sign · score) with the same bits on every machine."""
    out = np.empty(scores.shape)
    flat = scores.reshape(-1), sign, out.reshape(-1)
    together(native.raise_scores, *flat, at_most=team_for(out.size))
    return out
