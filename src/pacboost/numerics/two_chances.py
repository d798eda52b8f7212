"""Exact limits for a sum or a difference of two chances of which neither is known.

Outcomes are put in an order before anything is seen. If the outcomes up to the one that was seen
have a probability below delta for some pair of chances, that pair is ruled out; the largest sum
that is not ruled out is a limit that fails with probability delta at most, and the smallest that
can be had with this order (Buehler 1957). docs/proofs/rates.md.

Both problems here have a probability that falls in x and in y, for 0 ≤ x ≤ ``right`` and
0 ≤ y ≤ ``cap``. The pairs with x + y ≥ v are covered by strips of x: whatever lies in the strip
from a to b has y ≥ v - b, so that its probability is at most the one at (a, v - b). If that is
below delta for every strip, all these pairs are ruled out. Nothing depends on where a search for a
maximum would look.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.same_bits import exp, log, row_totals

Floats = NDArray[np.float64]
Probability = Callable[[Floats, Floats], Floats]

SLACK = 1e-9
"""Rounding errors of a probability, relative to it, with room to spare."""
UNITS = 2.0**-8
"""Limits are multiples of a power of two of about this, divided by the root of the rows."""
STRIPS, PARTS = 16, 4


def mean_of_two_upper(few: tuple[int, int], many: tuple[int, int], delta: float) -> float:
    """Bound (p + q)/2 for k ~ Bin(n, p) mistakes ``few`` = (k, n) and ``many`` alike, n no larger.

    Outcomes are in the order of k/n + l/m; of equal ones, those with fewer mistakes in the smaller
    sample come first.

    >>> mean_of_two_upper((5, 50), (3, 100), 0.05) < 0.1130
    True
    """
    (k, n), (m_k, m) = few, many
    seen = k * m + m_k * n
    if seen == 2 * n * m:
        return 1.0

    def probability(p: Floats, q: Floats) -> Floats:
        j, chances = _likely(n, p, delta, seen // m)
        rest = seen - j * m
        most = rest // n - ((rest % n == 0) & (j > k) & (n < m))
        return row_totals(chances * _below(most, m, q[:, None]))

    limit = _least_sum(probability, delta, 1.0, np.ones_like, k / n + m_k / m, n)
    return min(1.0, limit / 2)


def difference_upper(b: int, c: int, n: int, most: float, delta: float) -> float:
    """Bound p - q for counts b and c of n rows with chances p and q, if p + q is at most ``most``.

    Outcomes are in the order of b - c; of equal ones, those with smaller counts come first.

    >>> difference_upper(40, 10, 1000, 0.0725, 0.0225) < 0.0465
    True
    """
    if b == n:
        return 1.0

    def probability(x: Floats, p: Floats) -> Floats:
        q = np.maximum(most - x, 0.0)
        j, chances = _likely(n, q, delta, n)
        share = np.minimum(p / np.maximum(1 - q, 1e-300), 1.0)[:, None]
        return row_totals(chances * _below(b - c + j - (j > c), n - j, share))

    return _least_sum(probability, delta, most, lambda x: x, most + (b - c) / n, n) - most


def _least_sum(
    probability: Probability,
    delta: float,
    right: float,
    cap: Callable[[Floats], Floats],
    seen: float,
    rows: int,
) -> float:
    """Return a v so that all pairs with x + y ≥ v are ruled out, the least up to one unit."""
    unit = 2.0 ** math.floor(math.log2(UNITS / math.sqrt(rows)))
    top = right + float(cap(np.array([right]))[0])
    low, high = math.floor(seen / unit), math.ceil(top / unit) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if _ruled_out(middle * unit, probability, delta * (1 - SLACK), right, cap, unit):
            high = middle
        else:
            low = middle
    return high * unit


def _ruled_out(
    v: float,
    probability: Probability,
    delta: float,
    right: float,
    cap: Callable[[Floats], Floats],
    unit: float,
) -> bool:
    """Check whether strips cover all pairs with x + y ≥ v, each with a probability below delta."""
    width = right / STRIPS
    left: Floats = width * np.arange(STRIPS, dtype=np.float64)
    while left.size:
        left = left[v - left - width <= cap(left + width)]
        left = left[probability(left, np.maximum(v - left - width, 0.0)) >= delta]
        ends = left[v - left <= cap(left)]
        inside = probability(ends, np.maximum(v - ends, 0.0)) >= delta
        width /= PARTS
        if inside.any() or (left.size and width < unit / 64):
            return False
        left = (left[:, None] + width * np.arange(PARTS)).ravel()
    return True


def _likely(n: int, p: Floats, delta: float, most: int) -> tuple[NDArray[np.int64], Floats]:
    """Return numbers j ≤ most with P[Bin(n, p) = j] for every p; others have 2e-15·delta together.

    That is by Bernstein's inequality, with the largest variance.
    """
    from scipy.special import gammaln

    if not p.size:
        return np.zeros(1, dtype=np.int64), np.zeros((0, 1))
    nats = math.log(1e15 / delta)
    reach = math.sqrt(2 * nats * n * float((p * (1 - p)).max())) + 2 * nats / 3
    first, last = n * float(p.min()) - reach, n * float(p.max()) + reach
    j = np.arange(max(0, math.floor(first)), min(n, most, math.ceil(last)) + 1)
    choices = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1)
    with np.errstate(invalid="ignore"):
        hits = np.where(j == 0, 0.0, j * log(p)[:, None])
        others = np.where(j == n, 0.0, (n - j) * log(1 - p)[:, None])
    return j, exp(choices + hits + others)


def _below(most: NDArray[np.int64], n: int | NDArray[np.int64], p: Floats) -> Floats:
    """Return P[Bin(n, p) ≤ most]; 0 below 0, and 1 from n on."""
    from scipy.special import betainc

    inside = (most >= 0) & (most < n)
    found = betainc(np.where(inside, n - most, 1), np.where(inside, most + 1, 1), 1 - p)
    return np.asarray(np.where(inside, found, (most >= 0) * 1.0))
