"""What a booster asks a learner for, and the sums that the loop measures, as whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.sample import Signs

Wholes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Request:
    """Weights and pulls of every row and output, (rows, outputs).

    A pull is what a row asks the score to do, times its weight: Σ pulls / Σ weights is the mean a
    cell would have to add. Without pulls of their own, rows ask for their signs.
    """

    weights: Wholes
    pulls: Wholes | Signs
    """Pulls as whole numbers, or signs: then a pull is weight times sign."""
    weight: int
    """The sum of all weights."""
    pull: int
    """The sum of all absolute pulls."""
    criterion: str = "newton"
    """The default criterion of splits, for learners whose own is not set."""
    penalty: float = 0.0
    """Added to the weight of every cell, in units of the weights."""

    @property
    def signed(self) -> bool:
        """Whether the pulls are signs."""
        return self.pulls.dtype == np.int8

    def rows(self) -> Wholes:
        """One weight a row: how much its pulls amount to, for learners that know nothing else."""
        own = self.weights if self.signed else np.abs(self.pulls)
        total: Wholes = own.sum(axis=1, dtype=np.int64)
        return total


@dataclass(frozen=True, eq=False)
class Sums:
    """The exact sums of pulls and weights in every cell, (cells, outputs)."""

    pulls: Wholes
    weights: Wholes
    weight: int
    """All weights."""
    pull: int
    """All absolute pulls."""
    rows: int
    """The number of rows."""

    def means(self, penalty: float = 0.0) -> NDArray[np.float64]:
        """The mean pull of every cell; 0 where nothing weighs."""
        below = self.weights + penalty
        means: NDArray[np.float64] = np.zeros(below.shape)
        np.divide(self.pulls, below, out=means, where=below > 0)
        return means
