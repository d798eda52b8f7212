"""The squared error: cells add the weighted mean of the residuals (Friedman 2001, LS_Boost).

Rounds fit the residuals: a cell adds its weighted mean m_c. With W_c
for the weight of a cell, mean (y - F)² falls by exactly η(2 - η) Σ_c W_c m_c² / Σ W.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pacboost.boosters.booster import Floats, check_not_negative
from pacboost.boosters.loss import Weights, mean_of
from pacboost.boosters.residual import Residual, ResidualState, sum_of_pulls
from pacboost.hypotheses.hypothesis import Cells
from pacboost.kernels.native import native
from pacboost.samples.sample import Sums


@dataclass(frozen=True)
class Square(Residual):
    """Boosting for the squared error; ``learning_rate`` scales cells, ``l2`` shrinks them."""

    name: ClassVar[str] = "square"
    title: ClassVar[str] = "Boosted regression"
    potential: ClassVar[str] = "square"
    l2_counts_rows: ClassVar[bool] = True
    kernel: ClassVar[int | None] = native.SQUARE

    learning_rate: float = 1.0
    l2: float = 0.0
    """Added to the weight of every cell, in rows of mean weight."""
    grows_after: float = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        check_not_negative("l2", self.l2)

    def best(self, state: ResidualState, sums: Sums, cells: Cells, *, shrunk: bool) -> Floats:
        return sums.means(self.penalty(state) if shrunk else 0.0) / state.scale

    def weigh(self, state: ResidualState) -> int:
        return sum_of_pulls(native.residual_pulls, state, state.cut, state.scale)

    def penalty(self, state: ResidualState) -> float:
        return self.l2 * state.weight / state.targets.size

    def value(self, targets: Floats, scores: Floats, weights: Weights = None) -> float:
        """Return the mean of (target - score)²."""
        return mean_of(np.square(targets - scores), weights)
