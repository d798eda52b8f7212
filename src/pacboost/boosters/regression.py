"""Boosters of regression by residuals, one for each loss, with values in one exact unit.

The state holds the scores F(x) as ``margins``; a row's residual is target - F(x). Every value is a
multiple of one unit, 2^-48 of the power of two above the largest target, so that scores up to 32
times that target add up exactly in any order. Sums over rows are sums of integers: weights, and
pulls, weight times residual in a scale that follows from the largest residual alone. The first
round is the best constant, and is not shrunk. Each value is multiplied by the learning rate η, and
no round raises the loss, unless l2 or a monotone constraint limits values.

**Square** fits the residuals (Friedman 2001, LS_Boost): a cell adds its weighted mean m_c. With W_c
for the weight of a cell, mean (y - F)² falls by exactly η(2 - η) Σ_c W_c m_c² / Σ W.

**Absolute** fits the signs of the residuals (Friedman 2001, LAD), so that outliers pull no harder
than other rows. A cell adds the weighted median of its residuals; of several, the midpoint.

**Gamma** is for positive numbers whose mean is exp(F(x)) and whose spread grows with it. The loss
is the deviance 2(ln(μ/y) + y/μ - 1) of μ = exp(F). Half of it has the gradient 1 - y/μ; its
expected curvature 1 replaces y/μ of single rows, so that the factor of a cell is the mean of y/μ.

**Huber** squares residuals r up to a cut δ, and has the loss δ(|r| - δ/2) beyond, so that outliers
pull no harder than rows at the cut. As in Friedman (2001, M_TreeBoost), δ is the quantile ``alpha``
of the absolute residuals in every round. A row pulls with its residual, clipped at ±δ. A cell adds
the median of its residuals plus the mean of their clipped differences from it.

**Poisson** is for counts whose mean is exp(F(x)). The loss is the deviance 2(y·ln(y/μ) - y + μ) of
μ = exp(F). Half of it has the gradient μ - y and the curvature μ, so the factor of a cell is
Σ y / Σ μ.

**Quantile** has the pinball loss of a share q: q·r for a positive residual r, and (1 - q)·|r| for a
negative one. A row pulls with q if its target lies above the prediction and with -(1 - q) if it
lies below. A cell adds the weighted q-quantile of its residuals.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import (
    Booster,
    Floats,
    Moved,
    check_not_negative,
    check_shrinkage,
    grown,
    numbers_for,
    whole_values,
)
from pacboost.boosters.newton import LogLink, exponential
from pacboost.errors import DataError, invalid
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.kernels.native import native
from pacboost.kernels.team import team_for, together
from pacboost.numerics.exact import FRESH_TOTAL, VOTE_UNIT, quantile_of, quantiles_of_cells
from pacboost.numerics.same_bits import total
from pacboost.samples.sample import Request, Signs, Sums

BITS_OF_LARGEST_TARGET = 48
"""The largest target is below 2 to this power, in units."""

ALL_MET = "every target is met"


@dataclass(frozen=True, eq=False)
class ResidualState:
    """Scores of every row, their targets, and the pulls of the rows."""

    targets: Floats
    margins: Floats
    weights: NDArray[np.int64]
    pulls: NDArray[Any]
    """Integers, or signs that are multiplied by the weights."""
    unit: float
    weighted: bool
    weight: int
    pull: int = 0
    largest: float = 0.0
    scale: float = 1.0
    """The factor from residuals to pulls, a power of two."""
    cut: float = math.inf
    """The size at which pulls are clipped; infinite if they are not."""
    cast: list[float] = field(default_factory=list)

    @property
    def residuals(self) -> Floats:
        return self.targets - self.margins[:, 0]

    @property
    def row_weights(self) -> NDArray[np.int64] | None:
        """The whole weight of every row, None if all are equal."""
        return self.weights[:, 0] if self.weighted else None

    def quantiles(self, cells: Cells, count: int, share: float) -> Floats:
        return quantiles_of_cells(self.residuals, self.row_weights, share, cells, count)


class Residual(Booster[ResidualState]):
    """A booster of regression; a subclass defines pulls and the best value of a cell."""

    prior: ClassVar[bool] = True
    pull_type: ClassVar[type[np.int64 | np.int8]] = np.int64
    setting: ClassVar[str] = ""
    """The parameter that must be the same in all rounds of a model, if any."""

    learning_rate: float
    grows_after: float
    """The number of rounds after which the learning rate grows."""

    def __post_init__(self) -> None:
        check_shrinkage("learning_rate", self.learning_rate)

    def init(self, signs: Signs, base: Floats, targets: Floats | None = None) -> ResidualState:
        """Start with all scores at 0; a row weighs at least one unit."""
        targets = numbers_for(self, targets)
        rows = targets.size
        relative = base / base.max()
        mass = total(relative) if relative.size > 1 else float(rows)
        units = np.maximum(np.rint(relative * (FRESH_TOTAL / mass)), 1.0).astype(np.int64)
        weights = np.broadcast_to(units, (rows,)).copy()[:, None]
        state = ResidualState(
            targets=targets,
            margins=np.zeros((rows, 1)),
            weights=weights,
            pulls=np.zeros((rows, 1), dtype=self.pull_type),
            unit=unit_of(targets),
            weighted=base.size > 1,
            weight=int(weights.sum()),
        )
        return self._weigh(state)

    def unit(self, state: ResidualState) -> float:
        return state.unit

    def values(self, state: ResidualState, sums: Sums, cells: Cells) -> CellValues:
        first = not state.cast and len(sums.pulls) == 1
        rate = 1.0 if first else grown(self.learning_rate, len(state.cast), self.grows_after)
        return whole_values(rate * self.best(state, sums, cells, shrunk=not first), state.unit)

    def request(self, state: ResidualState) -> Request:
        penalty = self.penalty(state)
        return Request(state.weights, state.pulls, state.weight, state.pull, "newton", penalty)

    def penalty(self, state: ResidualState) -> float:
        """Return the penalty that is added to the weight of every cell."""
        return 0.0

    @abstractmethod
    def best(self, state: ResidualState, sums: Sums, cells: Cells, *, shrunk: bool) -> Floats:
        """Return the best value of each cell, (cells, 1)."""

    @abstractmethod
    def weigh(self, state: ResidualState) -> int:
        """Set the pulls of all rows, and return the sum of their absolute values."""

    def prepared(self, state: ResidualState) -> ResidualState:
        """Update settings that depend on the scores, such as the cut of Huber's loss."""
        return state

    def move(self, state: ResidualState, moved: Moved) -> ResidualState:
        state.cast.append(1.0)
        return self._weigh(state, moved)

    def memory(self, state: ResidualState) -> list[float]:
        return [getattr(self, self.setting)] if self.setting else []

    def stop(self, state: ResidualState) -> str | None:
        return ALL_MET if state.largest < state.unit else None

    def _weigh(self, state: ResidualState, moved: Moved | None = None) -> ResidualState:
        rows = state.targets.size
        cells = np.zeros(rows, dtype=np.uint8) if moved is None else moved.cells
        values = np.zeros((1, 1)) if moved is None else moved.values
        largest_of_members = np.zeros(team_for(rows))
        scores = state.margins.reshape(-1)
        arguments = cells, values.reshape(-1), state.targets, scores, largest_of_members
        together(native.advance, *arguments, at_most=largest_of_members.size)
        largest = float(largest_of_members.max())
        scale = math.ldexp(1.0, -math.frexp(max(largest, state.unit))[1])
        state = self.prepared(replace(state, largest=largest, scale=scale))
        return replace(state, pull=max(1, self.weigh(state)))


def sum_of_pulls(kernel: Any, state: ResidualState, *settings: float) -> int:
    """Compute the pulls with a kernel; return the sum of their sizes."""
    sums = np.zeros(team_for(state.targets.size), dtype=np.int64)
    columns = (state.margins, state.weights, state.pulls)
    scores, weights, pulls = (column.reshape(-1) for column in columns)
    arguments = state.targets, scores, weights, *settings, pulls, sums
    together(kernel, *arguments, at_most=sums.size)
    return int(sums.sum())


def unit_of(targets: Floats) -> float:
    """Return the unit of values: a power of two, 2**-48 of the one above the largest target.

    >>> unit_of(np.array([3.0, -1000.0])) == 2.0 ** (10 - 48)
    True
    """
    largest = float(np.abs(targets).max())
    if largest == 0:
        return VOTE_UNIT
    return math.ldexp(1.0, math.frexp(largest)[1] - BITS_OF_LARGEST_TARGET)


@dataclass(frozen=True)
class Square(Residual):
    """Boosting for the squared error; ``learning_rate`` scales cells, ``l2`` shrinks them."""

    name: ClassVar[str] = "square"
    title: ClassVar[str] = "Boosted regression"
    potential: ClassVar[str] = "square"

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


@dataclass(frozen=True)
class Absolute(Residual):
    """Boosting for the absolute error; ``learning_rate`` scales the values of cells."""

    name: ClassVar[str] = "absolute"
    title: ClassVar[str] = "Boosted regression of medians"
    potential: ClassVar[str] = "absolute"
    pull_type: ClassVar[type[np.int64 | np.int8]] = np.int8

    learning_rate: float = 1.0
    grows_after: float = math.inf

    def best(self, state: ResidualState, sums: Sums, cells: Cells, *, shrunk: bool) -> Floats:
        return state.quantiles(cells, len(sums.pulls), 0.5)[:, None]

    def weigh(self, state: ResidualState) -> int:
        return sum_of_pulls(native.residual_sides, state, 1.0, -1.0, state.unit)


@dataclass(frozen=True)
class Gamma(LogLink):
    """Boosting for the gamma deviance; ``learning_rate`` scales the values of cells."""

    name: ClassVar[str] = "gamma"
    title: ClassVar[str] = "Boosted gamma regression"
    potential: ClassVar[str] = "gamma"

    learning_rate: float = 1.0
    l2: float = 0.0
    """Added to the number of rows of every cell."""
    grows_after: float = math.inf

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
    """Boosting for Huber's loss; ``alpha`` is the share of rows with squared residuals."""

    name: ClassVar[str] = "huber"
    title: ClassVar[str] = "Boosted regression by Huber's loss"
    potential: ClassVar[str] = "huber"
    setting: ClassVar[str] = "alpha"

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


@dataclass(frozen=True)
class Poisson(LogLink):
    """Boosting for the Poisson deviance; ``learning_rate`` scales the values of cells."""

    name: ClassVar[str] = "poisson"
    title: ClassVar[str] = "Boosted Poisson regression"
    potential: ClassVar[str] = "poisson"

    learning_rate: float = 1.0
    l2: float = 0.0
    """Added to the curvature Σ exp(F) of every cell."""
    grows_after: float = math.inf

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
    """Boosting for the loss of a ``quantile``; ``learning_rate`` scales values of cells."""

    name: ClassVar[str] = "quantile"
    title: ClassVar[str] = "Boosted regression of quantiles"
    potential: ClassVar[str] = "quantile"
    setting: ClassVar[str] = "quantile"

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
