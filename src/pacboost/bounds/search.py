"""Searches for the number of examples at which a bound is small enough."""

from __future__ import annotations

import math
from collections.abc import Callable

from pacboost.errors import NotCertified, ParameterError
from pacboost.numerics.checks import probability

MAX_ROWS = 2**50


def smallest(holds: Callable[[int], bool], start: int, what: str) -> int:
    """Find an n that passes while n - 1 does not, by doubling and bisection."""
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
    """Find the least n such that it and all larger numbers pass.

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
    """Find an n for which ⌈rate·n⌉ mistakes certify epsilon, but not for n - 1."""
    check_rate(rate, epsilon)
    return smallest(
        lambda n: bound(expected_mistakes(rate, n), n) <= epsilon, 1, f"a bound of {epsilon:g}"
    )


def expected_mistakes(rate: float, n: int) -> int:
    """Return the expected mistakes on n rows at this ``rate``, rounded up."""
    return min(n, math.ceil(rate * n * (1 - 1e-12)))


def check_rate(rate: float, epsilon: float) -> None:
    """Raise unless the target is above the expected error."""
    if not 0 <= rate < 1:
        raise ParameterError(f"rate is {rate!r}; a share of mistakes lies in [0, 1)")
    if rate >= probability("epsilon", epsilon):
        raise NotCertified(
            f"no number of rows certifies an error of {epsilon:g} if the classifier is wrong on a "
            f"share of {rate:g} of them; set a larger epsilon"
        )


def crossing(difference: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a rising function between ``low`` and ``high``."""
    from scipy.optimize import brentq

    return float(brentq(difference, low, high, xtol=1e-15, rtol=1e-14))
