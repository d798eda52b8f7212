"""Regression by absolute loss: every round fits the signs of the residuals (Friedman 2001, LAD).

A row asks for the sign of its residual, whatever its size: outliers pull no harder than others. A
cell adds the weighted median of its residuals, times the learning rate. The median is the middle of
all numbers that minimise Σ w|r - v|: where half of the weight lies on either side of a gap, the
midpoint of the gap. Mean |y - F| is convex along the way there, so no round lets it rise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.base.residual import Residual, ResidualState, sum_of_pulls
from pacboost.hypotheses.hypothesis import Cells
from pacboost.kernels import residual
from pacboost.samples.request import Sums


@dataclass(frozen=True)
class Absolute(Residual):
    """The rules of least absolute deviations; ``learning_rate`` scales what cells add.

    >>> rules = Absolute()
    >>> state = rules.init(np.ones((4, 1), np.int8), np.ones(1), np.array([1.0, 2.0, 3.0, 60.0]))
    >>> request = rules.request(state)
    >>> sums = Sums(np.array([[4]]), np.array([[4]]), 4, 4, 4)
    >>> rules.values(state, sums, np.zeros(4, dtype=np.uint8)).tolist()
    [[2.5]]
    """

    name: ClassVar[str] = "absolute"
    title: ClassVar[str] = "Boosted regression of medians"
    potential: ClassVar[str] = "absolute"
    pull_type: ClassVar[type[np.int64 | np.int8]] = np.int8

    learning_rate: float = 1.0

    def best(
        self, state: ResidualState, sums: Sums, cells: Cells, *, shrunk: bool
    ) -> NDArray[np.float64]:
        """Give the median residual of every cell, 0 where there are no rows."""
        return state.quantiles(cells, len(sums.pulls), 0.5)[:, None]

    def weigh(self, state: ResidualState) -> int:
        """Set pulls to the signs of the residuals."""
        return sum_of_pulls(residual.sides, state, state.unit)
