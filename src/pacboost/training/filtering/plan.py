"""What a run of boosting by filtering is to do, and how much of everything it may use."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pacboost.errors import ParameterError
from pacboost.numerics.checks import probability

KEPT = 0.4
"""Every rule that passes its test surely has this part of the promised edge."""


@dataclass(frozen=True)
class FilteringPlan:
    """Sizes, thresholds and the failure probability.

    A sample is boosted on, with weights corrected for how it was drawn, as long as at least
    ``keep`` of it would still be kept; by the book (faithful.py), for one round.
    """

    rounds: int
    rows: int
    """The most rows a sample may have."""
    first_rows: int
    """How many the first sample has; each has half as many again as the one before."""
    epsilon: float | None = None
    delta: float = 0.05
    seed: int = 0
    edge: float | None = None
    """The edge that is promised, if one is."""
    keep: float = 0.7
    offered: int = 8
    """A refill reads at most so many times as many rows as it may keep, where reading costs."""
    share: float = 0.75
    """c: boosting goes on where μ is surely above c·ε, and stops where it is surely below ε."""

    def __post_init__(self) -> None:
        probability("delta", self.delta)
        if self.epsilon is not None and not 0 < self.epsilon < 1:
            raise ParameterError(f"epsilon is {self.epsilon}; it must lie between 0 and 1")
        if self.edge is not None and not 0 < self.edge < 1:
            raise ParameterError(
                f"edge is {self.edge}; it is a correlation, 1 - 2·error, and lies between 0 and 1"
            )

    @property
    def floor(self) -> float:
        """The advantage 1/2 - error below which a rule is rejected: half of what is promised."""
        return 0.01 if self.edge is None else self.edge / 4

    def rows_of(self, refill: int) -> int:
        """How many rows a sample is to have."""
        return int(min(self.rows, self.first_rows * 1.5 ** min(refill, 60)))

    def rows_for_edge(self, log_size: float | None, delta: float) -> int:
        """How many examples a learner needs so that half of the promised edge survives.

        8 ln(2G/delta)/gamma² for the best of G rules, gamma = edge/2: all G errors are then within
        gamma/4 of the true ones, so the rule that seems best errs at most gamma/2 more often than
        the one that is. As many as there may be where G is not known.
        """
        if log_size is None or self.edge is None:
            return self.rows
        need = 8 * (math.log(2 / delta) + log_size) / (self.edge / 2) ** 2
        return min(self.rows, math.ceil(need))


def draws_for(kept: int, mean: float, delta: float) -> int:
    """How many draws give so many kept examples, with probability 1 - delta, if μ = ``mean``.

    N = (k + L + √(L² + 2kL))/μ with L = ln(1/delta), by Chernoff's bound on the lower tail.

    >>> draws_for(500, 0.1, 0.01)
    5727
    """
    log = math.log(1 / probability("delta", delta))
    return math.ceil((kept + log + math.sqrt(log * log + 2 * kept * log)) / mean)
