"""How many ways a class of rules can label points, as logarithms, rounded up.

The counts themselves leave the range of a float early. Small ones are computed as whole numbers,
large ones as a largest term and what the others add to it.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from pacboost.errors import ParameterError
from pacboost.numerics.checks import positive_whole, whole

OUTWARD = 1e-14
"""Relative rounding error of what is computed here, with room to spare."""

EXACT = 200
"""Up to this many factors a count is computed as a whole number."""

HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)

MOST_TERMS = 10_000_000
"""A sum that would need more terms than this is bounded from above instead."""


def log_binomial(n: int, k: int) -> float:
    """The logarithm of the number of ways to choose k among n: ln C(n, k), rounded up.

    >>> round(log_binomial(1260, 20), 4)
    100.2901
    """
    n = whole("n", n)
    if not 0 <= k <= n:
        raise ParameterError(f"k is {k!r}; of {n} things one can choose 0 to {n}")
    return log_choose(n, int(k)) * (1 + OUTWARD)


def log_sauer(d: int, m: int) -> float:
    """The most labelings of m points by a class of dimension d: ln Σ_{i≤d} C(m, i), rounded up.

    Sauer 1972, Shelah 1972; for d ≥ m all 2^m.

    >>> round(log_sauer(10, 1000), 3)
    53.938
    """
    return _log_head(whole("d", d), whole("m", m)) * (1 + OUTWARD)


def log_cover(m: int, d: int) -> float:
    """The most labelings of m points by signs of d weights: ln 2 Σ_{k<d} C(m-1, k), rounded up.

    Cover 1965; halfspaces through the origin in d dimensions.

    >>> round(math.exp(log_cover(4, 3)), 6)
    14.0
    """
    m, d = positive_whole("m", m), positive_whole("d", d)
    return (math.log(2) + _log_head(d - 1, m - 1)) * (1 + OUTWARD)


def log_stump_growth(m: int, p: int) -> float:
    """The most labelings of m points by stumps: ln(2 + Σ_{0<k<m} min(2p, C(m, k))), rounded up.

    Stumps of both signs on p real features (Gey 2018; Leboeuf, LeBlanc and Marchand 2020).

    >>> round(math.exp(log_stump_growth(4, 2)), 6)
    14.0
    """
    m, most = positive_whole("m", m), 2 * positive_whole("p", p)
    total, ways, k = 2, m, 1
    while 2 * k < m and ways < most:  # k and m-k together, while there are fewer than 2p ways
        total += 2 * ways
        ways = ways * (m - k) // (k + 1)
        k += 1
    total += max(m + 1 - 2 * k, 0) * min(most, ways)
    return math.log(total) * (1 + OUTWARD)


def vc_of_stumps(p: int) -> int:
    """The VC dimension of stumps on p real features: the largest d with C(d, ⌊d/2⌋) ≤ 2p.

    Gey 2018; Leboeuf, LeBlanc and Marchand 2020.

    >>> [vc_of_stumps(p) for p in (1, 2, 3, 5, 10, 20, 100, 1000)]
    [2, 3, 4, 5, 6, 7, 9, 13]
    """
    most, d = 2 * positive_whole("p", p), 1
    while math.comb(d + 1, (d + 1) // 2) <= most:
        d += 1
    return d


def log_choose(n: int, k: int) -> float:
    """The logarithm of C(n, k) for 0 ≤ k ≤ n, rounded to nearest but for a few last bits.

    Stirling's series with its large terms joined, so that nothing cancels.

    >>> round(log_choose(10, 5) - math.log(252), 12)
    0.0
    """
    k = min(k, n - k)
    if k <= EXACT:
        return math.log(math.comb(n, k))
    rest = n - k
    joined = k * math.log(n / k) - rest * math.log1p(-k / n)
    joined += 0.5 * (math.log(n / k) - math.log(2 * math.pi * rest))
    return joined + stirling(n) - stirling(k) - stirling(rest)


def stirling(x: int) -> float:
    """What Stirling's formula lacks: ln x! - (x ln x - x + ½ ln 2πx), for x of 1 or more.

    >>> round(stirling(1), 6)
    0.081061
    """
    if x <= 20:
        return math.log(math.factorial(x)) - ((x + 0.5) * math.log(x) - x + HALF_LOG_TWO_PI)
    y = 1 / (x * x)
    return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x


def _log_head(d: int, m: int) -> float:
    """The logarithm of Σ_{i≤d} C(m, i)."""
    if d >= m:
        return m * math.log(2)
    if d <= EXACT:
        term = total = 1
        for i in range(1, d + 1):
            term = term * (m - i + 1) // i
            total += term
        return math.log(total)
    if 2 * d > m:  # all but the other end, which is at most half of all
        everything = m * math.log(2)
        if _terms_needed(m - d - 1, m) > MOST_TERMS:
            return everything
        return everything + math.log1p(-math.exp(_log_head(m - d - 1, m) - everything))
    return log_choose(m, d) + math.log(_sum_of_ratios(d, m))


def _sum_of_ratios(d: int, m: int) -> float:
    """Σ_{i≤d} C(m, i)/C(m, d) for d ≤ m/2: falling terms, added until they no longer count.

    Where too many would count it is at most 1/(1 - d/(m-d+1)), a geometric series, and d + 1.
    """
    if _terms_needed(d, m) > MOST_TERMS:
        return min(float(d + 1), float(Fraction(m - d + 1, max(m - 2 * d + 1, 1))))
    # What is left out falls faster than a geometric series of this ratio; rounding up covers it.
    return falling_terms(d, m, 1.0, 4096)


def falling_terms(k: int, n: int, odds: float, block: int) -> float:
    """Σ_{j≤k} C(n, j)/C(n, k)·odds^(k-j): falling terms, added until they no longer count."""
    total, last, top = 1.0, 1.0, k
    while top > 0 and last > 1e-18 * total:
        j = np.arange(top, max(top - block, 0), -1, dtype=np.float64)
        terms = last * np.cumprod(odds * j / (n - j + 1))
        total, last, top = total + float(terms.sum()), float(terms[-1]), top - block
    return total


def _terms_needed(d: int, m: int) -> float:
    """About how many of the terms below C(m, d), d ≤ m/2, count: 41 ratios or 9 deviations."""
    return min(d, 41 * (m - d + 1) / (m - 2 * d + 1), 4.5 * math.sqrt(m))


# The map g of Schapire's majority of three, g(x) = 3x² - 2x³, and its inverse.
#
# If three rules have an error of at most x < 1/2, each under a distribution of its own (those of
# theory/three_oracles.py), their majority is wrong on at most g(x) < x;
# docs/proofs/three_way.md proves it. g is a bijection of [0, 1/2].


def majority_error(part: float) -> float:
    """Bound the error of a majority of three by that of its parts: g(x) = 3x² - 2x³.

    (Schapire 1990, theorem 2.)

    >>> [round(majority_error(x), 4) for x in (0.4, 0.352, 0.1)]
    [0.352, 0.2845, 0.028]
    """
    return part * part * (3 - 2 * part)


def part_error(whole: float) -> float:
    """Return the error that the parts may have for a majority of three to have error ``whole``.

    g⁻¹(y) = 1/2 - sin(asin(1 - 2y)/3), because sin(3u) = 3 sin u - 4 sin³u.

    >>> round(part_error(0.352), 10), part_error(0.5)
    (0.4, 0.5)
    """
    return 0.5 - math.sin(math.asin(1 - 2 * whole) / 3)


def targets(epsilon: float, weak: float) -> list[float]:
    """Return the errors that every level of the recursion aims at: leaves first, epsilon last.

    The leaves may err as much as a weak rule does, ``weak`` < 1/2, and a bit more.

    >>> [round(x, 4) for x in targets(0.1, 0.4)]
    [0.4327, 0.3996, 0.3514, 0.2837, 0.1958, 0.1]
    """
    if not (0 < epsilon < 0.5 and 0 < weak < 0.5):
        raise ParameterError(
            f"epsilon is {epsilon} and the error of a weak rule {weak:g}; both must lie in (0, 1/2)"
        )
    part, levels = epsilon, 0
    while part < weak:
        part, levels = part_error(part), levels + 1
    errors = [part]
    for _ in range(levels):  # by g itself, so that what rounds off on the way back does not count
        errors.append(majority_error(errors[-1]))
    return errors
