"""Searches for the number of examples at which a bound is small enough."""

from __future__ import annotations

import math
from collections.abc import Callable

from pacboost.errors import NotCertified, ParameterError
from pacboost.numerics.checks import probability

MAX_ROWS = 2**50


def smallest(holds: Callable[[int], bool], start: int, what: str) -> int:
    """Find an n that passes while n - 1 does not (or n = start), by doubling and halving."""
    if holds(start):
        return start
    low, high = start, 2 * start
    while not holds(high):
        low, high = high, 2 * high
        if high > MAX_ROWS:
            raise NotCertified(f"{what} needs more than {MAX_ROWS:,} examples")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def from_here_on(between: Callable[[int, int], bool], start: int, sure: int, what: str) -> int:
    """Find the n from which on every number passes; all numbers from ``sure`` on do.

    ``between(a, b)`` may be True only if all from a to b pass, and must be exact for b = a.
    """
    first = reached = smallest(lambda n: between(n, n), start, what)
    step = 1
    while reached < sure:
        if between(reached, reached + step - 1):
            reached, step = reached + step, 2 * step
        elif step > 1:
            step //= 2
        else:
            first = reached = smallest(lambda n: between(n, n), reached + 1, what)
    return first


def examples_at_rate(bound: Callable[[int, int], float], epsilon: float, rate: float) -> int:
    """Find an n at which ⌈rate·n⌉ mistakes give a bound of at most epsilon; n - 1 rows do not."""
    check_rate(rate, epsilon)
    return smallest(
        lambda n: bound(expected_mistakes(rate, n), n) <= epsilon, 1, f"a bound of {epsilon:g}"
    )


def expected_mistakes(rate: float, n: int) -> int:
    """Round the mistakes of a classifier wrong on ``rate`` of n rows up to a whole number."""
    return min(n, math.ceil(rate * n * (1 - 1e-12)))


def check_rate(rate: float, epsilon: float) -> None:
    """Refuse a target that is not above the expected error."""
    if not 0 <= rate < 1:
        raise ParameterError(f"rate is {rate!r}; a share of mistakes lies in [0, 1)")
    if rate >= probability("epsilon", epsilon):
        raise NotCertified(
            f"no number of rows certifies a risk of {epsilon:g} for a classifier that is wrong "
            f"on a share of {rate:g} of them: ask for more than that share"
        )


def crossing(difference: Callable[[float], float], low: float, high: float) -> float:
    """Return the t between ``low`` and ``high`` at which a rising difference is 0."""
    from scipy.optimize import brentq

    return float(brentq(difference, low, high, xtol=1e-15, rtol=1e-14))
