"""The pinball loss, whose best constant is a quantile.

The loss of a share q is q·r for a positive residual r, and (1 - q)·|r| for a
negative one. A row pulls with q if its target lies above the prediction and with -(1 - q) if it
lies below. A cell adds the weighted q-quantile of its residuals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pacboost.boosters.booster import Floats
from pacboost.boosters.loss import Weights, mean_of
from pacboost.boosters.residual import Residual, ResidualState, sum_of_pulls
from pacboost.errors import invalid
from pacboost.hypotheses.hypothesis import Cells
from pacboost.kernels.native import native
from pacboost.samples.sample import Sums


@dataclass(frozen=True)
class Quantile(Residual):
    """Boosting for the loss of a ``quantile``; ``learning_rate`` scales values of cells."""

    name: ClassVar[str] = "quantile"
    title: ClassVar[str] = "Boosted regression of quantiles"
    potential: ClassVar[str] = "quantile"
    min_leaf_rows: ClassVar[int] = 20  # a quantile far out needs rows
    parameters: ClassVar[Mapping[str, float | None]] = {"quantile": None}

    learning_rate: float = 1.0
    quantile: float = 0.5
    grows_after: float = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.quantile < 1:
            rule = "must lie between 0 and 1: 0.5 predicts medians, 0.9 numbers that nine of ten "
            raise invalid("quantile", self.quantile, f"{rule}targets lie below")

    def best(self, state: ResidualState, sums: Sums, cells: Cells, *, shrunk: bool) -> Floats:
        return state.quantiles(cells, len(sums.pulls), self.quantile)[:, None]

    def weigh(self, state: ResidualState) -> int:
        """Set pulls to q or -(1 - q) times the weight, and to 0 for residuals of 0."""
        above = float(self.quantile)
        return sum_of_pulls(native.residual_sides, state, above, above - 1.0, state.unit)

    def value(self, targets: Floats, scores: Floats, weights: Weights = None) -> float:
        """Return the mean pinball loss."""
        residuals = targets - scores
        return mean_of(
            np.maximum(self.quantile * residuals, (self.quantile - 1.0) * residuals), weights
        )
