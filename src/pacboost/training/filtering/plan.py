"""The plan of a run of boosting by filtering, and its sequential tests on fresh draws."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import invalid
from pacboost.numerics.checks import probability
from pacboost.numerics.same_bits import total
from pacboost.numerics.sequences import kt_lower, kt_upper

MAX_READ_PER_ROW = 8
"""Maximum number of rows that a refill reads for each row that it may accept."""
SHARE_OF_EPSILON = 0.75
"""c: boosting continues while μ is surely above c·ε, and stops once it is surely below ε."""
KEPT = 0.4
"""The share of the promised edge that every rule has which passes its test."""


@dataclass(frozen=True)
class FilteringPlan:
    """Sizes, thresholds and the failure probability.

    A run boosts on a sample, with weights corrected for how it was drawn, as long as at least a
    share ``keep`` of it would still be accepted; in faithful.py, for one round.
    """

    rounds: int
    rows: int
    first_rows: int
    """Size of the first sample; each sample is 1.5 times as large as the one before."""
    epsilon: float | None = None
    delta: float = 0.05
    seed: int = 0
    edge: float | None = None
    keep: float = 0.7

    def __post_init__(self) -> None:
        probability("delta", self.delta)
        if self.epsilon is not None:
            probability("epsilon", self.epsilon)
        if self.edge is not None and not 0 < self.edge < 1:
            rule = "is a correlation, 1 - 2·error, and lies between 0 and 1"
            raise invalid("edge", self.edge, rule)

    @property
    def floor(self) -> float:
        """The advantage 1/2 - error below which a rule is rejected: half of the promised one."""
        return 0.01 if self.edge is None else self.edge / 4

    def rows_of(self, refill: int) -> int:
        # 1.5^60 exceeds any number of rows, and larger powers would overflow in the end
        return int(min(self.rows, self.first_rows * 1.5 ** min(refill, 60)))

    def rows_for_edge(self, log_size: float | None, delta: float) -> int:
        """Return the number of examples from which a learner gets half of the promised edge.

        8 ln(2G/delta)/gamma² for the best of G rules, gamma = edge/2: all G errors are then within
        gamma/4 of the true ones, so the error of the rule that seems best exceeds the least error
        by at most gamma/2. The maximum if G is unknown.
        """
        if log_size is None or self.edge is None:
            return self.rows
        need = 8 * (math.log(2 / delta) + log_size) / (self.edge / 2) ** 2
        return min(self.rows, math.ceil(need))


def draws_for(kept: int, mean: float, delta: float) -> int:
    """Return the draws that give ``kept`` accepted examples with probability 1 - delta, if μ is
    ``mean``.

    N = (k + L + √(L² + 2kL))/μ with L = ln(1/delta), by Chernoff's bound on the lower tail."""
    log = math.log(1 / probability("delta", delta))
    return math.ceil((kept + log + math.sqrt(log * log + 2 * kept * log)) / mean)


def share_of(delta: float, number: int) -> float:
    """Return the part of delta for test number 0, 1, 2, …; the sum of all is below delta.

    >>> sum(share_of(0.05, k) for k in range(1000)) < 0.05
    True
    """
    return delta / ((number + 1) * (number + 2))


@dataclass
class MeanTest:
    """A confidence sequence: the interval holds for any rule that decides when to stop drawing."""

    delta: float
    count: int = 0
    total: float = 0.0

    def add(self, numbers: NDArray[np.float64]) -> None:
        self.count += numbers.size
        # rounding may lift a sum of numbers up to 1 above their count
        self.total = min(float(self.count), self.total + total(numbers))

    @property
    def mean(self) -> float:
        """The mean so far; 1 without any numbers."""
        return self.total / self.count if self.count else 1.0

    @property
    def lower(self) -> float:
        return kt_lower(self.total, self.count, self.delta) if self.count else 0.0

    @property
    def upper(self) -> float:
        return kt_upper(self.total, self.count, self.delta) if self.count else 1.0


PART = 0.8
TAU = 1 / 3


@dataclass
class EdgeTest:
    """Estimate an edge from examples the filter kept (``getEdge`` of Bradley and Schapire 2007).

    After n examples of which a share of 1/2 + u was answered right, |u - g| ≤ A for all n at once
    with probability 1 - delta, A = √(ln(2n(n+1)/delta)/2n); the factor 2 pays for both sides. Once
    |u| ≥ A(1 + 1/tau), u/(1 + tau) lies between g/(1 + 2 tau) and g. A rule is accepted once u - A
    is at least PART of the floor besides, and rejected once u + A is below the floor. So accepted
    rules surely have PART of the floor, rules that have the floor are surely not rejected, and one
    of the two happens as soon as A is below a tenth of the floor."""

    delta: float
    floor: float
    count: int = 0
    right: int = 0

    def add(self, right: int, count: int) -> None:
        self.right += right
        self.count += count

    @property
    def _advantage(self) -> float:
        return self.right / self.count - 0.5

    @property
    def _width(self) -> float:
        n = self.count
        return math.sqrt(math.log(2 * n * (n + 1) / self.delta) / (2 * n))

    @property
    def found(self) -> float | None:
        """A lower bound on the advantage over guessing, once the rule is accepted."""
        if not self.count or self.hopeless:
            return None
        # |u| ≥ A(1 + 1/tau) gives u/(1 + tau) ≤ g, and u - A ≥ PART·floor gives g ≥ PART·floor
        threshold = max(self._width * (1 + 1 / TAU), self._width + PART * self.floor)
        if self._advantage < threshold:
            return None
        return max(self._advantage / (1 + TAU), PART * self.floor)

    @property
    def hopeless(self) -> bool:
        """Whether the advantage is surely below the floor, so that the rule is rejected."""
        return self.count > 0 and self._advantage + self._width < self.floor
