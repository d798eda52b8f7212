"""How many ways a class of rules can label points, as logarithms, rounded up.

The counts themselves leave the range of a float early. Small ones are computed as whole numbers,
large ones as a largest term and the sum of the others relative to it.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from pacboost.errors import ParameterError
from pacboost.numerics.checks import positive_whole, whole

OUTWARD = 1e-14
"""Relative rounding error of these logarithms, overestimated."""

MAX_EXACT_FACTORS = 200
"""Maximum number of factors for which a count is computed as a whole number."""

HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)

MAX_TERMS = 10_000_000
"""Maximum number of terms to sum; longer sums are bounded from above instead."""


def log_binomial(n: int, k: int) -> float:
    """Return ln C(n, k), the logarithm of the number of ways to choose k among n, rounded up."""
    n = whole("n", n)
    if not 0 <= k <= n:
        raise ParameterError(f"k is {k!r}; k lies between 0 and n = {n}")
    return log_choose(n, int(k)) * (1 + OUTWARD)


def log_sauer(d: int, m: int) -> float:
    """Return ln Σ_{i≤d} C(m, i), rounded up: it bounds labelings by a class of VC dimension d.

    Sauer 1972, Shelah 1972; for d ≥ m all 2^m.
    """
    return _log_head(whole("d", d), whole("m", m)) * (1 + OUTWARD)


def log_cover(m: int, d: int) -> float:
    """Return ln 2 Σ_{k<d} C(m-1, k), rounded up: labelings of m points by signs of d weights.

    Cover 1965; halfspaces through the origin in d dimensions.
    """
    m, d = positive_whole("m", m), positive_whole("d", d)
    return (math.log(2) + _log_head(d - 1, m - 1)) * (1 + OUTWARD)


def log_stump_growth(m: int, p: int) -> float:
    """Return ln(2 + Σ_{0<k<m} min(2p, C(m, k))), rounded up: labelings of m points by stumps.

    Stumps of both signs on p real features (Gey 2018; Leboeuf, LeBlanc and Marchand 2020).
    """
    m, max_ways = positive_whole("m", m), 2 * positive_whole("p", p)
    total, ways, k = 2, m, 1
    while 2 * k < m and ways < max_ways:  # k and m-k together, while there are fewer than 2p ways
        total += 2 * ways
        ways = ways * (m - k) // (k + 1)
        k += 1
    total += max(m + 1 - 2 * k, 0) * min(max_ways, ways)
    return math.log(total) * (1 + OUTWARD)


def vc_of_stumps(p: int) -> int:
    """Return the VC dimension of stumps on p real features: the largest d with C(d, ⌊d/2⌋) ≤ 2p.

    Gey 2018; Leboeuf, LeBlanc and Marchand 2020.
    """
    max_ways, d = 2 * positive_whole("p", p), 1
    while math.comb(d + 1, (d + 1) // 2) <= max_ways:
        d += 1
    return d


def log_choose(n: int, k: int) -> float:
    """Return ln C(n, k) for 0 ≤ k ≤ n, exact but for a few last bits.

    Stirling's series with its large terms joined, so that nothing cancels.
    """
    k = min(k, n - k)
    if k <= MAX_EXACT_FACTORS:
        return math.log(math.comb(n, k))
    rest = n - k
    joined = k * math.log(n / k) - rest * math.log1p(-k / n)
    joined += 0.5 * (math.log(n / k) - math.log(2 * math.pi * rest))
    return joined + stirling(n) - stirling(k) - stirling(rest)


def stirling(x: int) -> float:
    """Return the error of Stirling's formula, ln x! - (x ln x - x + ½ ln 2πx), for x ≥ 1."""
    if x <= 20:
        return math.log(math.factorial(x)) - ((x + 0.5) * math.log(x) - x + HALF_LOG_TWO_PI)
    y = 1 / (x * x)
    return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x


def _log_head(d: int, m: int) -> float:
    """Return ln Σ_{i≤d} C(m, i)."""
    if d >= m:
        return m * math.log(2)
    if d <= MAX_EXACT_FACTORS:
        term = total = 1
        for i in range(1, d + 1):
            term = term * (m - i + 1) // i
            total += term
        return math.log(total)
    if 2 * d > m:  # all but the other end, which is at most half of all
        everything = m * math.log(2)
        if _terms_needed(m - d - 1, m) > MAX_TERMS:
            return everything
        return everything + math.log1p(-math.exp(_log_head(m - d - 1, m) - everything))
    return log_choose(m, d) + math.log(_sum_of_ratios(d, m))


def _sum_of_ratios(d: int, m: int) -> float:
    """Return Σ_{i≤d} C(m, i)/C(m, d) for d ≤ m/2, up to terms that are negligible.

    If too many terms count, return an upper bound: 1/(1 - d/(m-d+1)), a geometric series, or d + 1.
    """
    if _terms_needed(d, m) > MAX_TERMS:
        return min(float(d + 1), float(Fraction(m - d + 1, max(m - 2 * d + 1, 1))))
    # Omitted terms fall faster than a geometric series of this ratio; rounding up covers them.
    return falling_terms(d, m, 1.0, 4096)


def falling_terms(k: int, n: int, odds: float, block: int) -> float:
    """Return Σ_{j≤k} C(n, j)/C(n, k)·odds^(k-j), up to terms that are negligible."""
    total, last, top = 1.0, 1.0, k
    while top > 0 and last > 1e-18 * total:
        j = np.arange(top, max(top - block, 0), -1, dtype=np.float64)
        terms = last * np.cumprod(odds * j / (n - j + 1))
        total, last, top = total + float(terms.sum()), float(terms[-1]), top - block
    return total


def _terms_needed(d: int, m: int) -> float:
    """Estimate how many terms below C(m, d), d ≤ m/2, count: 41 ratios or 9 deviations."""
    return min(d, 41 * (m - d + 1) / (m - 2 * d + 1), 4.5 * math.sqrt(m))


def majority_error(part: float) -> float:
    """Bound the error of a majority of three by that of its parts: g(x) = 3x² - 2x³.

    If three rules each have an error of at most x < 1/2 under their distribution (those of
    theory/three_oracles.py), their majority is wrong on at most g(x) < x (Schapire 1990, theorem 2;
    docs/proofs/three_way.md). g is a bijection of [0, 1/2].
    """
    return part * part * (3 - 2 * part)


def part_error(error: float) -> float:
    """Return the largest error of the parts for which a majority of three has error ``error``.

    g⁻¹(y) = 1/2 - sin(asin(1 - 2y)/3), because sin(3u) = 3 sin u - 4 sin³u.
    """
    return 0.5 - math.sin(math.asin(1 - 2 * error) / 3)


def targets(epsilon: float, weak: float) -> list[float]:
    """Return the target error of every level of the recursion: leaves first, epsilon last.

    The leaves may err as much as a weak rule does, ``weak`` < 1/2, and a bit more.
    """
    if not (0 < epsilon < 0.5 and 0 < weak < 0.5):
        raise ParameterError(
            f"epsilon is {epsilon} and the error of a weak rule {weak:g}; both must lie in (0, 1/2)"
        )
    part, levels = epsilon, 0
    while part < weak:
        part, levels = part_error(part), levels + 1
    errors = [part]
    for _ in range(levels):  # by g, to avoid the rounding errors of its inverse
        errors.append(majority_error(errors[-1]))
    return errors
