"""Bound the mistakes in a pool of rows from a sample of the pool drawn without replacement.

A pool of M rows holds K mistakes; m rows drawn without replacement show k or fewer with a
probability that falls as K grows. The K at which that probability passes delta is the bound.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from pacboost.errors import ParameterError
from pacboost.numerics.binomial import checked_counts
from pacboost.numerics.checks import positive_whole
from pacboost.numerics.growth import log_choose
from pacboost.numerics.kl import one_sided_kl
from pacboost.numerics.same_bits import exp, log, total

SLACK = 1e-14
"""Rounding error of a log probability, relative to the logarithms it is made of."""

MAX_TERMS = 1_000_000
"""Maximum number of terms to sum; beyond it, Chernoff's bound replaces the sum."""


def hypergeometric_inverse(k: int, m: int, log_inverse_delta: float, M: int) -> int:
    """Return the least number of mistakes in a pool of M that a sample of m with k contradicts.

    HypInv(k, m, delta, M) = min{K : P[Hypergeom(M, K, m) ≤ k] ≤ delta} with delta passed as
    ln(1/delta) (Leboeuf, LeBlanc and Marchand 2021); M + 1 if there is no such K. A tail that
    equals delta up to rounding counts as above it, so the result is rounded up.
    """
    k, m = checked_counts(k, m, log_inverse_delta)
    M = positive_whole("M", M)
    if m > M:
        raise ParameterError(
            f"M is {M!r}; the pool contains the {m} drawn rows, so M is {m} or more"
        )
    slack = SLACK * (1 + log_choose(M, m))
    low, high = k, k + M - m + 1  # the tail is 1 at low and 0 at high
    while high - low > 1:
        middle = (low + high) // 2
        if log_hypergeometric_tail(k, m, middle, M) + slack <= -log_inverse_delta:
            high = middle
        else:
            low = middle
    return high


def log_hypergeometric_tail(k: int, m: int, K: int, M: int) -> float:
    """Return ln P[Hypergeom(M, K, m) ≤ k]: m of M rows are drawn, and K of the M are mistakes.

    With more than ``MAX_TERMS`` terms it is -m·kl(k/m‖K/M), which is never less: Chernoff's bound
    holds for draws without replacement too (Hoeffding 1963, section 6).
    """
    smallest = max(0, m - (M - K))
    if k >= min(K, m):
        return 0.0
    if k < smallest:
        return -math.inf
    if k - smallest > MAX_TERMS:
        return _log_chernoff(k, m, K, M)
    top = log_choose(K, k) + log_choose(M - K, m - k) - log_choose(M, m)
    j = np.arange(k, smallest, -1, dtype=np.float64)
    steps = log(j * (M - K - m + j) / ((K - j + 1) * (m - j + 1)))
    below = np.concatenate(([0.0], np.cumsum(steps)))  # each term relative to the one at k
    largest = float(below.max())
    return min(top + largest + math.log(total(exp(below - largest))), 0.0)


def _log_chernoff(k: int, m: int, K: int, M: int) -> float:
    """Return -m·kl(k/m‖K/M), rounded up; 0 if k/m is not below K/M."""
    step = float(Fraction(K, M) - Fraction(k, m))
    if step <= 0:
        return 0.0
    distance = one_sided_kl(step, k / m, (m - k) / m, (M - K) / M)
    return min(0.0, -m * distance * (1 - 1e-9 - 1e-15 / step))
