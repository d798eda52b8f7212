"""Poisson regression: counts whose mean is exp(F(x)).

The loss is the deviance 2(y·ln(y/μ) - y + μ) of μ = exp(F), for targets of 0 or more. Half of it
has the gradient μ - y and the curvature μ, so a cell asks for the factor Σ y / Σ μ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pacboost.boosters.base.log_link import LogLink, exponential
from pacboost.boosters.base.newton import Floats
from pacboost.errors import DataError


@dataclass(frozen=True)
class Poisson(LogLink):
    """The rules of Poisson regression; ``learning_rate`` scales what cells add.

    >>> import numpy as np
    >>> rules = Poisson()
    >>> state = rules.init(np.ones((3, 1), np.int8), np.ones(1), np.array([0.0, 1.0, 5.0]))
    >>> (state.pulls / state.pull_unit)[:, 0].tolist()       # y - 1, since exp(0) = 1
    [-1.0, 0.0, 4.0]
    """

    name: ClassVar[str] = "poisson"
    title: ClassVar[str] = "Boosted Poisson regression"
    potential: ClassVar[str] = "poisson"

    learning_rate: float = 1.0
    l2: float = 0.0
    """Added to the curvature Σ exp(F) of every cell."""

    def row_slopes(self, targets: Floats, scores: Floats) -> tuple[Floats, Floats]:
        """Give y - μ and μ."""
        means = exponential(scores)
        return targets - means, means

    def check_targets(self, targets: Floats, name: str) -> None:
        """Refuse negative targets, and targets that are all 0."""
        if (targets < 0).any():
            raise DataError(
                f"{name} holds {targets.min():g}, but loss='poisson' predicts counts: numbers of 0 "
                "or more. Use another loss, such as 'squared_error', or leave such rows out"
            )
        if name == "y" and not targets.any():
            raise DataError(
                "all targets are 0, and the logarithm of their mean, which loss='poisson' starts "
                "from, does not exist; give rows with larger targets, or use another loss"
            )
