"""Estimate a mean in [0, 1] from fresh draws, looked at as often as one likes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.same_bits import total as sum_of
from pacboost.numerics.sequences import kt_lower, kt_upper


def share_of(delta: float, number: int) -> float:
    """Return test number 0, 1, 2, … its part of a failure probability: they sum to less than it.

    >>> sum(share_of(0.05, k) for k in range(1000)) < 0.05
    True
    """
    return delta / ((number + 1) * (number + 2))


@dataclass
class MeanTest:
    """A confidence sequence: whatever decides when to stop drawing, the interval holds.

    >>> test = MeanTest(delta=0.05)
    >>> test.add(np.array([1.0] * 100 + [0.0] * 900))
    >>> round(test.upper, 4), round(test.lower, 4)
    (0.1382, 0.0689)
    """

    delta: float
    count: int = 0
    total: float = 0.0

    def add(self, numbers: NDArray[np.float64]) -> None:
        """See more numbers."""
        self.count += numbers.size
        self.total = min(float(self.count), self.total + sum_of(numbers))

    @property
    def mean(self) -> float:
        """The mean so far; 1 before anything is known."""
        return self.total / self.count if self.count else 1.0

    @property
    def lower(self) -> float:
        """The lower end."""
        return kt_lower(self.total, self.count, self.delta) if self.count else 0.0

    @property
    def upper(self) -> float:
        """The upper end."""
        return kt_upper(self.total, self.count, self.delta) if self.count else 1.0


PART = 0.8


@dataclass
class EdgeTest:
    """Estimate an edge from examples the filter kept (``getEdge`` of Bradley and Schapire 2007).

    After n examples of which a share of 1/2 + u was answered right, |u - g| ≤ A for all n at once
    with probability 1 - delta, A = √(ln(2n(n+1)/delta)/2n); the factor 2 pays for both sides. Once
    |u| ≥ A(1 + 1/tau), u/(1 + tau) lies between g/(1 + 2 tau) and g. A rule is accepted once u - A
    is at least PART of the floor besides, and rejected once u + A is below the floor. So accepted
    rules surely have PART of the floor, rules that have the floor are surely not rejected, and one
    of the two happens as soon as A is below a tenth of the floor.

    >>> test = EdgeTest(delta=0.01, floor=0.02)
    >>> test.add(right=7000, count=10_000); round(test.found or 0, 3)
    0.15
    """

    delta: float
    floor: float
    tau: float = 1 / 3
    count: int = 0
    right: int = 0

    def add(self, right: int, count: int) -> None:
        """See more examples."""
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
        """The advantage over guessing that is surely there, if it is known."""
        if not self.count or self.hopeless:
            return None
        least = max(self._width * (1 + 1 / self.tau), self._width + PART * self.floor)
        if self._advantage < least:
            return None
        return max(self._advantage / (1 + self.tau), PART * self.floor)

    @property
    def hopeless(self) -> bool:
        """Whether the advantage is surely below the floor, so that the rule is rejected."""
        return self.count > 0 and self._advantage + self._width < self.floor
