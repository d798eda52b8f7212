"""How many mistakes a pool can hold when a part of it, drawn at random, shows few.

A pool of M rows holds K mistakes; m rows drawn without replacement show k or fewer with a
probability that falls as K grows. The K at which it passes delta inverts the tail.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from pacboost.errors import ParameterError
from pacboost.numerics.checks import counts, positive_whole
from pacboost.numerics.growth import log_choose
from pacboost.numerics.kl import one_sided_kl
from pacboost.numerics.same_bits import exp, log, total

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
    k, m = counts(k, m)
    if positive_whole("M", M) < m:
        raise ParameterError(f"M is {M!r}; the pool holds the {m} rows drawn, so it has as many")
    if not log_inverse_delta > 0:
        raise ParameterError(f"ln(1/delta) is {log_inverse_delta!r}; it must be above 0")
    M = int(M)
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
