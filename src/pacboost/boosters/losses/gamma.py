"""The gamma deviance, of positive numbers whose spread grows with their mean.

The mean is μ = exp(F(x)), the loss 2(ln(μ/y) + y/μ - 1). Half of it has the gradient 1 - y/μ;
its expected curvature 1 replaces y/μ of single rows, so that the factor of a cell is the mean of
y/μ.
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
class Gamma(LogLink):
    """Boosting for the gamma deviance; ``learning_rate`` scales the values of cells."""

    name: ClassVar[str] = "gamma"
    title: ClassVar[str] = "Boosted gamma regression"
    potential: ClassVar[str] = "gamma"
    l2_counts_rows: ClassVar[bool] = True

    learning_rate: float = 1.0
    l2: float = 0.0
    """Added to the number of rows of every cell."""
    grows_after: float = math.inf

    def row_slopes(self, targets: Floats, scores: Floats) -> tuple[Floats, Floats]:
        """Return y/μ - 1 and 1."""
        return targets * exponential(scores, -1.0) - 1.0, np.ones(targets.size)

    def check_targets(self, targets: Floats, name: str) -> None:
        if (targets <= 0).any():
            raise DataError(
                f"{name} holds {targets.min():g}, but the loss 'gamma' predicts numbers above 0. "
                "Use another loss, such as 'poisson' (0 or more) or 'squared_error', or drop such "
                "rows"
            )

    def value(self, targets: Floats, scores: Floats, weights: Weights = None) -> float:
        """Return the mean gamma deviance 2(ln(μ/y) + y/μ - 1), for logarithms of μ as scores."""
        costs = scores - log(targets) + targets * exponential(scores, -1.0) - 1.0
        return mean_of(2.0 * np.maximum(costs, 0.0), weights)
