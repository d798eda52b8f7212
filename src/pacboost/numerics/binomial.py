"""What k mistakes among n rows say about the chance of a mistake.

P[Bin(n, p) ≤ k] falls in p from 1 to 0; the p at which it passes delta is the exact one-sided
bound of Clopper and Pearson (1934). Union bounds make deltas too small for a float, so delta comes
as L = ln(1/delta), and the tail is summed and inverted as a logarithm: 1 - delta is never formed.

The logarithm of the tail is concave in p. Newton's steps from Chernoff's bound, which is never less
than the exact one, therefore come ever closer and never pass it, whatever delta is.

The sum has about 9 standard deviations of terms, so its time grows with √n. For very many rows
(``_too_many``) Chernoff's bound itself is given: it is never less than the exact one. Where the
sum is too long, the two differ by about one standard deviation of the share of mistakes, which is
then less than 3e-6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.numerics.checks import counts, positive_whole
from pacboost.numerics.growth import falling_terms, log_choose, stirling
from pacboost.numerics.kl import OUTWARD, kl_lower, kl_upper, lower_root, one_sided_kl, upper_root
from pacboost.numerics.same_bits import exp, log, row_totals, total

MOST_VARIANCE, MOST_ROWS = 10**10, 10**15
"""The largest k(n - k)/n for which the tail is summed, and the largest n: shares of more rows
differ by less than a float can tell."""


def binomial_upper(k: int, n: int, log_inverse_delta: float) -> float:
    """The largest chance under which k or fewer mistakes in n have probability delta or more.

    BinInv(k, n, delta) = sup{p : P[Bin(n, p) ≤ k] ≥ delta}, rounded up; 1 where k = n.

    >>> round(binomial_upper(10, 200, math.log(20)), 6)
    0.083335
    """
    k, n = _check(k, n, log_inverse_delta)
    if k == n:
        return 1.0
    if _too_many(k, n):
        return kl_upper(k / n, log_inverse_delta / n)
    value = _above(k, n, log_inverse_delta)
    return min(math.nextafter(value * (1 + OUTWARD), math.inf), 1.0)


def binomial_lower(k: int, n: int, log_inverse_delta: float) -> float:
    """The smallest chance under which k or more mistakes in n have probability delta or more.

    inf{p : P[Bin(n, p) ≥ k] ≥ delta}, rounded down; 0 where k = 0.

    >>> round(binomial_lower(10, 200, math.log(20)), 6)
    0.027374
    """
    k, n = _check(k, n, log_inverse_delta)
    if k == 0:
        return 0.0
    if _too_many(k, n):
        return kl_lower(k / n, log_inverse_delta / n)
    value = _below(k, n, log_inverse_delta)
    return max(math.nextafter(value * (1 - OUTWARD), 0.0), 0.0)


@lru_cache(2**14)
def _above(k: int, n: int, log_inverse: float) -> float:
    """The p with P[Bin(n, p) ≤ k] = exp(-log_inverse), for k < n."""
    if log_inverse < math.log(2):  # the other tail is the small one
        return _below(k + 1, n, -math.log(-math.expm1(-log_inverse)))
    if k == 0:
        return -math.expm1(-log_inverse / n)
    p, nearer = 1.0, upper_root(k / n, log_inverse / n)
    while nearer < p:
        p = nearer
        log_tail, reach = _tail(p - k / n, k, n - k, p, 1 - p)
        nearer = p + (log_tail + log_inverse) * reach
    return p


@lru_cache(2**14)
def _below(k: int, n: int, log_inverse: float) -> float:
    """The p with P[Bin(n, p) ≥ k] = exp(-log_inverse), for k > 0."""
    if log_inverse < math.log(2):
        return _above(k - 1, n, -math.log(-math.expm1(-log_inverse)))
    if k == n:
        return math.exp(-log_inverse / n)
    p, nearer = 0.0, lower_root(k / n, log_inverse / n)
    while nearer > p:
        p = nearer
        log_tail, reach = _tail(k / n - p, n - k, k, 1 - p, p)
        nearer = p - (log_tail + log_inverse) * reach
    return p


def _tail(step: float, k: int, others: int, p: float, rest: float) -> tuple[float, float]:
    """ln P[Bin(n, p) ≤ k], and how far p has to move for it to fall by 1; rest = 1 - p.

    n = k + others, and ``step`` is p - k/n. The largest term is exp(-n·kl(k/n‖p)) times what
    Stirling's formula leaves of C(n, k); the terms below it are added as multiples of it. The
    logarithm falls by (n-k)/(1-p) times the share of the largest term.
    """
    n = k + others
    log_term = -n * one_sided_kl(step, k / n, others / n, rest)
    log_term += stirling(n) - stirling(k) - stirling(others)
    log_term += 0.5 * math.log(n / (2 * math.pi * k * others))
    multiple = falling_terms(k, n, rest / p, 512)
    return log_term + math.log(multiple), multiple * rest / others


def _too_many(k: int, n: int) -> bool:
    return n > MOST_ROWS or k * (n - k) > MOST_VARIANCE * n


def _check(k: int, n: int, log_inverse_delta: float) -> tuple[int, int]:
    k, n = counts(k, n)
    if not log_inverse_delta > 0:
        raise ParameterError(
            f"ln(1/delta) is {log_inverse_delta!r}; delta lies strictly between 0 and 1, "
            "so it is above 0"
        )
    return k, n


# How many mistakes a pool can hold when a part of it, drawn at random, shows few.
#
# A pool of M rows holds K mistakes; m rows drawn without replacement show k or fewer with a
# probability that falls as K grows. The K at which it passes delta inverts the tail.

SLACK = 1e-14
"""Rounding error of a log probability, relative to the logarithms it is made of."""

MOST_TERMS = 1_000_000
"""With more terms than this, Chernoff's bound takes the place of the sum."""


def hypergeometric_inverse(k: int, m: int, log_inverse_delta: float, M: int) -> int:
    """The fewest mistakes in a pool of M that make k or fewer among m as rare as delta.

    HypInv(k, m, delta, M) = min{K : P[Hypergeom(M, K, m) ≤ k] ≤ delta} with delta given as
    ln(1/delta) (Leboeuf, LeBlanc and Marchand 2021). M + 1 where no pool is bad enough.
    A tail that cannot be distinguished from delta counts as above it: the answer is rounded up.

    >>> hypergeometric_inverse(0, 10, math.log(20), 100)
    25
    """
    k, m = _check(k, m, log_inverse_delta)
    M = positive_whole("M", M)
    if m > M:
        raise ParameterError(f"M is {M!r}; the pool holds the {m} rows drawn, so it has as many")
    slack = SLACK * (1 + log_choose(M, m))
    low, high = k, k + M - m + 1  # probability 1 at the one, 0 at the other
    while high - low > 1:
        middle = (low + high) // 2
        if log_hypergeometric_tail(k, m, middle, M) + slack <= -log_inverse_delta:
            high = middle
        else:
            low = middle
    return high


def log_hypergeometric_tail(k: int, m: int, K: int, M: int) -> float:
    """The logarithm of P[Hypergeom(M, K, m) ≤ k]: m of M rows are drawn, K of them mistakes.

    With more than ``MOST_TERMS`` terms it is -m·kl(k/m‖K/M), which is never less: Chernoff's bound
    holds for draws without replacement too (Hoeffding 1963, section 6).

    >>> round(math.exp(log_hypergeometric_tail(1, 10, 20, 100)), 6)
    0.363049
    """
    least = max(0, m - (M - K))
    if k >= min(K, m):
        return 0.0
    if k < least:
        return -math.inf
    if k - least > MOST_TERMS:
        return _log_chernoff(k, m, K, M)
    top = log_choose(K, k) + log_choose(M - K, m - k) - log_choose(M, m)
    j = np.arange(k, least, -1, dtype=np.float64)
    steps = log(j * (M - K - m + j) / ((K - j + 1) * (m - j + 1)))
    below = np.concatenate(([0.0], np.cumsum(steps)))  # each term relative to the one at k
    largest = float(below.max())
    return min(top + largest + math.log(total(exp(below - largest))), 0.0)


def _log_chernoff(k: int, m: int, K: int, M: int) -> float:
    """-m·kl(k/m‖K/M), rounded up; 0 where k/m is not below K/M."""
    step = float(Fraction(K, M) - Fraction(k, m))
    if step <= 0:
        return 0.0
    distance = one_sided_kl(step, k / m, (m - k) / m, (M - K) / M)
    return min(0.0, -m * distance * (1 - 1e-9 - 1e-15 / step))


# Exact limits for a sum or a difference of two chances of which neither is known.
#
# Outcomes are put in an order before anything is seen. If the outcomes up to the one that was seen
# have a probability below delta for some pair of chances, that pair is ruled out; the largest sum
# that is not ruled out is a limit that fails with probability delta at most, and the smallest that
# can be had with this order (Buehler 1957). docs/proofs/rates.md.
#
# Both problems here have a probability that falls in x and in y, for 0 ≤ x ≤ ``right`` and 0 ≤ y ≤
# ``cap``. The pairs with x + y ≥ v are covered by strips of x: whatever lies in the strip from a to
# b has y ≥ v - b, so that its probability is at most the one at (a, v - b). If that is below delta
# for every strip, all these pairs are ruled out. Nothing depends on where a search for a maximum
# would look.

Floats = NDArray[np.float64]
Probability = Callable[[Floats, Floats], Floats]

TAIL_SLACK = 1e-9
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
        return row_totals(chances * _up_to(most, m, q[:, None]))

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
        return row_totals(chances * _up_to(b - c + j - (j > c), n - j, share))

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


def _up_to(most: NDArray[np.int64], n: int | NDArray[np.int64], p: Floats) -> Floats:
    """Return P[Bin(n, p) ≤ most]; 0 below 0, and 1 from n on."""
    from scipy.special import betainc

    inside = (most >= 0) & (most < n)
    found = betainc(np.where(inside, n - most, 1), np.where(inside, most + 1, 1), 1 - p)
    return np.asarray(np.where(inside, found, (most >= 0) * 1.0))
