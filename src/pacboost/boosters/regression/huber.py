"""Regression by Huber's loss: squares of small residuals, and the size of large ones.

With a cut δ the loss of a residual r is r²/2 up to δ and δ(|r| - δ/2) beyond, so that outliers pull
no harder than rows at the cut. As in Friedman (2001, M_TreeBoost), δ is the quantile ``alpha`` of
the absolute residuals, found anew in every round: it shrinks as the fit gets better. A row asks for
its residual, cut off at ±δ. A cell adds the median of its residuals plus the mean of what they
differ from it, cut off at ±δ, times the learning rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.base.residual import Residual, ResidualState, sum_of_pulls
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Cells
from pacboost.kernels import residual
from pacboost.numerics.quantiles import quantile_of
from pacboost.samples.request import Sums


@dataclass(frozen=True)
class Huber(Residual):
    """The rules of Huber's loss; ``alpha`` is the share of rows whose squares count.

    >>> rules = Huber(alpha=0.75)
    >>> state = rules.init(np.ones((5, 1), np.int8), np.ones(1), np.array([1.0, 2, 3, 4, 90]))
    >>> state.cut
    4.0
    >>> sums = Sums(np.array([[5]]), np.array([[5]]), 5, 5, 5)
    >>> rules.values(state, sums, np.zeros(5, dtype=np.uint8)).round(3).tolist()  # 3 + 2/5
    [[3.4]]
    """

    name: ClassVar[str] = "huber"
    title: ClassVar[str] = "Boosted regression by Huber's loss"
    potential: ClassVar[str] = "huber"
    setting: ClassVar[str] = "alpha"

    learning_rate: float = 1.0
    alpha: float = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.alpha < 1:
            raise ParameterError(
                f"alpha is {self.alpha}; it must lie between 0 and 1: the share of rows that are "
                "no outliers"
            )

    def prepared(self, state: ResidualState) -> ResidualState:
        """Find the cut for the new residuals."""
        cut = quantile_of(np.abs(state.residuals), state.row_weights, self.alpha)
        cut = max(cut, state.unit)
        return replace(state, cut=cut, scale=math.ldexp(1.0, -math.frexp(cut)[1]))

    def best(
        self, state: ResidualState, sums: Sums, cells: Cells, *, shrunk: bool
    ) -> NDArray[np.float64]:
        """Give the median of every cell, and the mean of what its rows differ from it, cut off."""
        count = len(sums.pulls)
        medians = state.quantiles(cells, count, 0.5)
        off = np.clip(state.residuals - medians[cells], -state.cut, state.cut)
        weights = np.broadcast_to(state.weights[:, 0], off.shape).astype(np.float64)
        mass = np.bincount(cells, weights, count)
        steps = np.bincount(cells, weights * off, count) / np.maximum(mass, 1.0)
        return np.asarray(medians + steps)[:, None]

    def weigh(self, state: ResidualState) -> int:
        """Set pulls to the weighted residuals, cut off."""
        return sum_of_pulls(residual.pulls, state, state.cut, state.scale)
