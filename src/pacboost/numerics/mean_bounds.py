"""Upper bounds on a mean that need neither equal chances nor values of 0 and 1 only.

**Rows in the order of time**, by a mixture of conditional moment bounds (``mean_risk_upper``).
Row t is a mistake, X_t = 1, with a chance r_t that may depend on all rows before. For every λ > 0,
with c = 1 - e^(-λ),

    M(λ) = ∏ e^(-λ X_t)/(1 - r_t c)

has mean 1, and by the inequality of arithmetic and geometric means it is at least
(1 - c)^k/(1 - r̄ c)^n, k the number of mistakes and r̄ the mean of the r_t. So for weights w_j fixed
beforehand Σ w_j (1 - c_j)^k/(1 - r̄ c_j)^n is below 1/delta except with probability delta (Markov).
It grows with r̄; the r̄ at which it reaches 1/delta is the bound. docs/proofs/dependent.md.

λ = ∞ suits periods without a mistake, λ = √(8 ln(1/delta)/n) many mistakes (it is that of Azuma's
bound), and what lies between suits few. The weights depend on n and delta alone.

**Independent shares** (``mean_share_upper``), by a bet that is never worse than Chernoff's bound.
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

from pacboost.numerics.checks import counts, probability
from pacboost.numerics.kl import OUTWARD, kl_upper, turning_point, upper_root
from pacboost.numerics.same_bits import exp, expm1, log, log1p, log_of, log_sum_exp, total

STEPS = 16
LARGEST = 2.0
"""The largest finite λ; from there on λ = ∞ is as good."""
ENDS, BETWEEN = 0.25, 0.5
"""The weight of λ = ∞ and of the smallest λ, each, and of all steps together."""


def mean_risk_upper(k: int, n: int, delta: float) -> float:
    """Bound the mean risk of n rows, k of them mistakes, rounded up.

    >>> round(mean_risk_upper(0, 200, 0.05), 4), round(mean_risk_upper(5, 1000, 0.05), 4)
    (0.0196, 0.015)
    """
    k, n = counts(k, n)
    log_inverse = -math.log(probability("delta", delta))
    if k == n:
        return 1.0
    weights, shares, logs = _mixture(n, log_inverse)
    # k·ln(1 - c); a finite k times -∞ is -∞, but 0 times it is 0.
    mistakes = k * logs if k else np.zeros_like(logs)

    def beyond(risk: float) -> bool:
        right = n * log1p(-risk * shares)
        # What rounding may have added to a term is taken off again.
        terms = weights + mistakes - right - 1e-14 * (np.abs(right) + k * np.abs(logs[1]) + 1)
        return bool(log_sum_exp(terms[None])[0] >= log_inverse)

    least = k / n if k else -math.expm1(-log_inverse / n) / 2
    most = 1 - 2.0**-53
    if not beyond(most):
        return 1.0
    value = turning_point(beyond, least, most)
    return min(math.nextafter(value * (1 + OUTWARD), math.inf), 1.0)


def _mixture(
    n: int, log_inverse: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The logarithms of the weights, the c, and the logarithms of 1 - c, which are -λ."""
    smallest = min(math.sqrt(8 * log_inverse / n), LARGEST)
    steps = smallest * exp(np.arange(STEPS) * (log_of(LARGEST / smallest) / (STEPS - 1)))
    rates = np.concatenate(([math.inf, smallest], steps))
    weights = np.concatenate(([ENDS, ENDS], np.full(STEPS, BETWEEN / STEPS)))
    return log(weights), -expm1(-rates), -rates


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
    mean, cost = min(1.0, total(values * times) / number), log_inverse / number

    def beyond(share: float) -> bool:
        other = upper_root(share, cost)
        if other >= 1:
            return True
        up, down = (1 - share) / (1 - other), share / other
        logs = times * log((1 - values) * up + values * down)  # a share of 1 may ruin a bet
        return total(logs) - 1e-12 * (1 + total(np.abs(logs))) >= log_inverse

    chernoff = kl_upper(mean, cost)
    if mean == 0:
        return chernoff
    lowest = mean * 1e-9
    share = lowest if beyond(lowest) else turning_point(beyond, lowest, mean)
    value = upper_root(share * (1 + OUTWARD), cost)
    return min(math.nextafter(value * (1 + OUTWARD), math.inf), chernoff)
