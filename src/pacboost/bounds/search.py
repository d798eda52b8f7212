"""From a bound back to a number of examples: the first n at which it is small enough."""

from __future__ import annotations

import math
from collections.abc import Callable

from pacboost.errors import NotCertified, ParameterError
from pacboost.numerics.checks import probability

MOST_ROWS = 2**50


def smallest(holds: Callable[[int], bool], start: int, what: str) -> int:
    """Find an n that passes where n - 1 does not (or n = start), by doubling and halving.

    >>> smallest(lambda n: 1 / n <= 0.03, 1, "a bound of 0.03")
    34
    """
    if holds(start):
        return start
    low, high = start, 2 * start
    while not holds(high):
        low, high = high, 2 * high
        if high > MOST_ROWS:
            raise NotCertified(f"{what} needs more than {MOST_ROWS:,} examples")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def expected_mistakes(rate: float, n: int) -> int:
    """Round the mistakes of a classifier wrong on ``rate`` of n rows up to a whole number.

    >>> expected_mistakes(0.05, 130)
    7
    """
    return min(n, math.ceil(rate * n * (1 - 1e-12)))


def check_rate(rate: float, epsilon: float) -> None:
    """Refuse a target below the error that is expected anyway."""
    if not 0 <= rate < 1:
        raise ParameterError(f"rate is {rate!r}; a share of mistakes lies in [0, 1)")
    if rate >= probability("epsilon", epsilon):
        raise NotCertified(
            f"no number of rows certifies a risk of {epsilon:g} for a classifier that is wrong "
            f"on a share of {rate:g} of them: ask for more than that share"
        )
