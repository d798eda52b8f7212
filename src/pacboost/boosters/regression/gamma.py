"""Gamma regression: positive numbers whose mean is exp(F(x)), and whose spread grows with it.

The loss is the deviance 2(ln(μ/y) + y/μ - 1) of μ = exp(F), for targets above 0. Half of it has the
gradient 1 - y/μ; its expected curvature is 1, which stands in for the curvature y/μ of single rows,
so that a cell asks for the mean of y/μ as a factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pacboost.boosters.base.log_link import LogLink, exponential
from pacboost.boosters.base.newton import Floats
from pacboost.errors import DataError


@dataclass(frozen=True)
class Gamma(LogLink):
    """The rules of gamma regression; ``learning_rate`` scales what cells add.

    >>> rules = Gamma()
    >>> state = rules.init(np.ones((3, 1), np.int8), np.ones(1), np.array([0.5, 1.0, 5.0]))
    >>> (state.pulls / state.pull_unit)[:, 0].tolist()       # y - 1, since exp(0) = 1
    [-0.5, 0.0, 4.0]
    """

    name: ClassVar[str] = "gamma"
    title: ClassVar[str] = "Boosted gamma regression"
    potential: ClassVar[str] = "gamma"

    learning_rate: float = 1.0
    l2: float = 0.0
    """Added to the number of rows of every cell."""

    def row_slopes(self, targets: Floats, scores: Floats) -> tuple[Floats, Floats]:
        """Give y/μ - 1 and 1."""
        return targets * exponential(scores, -1.0) - 1.0, np.ones(targets.size)

    def check_targets(self, targets: Floats, name: str) -> None:
        """Refuse targets that are not above 0."""
        if (targets <= 0).any():
            raise DataError(
                f"{name} holds {targets.min():g}, but loss='gamma' predicts numbers above 0. Use "
                "another loss, such as 'poisson' (0 or more) or 'squared_error', or leave such "
                "rows out"
            )
