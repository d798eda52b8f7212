"""Exact bounds on the sum or the difference of two unknown probabilities.

Outcomes are put in an order before the data are seen. If the outcomes up to the observed one have
a probability below delta for some pair of chances, that pair is ruled out. The largest sum that is
not ruled out is a bound that fails with probability at most delta, and the smallest such bound for
this order (Buehler 1957). docs/proofs/rates.md.

Both problems here have a probability that falls in x and in y, for 0 ≤ x ≤ ``right`` and 0 ≤ y ≤
``cap``. Strips of x cover the pairs with x + y ≥ v: a pair in the strip from a to b has y ≥ v - b,
so its probability is at most the one at (a, v - b). If that is below delta for every strip, all
these pairs are ruled out. The result does not depend on where a search for a maximum would look.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.same_bits import exp, log, row_totals

Floats = NDArray[np.float64]
Probability = Callable[[Floats, Floats], Floats]

TAIL_SLACK = 1e-9
"""Relative rounding error of a probability, overestimated."""
UNITS = 2.0**-8
"""Bounds are multiples of the power of two below this divided by the square root of the rows."""
STRIPS, PARTS = 16, 4
"""Number of strips at the start, and of parts that an undecided strip is divided into."""


def mean_of_two_upper(smaller: tuple[int, int], larger: tuple[int, int], delta: float) -> float:
    """Bound (p + q)/2 from ``smaller`` = (k, n) with k ~ Bin(n, p), and ``larger`` for q likewise.

    Outcomes are ordered by k/n + l/m; ties are ordered by the mistakes in the smaller sample.
    """
    (k, n), (m_k, m) = smaller, larger
    observed = k * m + m_k * n
    if observed == 2 * n * m:
        return 1.0

    def probability(p: Floats, q: Floats) -> Floats:
        j, chances = _likely(n, p, delta, observed // m)
        rest = observed - j * m
        largest = rest // n - ((rest % n == 0) & (j > k) & (n < m))
        return row_totals(chances * _up_to(largest, m, q[:, None]))

    limit = _smallest_sum(probability, delta, 1.0, np.ones_like, k / n + m_k / m, n)
    return min(1.0, limit / 2)


def difference_upper(b: int, c: int, n: int, largest_sum: float, delta: float) -> float:
    """Bound p - q for counts b and c of n rows with chances p and q, if p + q ≤ ``largest_sum``.

    Outcomes are ordered by b - c; ties are ordered by their counts.
    """
    if b == n:
        return 1.0

    def probability(x: Floats, p: Floats) -> Floats:
        q = np.maximum(largest_sum - x, 0.0)
        j, chances = _likely(n, q, delta, n)
        share = np.minimum(p / np.maximum(1 - q, 1e-300), 1.0)[:, None]
        return row_totals(chances * _up_to(b - c + j - (j > c), n - j, share))

    observed = largest_sum + (b - c) / n
    limit = _smallest_sum(probability, delta, largest_sum, lambda x: x, observed, n)
    return limit - largest_sum


def _smallest_sum(
    probability: Probability,
    delta: float,
    right: float,
    cap: Callable[[Floats], Floats],
    observed: float,
    rows: int,
) -> float:
    """Return the least v, up to one unit, for which all pairs with x + y ≥ v are ruled out."""
    # a power of two, so that multiples of the unit are exact, and anybody can check them
    unit = 2.0 ** math.floor(math.log2(UNITS / math.sqrt(rows)))
    top = right + float(cap(np.array([right]))[0])
    # a bound below the observed sum would be wrong at the very chances that were seen
    low, high = math.floor(observed / unit), math.ceil(top / unit) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if _ruled_out(middle * unit, probability, delta * (1 - TAIL_SLACK), right, cap, unit):
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
    starts: Floats = width * np.arange(STRIPS, dtype=np.float64)
    while starts.size:
        # first the strips whose better corner is already below delta: most end here
        starts = starts[v - starts - width <= cap(starts + width)]
        starts = starts[probability(starts, np.maximum(v - starts - width, 0.0)) >= delta]
        ends = starts[v - starts <= cap(starts)]
        inside = probability(ends, np.maximum(v - ends, 0.0)) >= delta
        width /= PARTS
        # a pair that is not ruled out ends the search, and so does a strip that is thinner than a
        # unit can tell: to give up there only raises the bound
        if inside.any() or (starts.size and width < unit / 64):
            return False
        starts = (starts[:, None] + width * np.arange(PARTS)).ravel()
    return True


def _likely(n: int, p: Floats, delta: float, largest: int) -> tuple[NDArray[np.int64], Floats]:
    """Return counts j ≤ ``largest`` and P[Bin(n, p) = j] for every p.

    By Bernstein's inequality with the largest variance, the omitted counts have a probability of
    at most 2e-15·delta together.
    """
    from scipy.special import gammaln

    if not p.size:
        return np.zeros(1, dtype=np.int64), np.zeros((0, 1))
    nats = math.log(1e15 / delta)
    reach = math.sqrt(2 * nats * n * float((p * (1 - p)).max())) + 2 * nats / 3
    first, last = n * float(p.min()) - reach, n * float(p.max()) + reach
    j = np.arange(max(0, math.floor(first)), min(n, largest, math.ceil(last)) + 1)
    choices = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1)
    with np.errstate(invalid="ignore"):
        hits = np.where(j == 0, 0.0, j * log(p)[:, None])
        others = np.where(j == n, 0.0, (n - j) * log(1 - p)[:, None])
    return j, exp(choices + hits + others)


def _up_to(limit: NDArray[np.int64], n: int | NDArray[np.int64], p: Floats) -> Floats:
    """Return P[Bin(n, p) ≤ limit]; 0 for a limit below 0, and 1 from n on."""
    from scipy.special import betainc

    inside = (limit >= 0) & (limit < n)
    probability = betainc(np.where(inside, n - limit, 1), np.where(inside, limit + 1, 1), 1 - p)
    return np.asarray(np.where(inside, probability, (limit >= 0) * 1.0))
