"""A bound on the mean of several unknown chances, by Chernoff's inequality for all counts at once.

Count k_c ~ Bin(n_c, p_c) for C classes, and let x be the mean of k_c/n_c. For any s > 0

    P[mean ≤ x] ≤ exp(s·x) ∏ (1 - p_c·u_c)^n_c,    u_c = 1 - exp(-s/(C·n_c)).

The logarithm is concave in p, so its maximum over all p of mean v is at p_c = 1/u_c - n_c/λ, kept
in [0, 1], for some λ. If that is below log(delta), no mean of v or more agrees with the counts
(docs/proofs/rates.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.same_bits import exp, expm1, log, log1p, total

Floats = NDArray[np.float64]
SLACK = 1e-9
"""Relative rounding error of a bound, and absolute error of a logarithm, overestimated."""
POWERS = range(-4, 7)
"""Powers of two that are tried for s, as multiples of what a plain binomial sample would need."""
LOG_TWO = 0.6931471805599453
REFINEMENTS = (0.5, 0.25, 0.125)
HALVINGS = 44


def mean_of_many_upper(parts: list[tuple[int, int]], delta: float) -> float:
    """Bound the mean of the chances from (k, n) of each class.

    >>> round(mean_of_many_upper([(3, 100), (5, 50), (0, 80)], 0.05), 4)
    0.0912
    """
    k, n = (np.array(column, dtype=np.float64) for column in zip(*parts, strict=True))
    x, target = total(k / n) / k.size, float(log(delta)) - SLACK
    if x >= 1:
        return 1.0
    # s fixes a bound for every x, and any choice of it is valid: it may depend on the counts
    scale = k.size * max(float(n.min()), -target)

    def tried(power: float) -> tuple[float, float]:
        return _bound(x, n, float(exp(power * LOG_TWO)) * scale, target), power

    best = min(map(tried, POWERS))
    for step in REFINEMENTS:
        best = min(best, tried(best[1] - step), tried(best[1] + step))
    return min(1.0, best[0])


def _bound(x: float, n: Floats, s: float, target: float) -> float:
    """Return the smallest mean that one s rules out; 1 if it rules out none."""
    classes, u = n.size, -expm1(-s / (n.size * n))

    def chances(multiplier: float) -> Floats:
        kept: Floats = np.clip(1 / u - n / multiplier, 0, 1)
        return kept

    def exponent(p: Floats) -> float:
        return s * x + total(n * log1p(-np.minimum(p * u, 1 - 1e-16)))

    low, high = float((n * u).min()), float((n / np.maximum(1 / u - 1, 1e-300)).max())
    if exponent(chances(high)) > target:
        return 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if exponent(chances(middle)) <= target else (middle, high)
    return total(chances(high)) / classes * (1 + SLACK)
