"""The log-cosh loss: squares of small residuals, and sizes of large ones, without a corner.

The loss of a residual r is ln cosh r, with the gradient tanh r and a curvature of at most 1. A cell
adds the mean of tanh r over its rows: a Newton step with a curvature that is too large, which never
raises the loss.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pacboost.boosters.booster import Floats
from pacboost.boosters.loss import Weights, mean_of
from pacboost.boosters.residual import Residual, ResidualState
from pacboost.hypotheses.hypothesis import Cells
from pacboost.numerics.same_bits import exp, log
from pacboost.samples.sample import Sums


@dataclass(frozen=True)
class LogCosh(Residual):
    """Boosting for ln cosh of the residuals; ``learning_rate`` scales the values of cells."""

    name: ClassVar[str] = "log_cosh"
    title: ClassVar[str] = "Boosted regression by log-cosh"
    potential: ClassVar[str] = "log_cosh"

    learning_rate: float = 1.0
    grows_after: float = math.inf

    def value(self, targets: Floats, scores: Floats, weights: Weights = None) -> float:
        """Return the mean of ln cosh(target - score)."""
        sizes = np.abs(targets - scores)
        costs = sizes + log(0.5 + 0.5 * exp(-2.0 * sizes))
        return mean_of(costs, weights)

    def weigh(self, state: ResidualState) -> int:
        """Set the pull of every row, its weight times tanh of its residual, in whole numbers."""
        small = exp(-2.0 * np.abs(state.residuals))
        slopes = np.sign(state.residuals) * (1.0 - small) / (1.0 + small)
        # whole numbers add up to the same sum in any order
        state.pulls[:, 0] = np.rint(state.weights[:, 0] * slopes)
        return int(np.abs(state.pulls).sum())

    def best(self, state: ResidualState, sums: Sums, cells: Cells, *, shrunk: bool) -> Floats:
        """Return the mean slope of each cell; of the first round, the median of the targets."""
        if not shrunk:
            return state.quantiles(cells, len(sums.pulls), 0.5)[:, None]
        return sums.means()
