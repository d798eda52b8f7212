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
from fractions import Fraction
from functools import lru_cache

import numpy as np

from pacboost.errors import ParameterError
from pacboost.numerics.checks import counts, positive_whole
from pacboost.numerics.growth import falling_terms, log_choose, stirling
from pacboost.numerics.kl import OUTWARD, kl_lower, kl_upper, lower_root, one_sided_kl, upper_root
from pacboost.numerics.same_bits import exp, log, total

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
