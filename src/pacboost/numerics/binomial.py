"""Exact confidence bounds on the chance of a mistake, from k mistakes among n rows.

P[Bin(n, p) ≤ k] falls in p from 1 to 0; the p at which it passes delta is the exact one-sided bound
of Clopper and Pearson (1934). Union bounds make deltas too small for a float, so delta comes as
L = ln(1/delta), and the tail is inverted as a logarithm, which is concave in p: Newton's steps from
Chernoff's bound approach the exact one and never pass it.

The sum has about 9 standard deviations of terms. For very many rows (``_too_many``) Chernoff's
bound is returned instead, which is never less; the two then differ by less than 3e-6.
"""

from __future__ import annotations

import math
from functools import lru_cache

from pacboost.errors import ParameterError
from pacboost.numerics.checks import counts
from pacboost.numerics.growth import falling_terms, stirling
from pacboost.numerics.kl import OUTWARD, kl_lower, kl_upper, lower_root, one_sided_kl, upper_root

MAX_VARIANCE, MAX_ROWS = 10**10, 10**15
"""The largest k(n - k)/n for which the tail is summed, and the largest n: shares of more rows
differ by less than the precision of a float."""


def binomial_upper(k: int, n: int, log_inverse_delta: float) -> float:
    """Return the largest p for which k or fewer mistakes in n have probability delta or more.

    BinInv(k, n, delta) = sup{p : P[Bin(n, p) ≤ k] ≥ delta}, rounded up; 1 if k = n.
    """
    k, n = checked_counts(k, n, log_inverse_delta)
    if k == n:
        return 1.0
    if _too_many(k, n):
        return kl_upper(k / n, log_inverse_delta / n)
    value = _above(k, n, log_inverse_delta)
    return min(math.nextafter(value * (1 + OUTWARD), math.inf), 1.0)


def binomial_lower(k: int, n: int, log_inverse_delta: float) -> float:
    """Return the smallest p for which k or more mistakes in n have probability delta or more.

    inf{p : P[Bin(n, p) ≥ k] ≥ delta}, rounded down; 0 if k = 0.
    """
    k, n = checked_counts(k, n, log_inverse_delta)
    if k == 0:
        return 0.0
    if _too_many(k, n):
        return kl_lower(k / n, log_inverse_delta / n)
    value = _below(k, n, log_inverse_delta)
    return max(math.nextafter(value * (1 - OUTWARD), 0.0), 0.0)


@lru_cache(2**14)
def _above(k: int, n: int, log_inverse: float) -> float:
    """Return the p with P[Bin(n, p) ≤ k] = exp(-log_inverse), for k < n."""
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
    """Return the p with P[Bin(n, p) ≥ k] = exp(-log_inverse), for k > 0."""
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
    """Return ln P[Bin(n, p) ≤ k], and the change of p that lowers it by 1; rest = 1 - p.

    n = k + others, and ``step`` is p - k/n. The largest term is exp(-n·kl(k/n‖p)) times the
    correction of Stirling's formula for C(n, k); the terms below it are added as multiples of it.
    The logarithm falls by (n-k)/(1-p) times the share of the largest term.
    """
    n = k + others
    log_term = -n * one_sided_kl(step, k / n, others / n, rest)
    log_term += stirling(n) - stirling(k) - stirling(others)
    log_term += 0.5 * math.log(n / (2 * math.pi * k * others))
    multiple = falling_terms(k, n, rest / p, 512)
    return log_term + math.log(multiple), multiple * rest / others


def _too_many(k: int, n: int) -> bool:
    return n > MAX_ROWS or k * (n - k) > MAX_VARIANCE * n


def checked_counts(k: int, n: int, log_inverse_delta: float) -> tuple[int, int]:
    """Check k mistakes among n rows and ln(1/delta); return the counts as ints."""
    k, n = counts(k, n)
    if not log_inverse_delta > 0:
        raise ParameterError(
            f"ln(1/delta) is {log_inverse_delta!r}; delta lies strictly between 0 and 1, "
            "so it is above 0"
        )
    return k, n
