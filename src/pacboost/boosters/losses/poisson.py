"""The Poisson deviance, of counts.

The mean is μ = exp(F(x)), the loss 2(y·ln(y/μ) - y + μ). Half of it has the gradient μ - y and the
curvature μ, so that the factor of a cell is Σ y / Σ μ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pacboost.boosters.booster import Floats
from pacboost.boosters.log_link import LogLink, exponential
from pacboost.boosters.loss import Weights, mean_of
from pacboost.errors import DataError
from pacboost.numerics.same_bits import log


@dataclass(frozen=True)
class Poisson(LogLink):
    """Boosting for the Poisson deviance; ``learning_rate`` scales the values of cells."""

    name: ClassVar[str] = "poisson"
    title: ClassVar[str] = "Boosted Poisson regression"
    potential: ClassVar[str] = "poisson"

    learning_rate: float = 1.0
    l2: float = 0.0
    """Added to the curvature Σ exp(F) of every cell."""
    grows_after: float = math.inf

    def row_slopes(self, targets: Floats, scores: Floats) -> tuple[Floats, Floats]:
        """Return y - μ and μ."""
        means = exponential(scores)
        return targets - means, means

    def check_targets(self, targets: Floats, name: str) -> None:
        if (targets < 0).any():
            raise DataError(
                f"{name} holds {targets.min():g}, but the loss 'poisson' predicts counts: numbers "
                "of 0 or more. Use another loss, such as 'squared_error', or drop such rows"
            )
        if name == "y" and not targets.any():
            raise DataError(
                "all targets are 0, but the loss 'poisson' needs the logarithm of their mean; add "
                "rows with larger targets, or use another loss"
            )

    def value(self, targets: Floats, scores: Floats, weights: Weights = None) -> float:
        """Return the mean Poisson deviance 2(y·ln(y/μ) - y + μ), for logarithms of μ as scores."""
        constant = targets * log(np.where(targets > 0, targets, 1.0)) - targets
        costs = constant - targets * scores + exponential(scores)
        return mean_of(2.0 * np.maximum(costs, 0.0), weights)
