"""Regression by residuals, with values in one exact unit; a file of ``losses`` holds each loss.

The state holds the scores F(x) as ``margins``; a row's residual is target - F(x). Every value is a
multiple of one unit, 2^-48 of the power of two above the largest target, so that scores up to 32
times that target add up exactly in any order. Sums over rows are sums of integers: weights, and
pulls, weight times residual in a scale that follows from the largest residual alone. The first
round is the best constant, and is not shrunk. Each value is multiplied by the learning rate η, and
no round raises the loss, unless l2 or a monotone constraint limits values.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import (
    Floats,
    Moved,
    check_shrinkage,
    grown,
    numbers_for,
    whole_values,
)
from pacboost.boosters.loss import Loss
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.kernels.native import native
from pacboost.kernels.team import team_for, together
from pacboost.numerics.exact import FRESH_TOTAL, VOTE_UNIT, quantiles_of_cells
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


class Residual(Loss[ResidualState]):
    """A booster of regression; a subclass defines pulls and the best value of a cell."""

    prior: ClassVar[bool] = True
    pull_type: ClassVar[type[np.int64 | np.int8]] = np.int64

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
        # a later tree may be a constant, too, and is shrunk
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
        return [getattr(self, name) for name in self.parameters]

    def stop(self, state: ResidualState) -> str | None:
        # smaller residuals than a unit would be rounded to nothing
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
        # pulls then lie in [-1, 1] times the weight, and use its 52 bits
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
