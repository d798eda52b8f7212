"""The absolute error: cells add the median of the residuals (Friedman 2001, LAD).

Rounds fit the signs of the residuals, so that outliers pull no harder
than other rows. A cell adds the weighted median of its residuals; of several, the midpoint.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pacboost.boosters.booster import Floats
from pacboost.boosters.loss import Weights, mean_of
from pacboost.boosters.residual import Residual, ResidualState, sum_of_pulls
from pacboost.hypotheses.hypothesis import Cells
from pacboost.kernels.native import native
from pacboost.samples.sample import Sums


@dataclass(frozen=True)
class Absolute(Residual):
    """Boosting for the absolute error; ``learning_rate`` scales the values of cells."""

    name: ClassVar[str] = "absolute"
    title: ClassVar[str] = "Boosted regression of medians"
    potential: ClassVar[str] = "absolute"
    kernel: ClassVar[int | None] = native.ABSOLUTE
    pull_type: ClassVar[type[np.int64 | np.int8]] = np.int8

    learning_rate: float = 1.0
    grows_after: float = math.inf

    def best(self, state: ResidualState, sums: Sums, cells: Cells, *, shrunk: bool) -> Floats:
        return state.quantiles(cells, len(sums.pulls), 0.5)[:, None]

    def weigh(self, state: ResidualState) -> int:
        return sum_of_pulls(native.residual_sides, state, 1.0, -1.0, state.unit)

    def value(self, targets: Floats, scores: Floats, weights: Weights = None) -> float:
        """Return the mean of |target - score|."""
        return mean_of(np.abs(targets - scores), weights)
