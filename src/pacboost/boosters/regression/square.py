"""Regression by squared loss: every round fits the residuals (Friedman 2001, LS_Boost).

A row asks for its residual r = y - F(x), and a cell adds its weighted mean m_c, times the learning
rate η. With W_c for the weight of a cell, a round changes the mean loss exactly by

    mean (y - F)² falls by η(2 - η) Σ_c W_c m_c² / Σ W

(if no l2 and no monotone constraint holds values back): it never rises, and the tree that makes
Σ_c W_c m_c² largest is the one that brings it down most. That sum is Newton's criterion of splits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.base.parameters import check_not_negative
from pacboost.boosters.base.residual import Residual, ResidualState, sum_of_pulls
from pacboost.hypotheses.hypothesis import Cells
from pacboost.kernels import residual
from pacboost.samples.request import Sums


@dataclass(frozen=True)
class Square(Residual):
    """The rules of least squares; ``learning_rate`` scales what cells add, ``l2`` holds it down.

    >>> rules = Square(learning_rate=0.5)
    >>> state = rules.init(np.ones((4, 1), np.int8), np.ones(1), np.array([1.0, 2.0, 3.0, 6.0]))
    >>> request = rules.request(state)
    >>> sums = Sums(request.pulls.sum(axis=0)[None], request.weights.sum(axis=0)[None], 4, 12, 4)
    >>> rules.values(state, sums, np.zeros(4, dtype=np.uint8)).tolist()   # the mean comes first
    [[3.0]]
    """

    name: ClassVar[str] = "square"
    title: ClassVar[str] = "Boosted regression"
    potential: ClassVar[str] = "square"

    learning_rate: float = 1.0
    l2: float = 0.0
    """Added to the weight of every cell, in rows of mean weight."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_not_negative("l2", self.l2)

    def best(
        self, state: ResidualState, sums: Sums, cells: Cells, *, shrunk: bool
    ) -> NDArray[np.float64]:
        """Give the mean residual of every cell."""
        return sums.means(self.penalty(state) if shrunk else 0.0) / state.scale

    def weigh(self, state: ResidualState) -> int:
        """Set pulls to the weighted residuals."""
        return sum_of_pulls(residual.pulls, state, state.cut, state.scale)

    def penalty(self, state: ResidualState) -> float:
        """Give what is added to the weight of every cell."""
        return self.l2 * state.weight / state.targets.size
