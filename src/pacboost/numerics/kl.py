"""The Kullback-Leibler divergence between two coins, and its inverses.

kl(q‖p) = q ln(q/p) + (1-q) ln((1-q)/(1-p)). Seen from q it grows on both sides, so it has an
inverse on each side. Both are computed by bisection and rounded outward.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from pacboost.errors import ParameterError
from pacboost.numerics.checks import share

OUTWARD = 1e-12
"""Relative outward shift of a computed end, far above its rounding error."""


def kl(q: float, p: float) -> float:
    """Return the divergence kl(q‖p) of a coin of chance p from a share q, in nats.

    Each logarithm is taken of a number no less than 1, so that nothing cancels when p is near q.
    """
    share("q", q)
    share("p", p)
    if p == q:
        return 0.0
    if p > q:
        return one_sided_kl(p - q, q, 1 - q, 1 - p)
    return one_sided_kl(q - p, 1 - q, q, p)


def kl_upper(q: float, c: float) -> float:
    """Return sup{p ≥ q : kl(q‖p) ≤ c}, rounded up: the largest chance within c of a share q."""
    return min(math.nextafter(upper_root(q, c) * (1 + OUTWARD), math.inf), 1.0)


def kl_lower(q: float, c: float) -> float:
    """Return inf{p ≤ q : kl(q‖p) ≤ c}, rounded down: the least chance within c of a share q."""
    return max(math.nextafter(lower_root(q, c) * (1 - OUTWARD), 0.0), 0.0)


def upper_root(q: float, c: float) -> float:
    """Return ``kl_upper`` without outward rounding."""
    _check(q, c)
    if q == 0:
        return -math.expm1(-c)
    if q == 1 or c == math.inf:
        return 1.0
    return turning_point(lambda p: one_sided_kl(p - q, q, 1 - q, 1 - p) > c, q, 1.0)


def lower_root(q: float, c: float) -> float:
    """Return ``kl_lower`` without outward rounding."""
    _check(q, c)
    if q == 0 or c == math.inf:
        return 0.0
    if q == 1:
        return math.exp(-c)
    # kl(q‖p) ≥ q ln(q/p) + (1-q) ln(1-q), so the root is not below `low`.
    low = q * math.exp(-(c - (1 - q) * math.log1p(-q)) / q) / 2
    if low == 0:
        return 0.0
    return turning_point(lambda p: one_sided_kl(q - p, 1 - q, q, p) <= c, low, q)


def one_sided_kl(step: float, near: float, rest: float, end: float) -> float:
    """Return kl(q‖p) for p = q + ``step``, q = ``near``, 1 - q = ``rest`` and 1 - p = ``end``.

    Pass 1 - q for q if p is below q. Separate parts avoid the cancellation of 1 - q.
    """
    if end <= 0:
        return math.inf
    # near may be so small that step/near overflows; its term is then 0.
    first = near * math.log1p(step / near) if step < near * 1e300 else 0.0
    # end may be so small that step/end overflows, where 1 + step/end and step/end are the same.
    second = math.log1p(step / end) if step < end * 1e300 else math.log(step) - math.log(end)
    return max(rest * second - first, 0.0)


def turning_point(beyond: Callable[[float], bool], low: float, high: float) -> float:
    """Return the number from ``low`` to ``high`` where ``beyond`` turns true, to the last bit."""
    while True:
        # Geometric steps first: an end may lie many powers of two away.
        middle = math.sqrt(low) * math.sqrt(high) if high > 2 * low else low + (high - low) / 2
        if not low < middle < high:
            return middle
        if beyond(middle):
            high = middle
        else:
            low = middle


def _check(q: float, c: float) -> None:
    share("q", q)
    if not c >= 0:
        raise ParameterError(f"c is {c!r}; a divergence is 0 or more")
