"""Huber's loss: squares of small residuals, and sizes of large ones.

It squares residuals r up to a cut δ, and has the loss δ(|r| - δ/2) beyond, so that outliers
pull no harder than rows at the cut. As in Friedman (2001, M_TreeBoost), δ is the quantile ``alpha``
of the absolute residuals in every round. A row pulls with its residual, clipped at ±δ. A cell adds
the median of its residuals plus the mean of their clipped differences from it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pacboost.boosters.booster import Floats
from pacboost.boosters.loss import Weights, mean_of
from pacboost.boosters.residual import Residual, ResidualState, sum_of_pulls
from pacboost.errors import invalid
from pacboost.hypotheses.hypothesis import Cells
from pacboost.kernels.native import native
from pacboost.numerics.exact import quantile_of
from pacboost.samples.sample import Sums, whole_weights


@dataclass(frozen=True)
class Huber(Residual):
    """Boosting for Huber's loss; ``alpha`` is the share of rows with squared residuals."""

    name: ClassVar[str] = "huber"
    title: ClassVar[str] = "Boosted regression by Huber's loss"
    potential: ClassVar[str] = "huber"
    parameters: ClassVar[Mapping[str, float | None]] = {"alpha": 0.9}

    learning_rate: float = 1.0
    alpha: float = 0.9
    grows_after: float = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.alpha < 1:
            rule = "must lie between 0 and 1: the share of rows that are not outliers"
            raise invalid("alpha", self.alpha, rule)

    def prepared(self, state: ResidualState) -> ResidualState:
        cut = quantile_of(np.abs(state.residuals), state.row_weights, self.alpha)
        cut = max(cut, state.unit)
        return replace(state, cut=cut, scale=math.ldexp(1.0, -math.frexp(cut)[1]))

    def best(self, state: ResidualState, sums: Sums, cells: Cells, *, shrunk: bool) -> Floats:
        count = len(sums.pulls)
        medians = state.quantiles(cells, count, 0.5)
        off = np.clip(state.residuals - medians[cells], -state.cut, state.cut)
        weights = np.broadcast_to(state.weights[:, 0], off.shape).astype(np.float64)
        mass = np.bincount(cells, weights, count)
        steps = np.bincount(cells, weights * off, count) / np.maximum(mass, 1.0)
        return np.asarray(medians + steps)[:, None]

    def weigh(self, state: ResidualState) -> int:
        return sum_of_pulls(native.residual_pulls, state, state.cut, state.scale)

    def mean(self, targets: Floats, scores: Floats, base: Floats) -> float:
        # the cut is a weighted quantile, which has the same bits everywhere for whole weights only
        weights = whole_weights(base, targets.size) if base.size > 1 else None
        return self.value(targets, scores, weights)

    def value(self, targets: Floats, scores: Floats, weights: Weights = None) -> float:
        """Return the mean loss, cut at the quantile ``alpha`` of the absolute residuals.

        It gets smaller when no absolute residual grows. Weights are whole numbers.
        """
        sizes = np.abs(targets - scores)
        cut = quantile_of(sizes, weights, self.alpha)
        costs = np.where(sizes <= cut, 0.5 * np.square(sizes), cut * (sizes - 0.5 * cut))
        return mean_of(costs, weights)
