"""Boosters of regression, one for each loss.

**Square** fits the residuals in every round (Friedman 2001, LS_Boost). The target of a row is its
residual r = y - F(x), and a cell adds its weighted mean m_c, times the learning rate η. With W_c
for the weight of a cell, a round changes the mean loss by exactly

    mean (y - F)² falls by η(2 - η) Σ_c W_c m_c² / Σ W

(unless l2 or a monotone constraint limits values): it never rises, and the tree with the largest
Σ_c W_c m_c² lowers it most. That sum is Newton's criterion of splits.

**Absolute** fits the signs of the residuals (Friedman 2001, LAD), so that outliers pull no harder
than other rows. A cell adds the weighted median of its residuals, times the learning rate. The
median is the middle of all numbers that minimise Σ w|r - v|: the midpoint of a gap with half of the
weight on either side. Mean |y - F| is convex along the step, so no round raises it.

**Gamma** is for positive numbers whose mean is exp(F(x)) and whose spread grows with it. The loss
is the deviance 2(ln(μ/y) + y/μ - 1) of μ = exp(F), for targets above 0. Half of it has the gradient
1 - y/μ; its expected curvature 1 replaces the curvature y/μ of single rows, so that the factor of a
cell is the mean of y/μ.

**Huber** squares small residuals and takes the size of large ones. With a cut δ the loss of a
residual r is r²/2 up to δ and δ(|r| - δ/2) beyond, so that outliers pull no harder than rows at the
cut. As in Friedman (2001, M_TreeBoost), δ is the quantile ``alpha`` of the absolute residuals,
computed in every round: it shrinks as the fit improves. The target of a row is its residual,
clipped at ±δ. A cell adds the median of its residuals plus the mean of their differences from it,
clipped at ±δ, times the learning rate.

**Poisson** is for counts whose mean is exp(F(x)). The loss is the deviance 2(y·ln(y/μ) - y + μ) of
μ = exp(F), for targets of 0 or more. Half of it has the gradient μ - y and the curvature μ, so the
factor of a cell is Σ y / Σ μ.

**Quantile** fits the side of the prediction on which the targets lie. The pinball loss of a share q
costs q·r if the residual r is positive, and (1 - q)·|r| if it is negative; the q-quantile minimises
its mean. A row pulls with q if its target lies above the prediction and with -(1 - q) if it lies
below, at any distance. A cell adds the weighted q-quantile of its residuals, times the learning
rate: the exact minimum of the loss in that cell. The loss is convex along the step, so no round
raises it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pacboost.boosters.booster import Floats, check_not_negative
from pacboost.boosters.newton import LogLink, exponential
from pacboost.boosters.residual import Residual, ResidualState, sum_of_pulls
from pacboost.errors import DataError, invalid
from pacboost.hypotheses.hypothesis import Cells
from pacboost.kernels import residuals
from pacboost.numerics.exact import quantile_of
from pacboost.samples.sample import Sums


@dataclass(frozen=True)
class Square(Residual):
    """The rules of least squares; ``learning_rate`` scales values of cells, ``l2`` shrinks them.

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

    def best(self, state: ResidualState, sums: Sums, cells: Cells, *, shrunk: bool) -> Floats:
        return sums.means(self.penalty(state) if shrunk else 0.0) / state.scale

    def weigh(self, state: ResidualState) -> int:
        return sum_of_pulls(residuals.pulls, state, state.cut, state.scale)

    def penalty(self, state: ResidualState) -> float:
        return self.l2 * state.weight / state.targets.size


@dataclass(frozen=True)
class Absolute(Residual):
    """The rules of least absolute deviations; ``learning_rate`` scales the values of cells."""

    name: ClassVar[str] = "absolute"
    title: ClassVar[str] = "Boosted regression of medians"
    potential: ClassVar[str] = "absolute"
    pull_type: ClassVar[type[np.int64 | np.int8]] = np.int8

    learning_rate: float = 1.0

    def best(self, state: ResidualState, sums: Sums, cells: Cells, *, shrunk: bool) -> Floats:
        return state.quantiles(cells, len(sums.pulls), 0.5)[:, None]

    def weigh(self, state: ResidualState) -> int:
        return sum_of_pulls(residuals.sides, state, 1.0, -1.0, state.unit)


@dataclass(frozen=True)
class Gamma(LogLink):
    """The rules of gamma regression; ``learning_rate`` scales the values of cells."""

    name: ClassVar[str] = "gamma"
    title: ClassVar[str] = "Boosted gamma regression"
    potential: ClassVar[str] = "gamma"

    learning_rate: float = 1.0
    l2: float = 0.0
    """Added to the number of rows of every cell."""

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


@dataclass(frozen=True)
class Huber(Residual):
    """The rules of Huber's loss; ``alpha`` is the share of rows whose squares count."""

    name: ClassVar[str] = "huber"
    title: ClassVar[str] = "Boosted regression by Huber's loss"
    potential: ClassVar[str] = "huber"
    setting: ClassVar[str] = "alpha"

    learning_rate: float = 1.0
    alpha: float = 0.9

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
        return sum_of_pulls(residuals.pulls, state, state.cut, state.scale)


@dataclass(frozen=True)
class Poisson(LogLink):
    """The rules of Poisson regression; ``learning_rate`` scales the values of cells."""

    name: ClassVar[str] = "poisson"
    title: ClassVar[str] = "Boosted Poisson regression"
    potential: ClassVar[str] = "poisson"

    learning_rate: float = 1.0
    l2: float = 0.0
    """Added to the curvature Σ exp(F) of every cell."""

    def row_slopes(self, targets: Floats, scores: Floats) -> tuple[Floats, Floats]:
        """Return y - μ and μ."""
        means = exponential(scores)
        return targets - means, means

    def check_targets(self, targets: Floats, name: str) -> None:
        if (targets < 0).any():
            raise DataError(
                f"{name} holds {targets.min():g}, but the loss 'poisson' predicts counts: numbers "
                "of 0 or more. Use another loss, such as 'squared_error', or drop such rows"
            )
        if name == "y" and not targets.any():
            raise DataError(
                "all targets are 0, but the loss 'poisson' needs the logarithm of their mean; add "
                "rows with larger targets, or use another loss"
            )


@dataclass(frozen=True)
class Quantile(Residual):
    """The rules of regression of a ``quantile``; ``learning_rate`` scales the values of cells."""

    name: ClassVar[str] = "quantile"
    title: ClassVar[str] = "Boosted regression of quantiles"
    potential: ClassVar[str] = "quantile"
    setting: ClassVar[str] = "quantile"

    learning_rate: float = 1.0
    quantile: float = 0.5

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
        return sum_of_pulls(residuals.sides, state, above, above - 1.0, state.unit)
