"""Regression of quantiles: every round fits on which side of the prediction the targets lie.

The pinball loss of a share q costs q·r where the residual r is positive, and (1 - q)·|r| where it
is negative; the q-quantile minimises its mean. A row asks for q if its target lies above the
prediction and for -(1 - q) if it lies below, whatever the distance. A cell adds the weighted
q-quantile of its residuals, times the learning rate: the exact minimum of the loss in that cell.
The loss is convex along the way there, so no round lets it rise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.base.residual import Residual, ResidualState, sum_of_pulls
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Cells
from pacboost.kernels import residual
from pacboost.samples.request import Sums


@dataclass(frozen=True)
class Quantile(Residual):
    """The rules of quantile regression; ``quantile`` says which, ``learning_rate`` scales cells.

    >>> rules = Quantile(quantile=0.75)
    >>> state = rules.init(np.ones((4, 1), np.int8), np.ones(1), np.array([1.0, 2.0, 3.0, 60.0]))
    >>> request = rules.request(state)
    >>> sums = Sums(request.pulls.sum(axis=0)[None], request.weights.sum(axis=0)[None], 4, 12, 4)
    >>> rules.values(state, sums, np.zeros(4, dtype=np.uint8)).tolist()
    [[31.5]]
    """

    name: ClassVar[str] = "quantile"
    title: ClassVar[str] = "Boosted regression of quantiles"
    potential: ClassVar[str] = "quantile"
    setting: ClassVar[str] = "quantile"

    learning_rate: float = 1.0
    quantile: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.quantile < 1:
            raise ParameterError(
                f"quantile is {self.quantile}; it must lie between 0 and 1: 0.5 predicts medians, "
                "0.9 numbers that nine of ten targets lie below"
            )

    def best(
        self, state: ResidualState, sums: Sums, cells: Cells, *, shrunk: bool
    ) -> NDArray[np.float64]:
        """Give the quantile of the residuals of every cell, 0 where there are no rows."""
        return state.quantiles(cells, len(sums.pulls), self.quantile)[:, None]

    def weigh(self, state: ResidualState) -> int:
        """Set pulls to q or -(1 - q) times the weight, and to 0 where a target is met."""
        return sum_of_pulls(residual.tilted, state, float(self.quantile), state.unit)
