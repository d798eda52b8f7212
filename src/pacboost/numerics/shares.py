"""The mean of independent numbers in [0, 1], by a bet that is never worse than Chernoff's bound.

Let X_1, …, X_G be independent with values in [0, 1] and mean μ, and let κ = ln(1/delta)/G. For
every m let x(m) < m be the share with kl(x‖m) = κ (0 where there is none), and bet

    K(m) = ∏ ((1 - X_g)·a + X_g·b),    a = (1 - x)/(1 - m),  b = x/m.

Each factor has mean 1 at m = μ, so K(μ) ≥ 1/delta has probability at most delta (Markov). a and b
grow with m, and so does K: the m at which K reaches 1/delta bounds μ. The logarithm of a factor is
concave in X_g, so K is at least what numbers 0 and 1 with the same mean would give, which is
Chernoff's bound: this one is never above it, and lower where the numbers lie between 0 and 1.
docs/proofs/dependent.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.checks import probability
from pacboost.numerics.kl import OUTWARD, kl_upper, turning_point, upper_root


def mean_share_upper(
    values: NDArray[np.float64], times: NDArray[np.float64], delta: float
) -> float:
    """Bound the mean of independent numbers; ``values`` occur so many ``times``.

    >>> halves = mean_share_upper(np.array([0.0, 0.5]), np.array([40.0, 20.0]), 0.05)
    >>> round(halves, 4), round(kl_upper(10 / 60, math.log(20) / 60), 4)
    (0.262, 0.304)
    """
    log_inverse = -math.log(probability("delta", delta))
    number = float(times.sum())
    mean, cost = min(1.0, float(values @ times) / number), log_inverse / number

    def beyond(share: float) -> bool:
        other = upper_root(share, cost)
        if other >= 1:
            return True
        up, down = (1 - share) / (1 - other), share / other
        with np.errstate(divide="ignore"):  # a share of 1 ruins a bet on no mistake at all
            logs = times * np.log((1 - values) * up + values * down)
        return bool(logs.sum() - 1e-12 * (1 + np.abs(logs).sum()) >= log_inverse)

    chernoff = kl_upper(mean, cost)
    if mean == 0:
        return chernoff
    lowest = mean * 1e-9
    share = lowest if beyond(lowest) else turning_point(beyond, lowest, mean)
    value = upper_root(share * (1 + OUTWARD), cost)
    return min(math.nextafter(value * (1 + OUTWARD), math.inf), chernoff)
