"""Upper bounds on a mean; the proofs are in docs/proofs/dependent.md.

**Rows in the order of time** (``mean_risk_upper``). Row t is a mistake with a chance r_t that may
depend on all rows before. With k mistakes on n rows and weights w_j fixed beforehand,

    Σ w_j (1 - c_j)^k/(1 - r̄ c_j)^n < 1/delta,      c_j = 1 - e^(-λ_j),

except with probability delta; it grows with the mean r̄ of the r_t, and the r̄ at which it reaches
1/delta is the bound. λ = ∞ suits periods without a mistake, λ = √(8 ln(1/delta)/n), as in Azuma's
bound, suits many mistakes. The weights depend on n and delta alone.

**Independent shares** (``mean_share_upper``) with values in [0, 1], in blocks whose cost κ > 0 is
fixed before their values are seen. For x < m with kl(x‖m) = κ (0 if there is none), bet

    K(m) = ∏ ((1 - X_g)·a + X_g·b),    a = (1 - x)/(1 - m),  b = x/m.

The m at which K reaches 1/delta bounds the mean. A single block has κ = ln(1/delta)/G and is never
above Chernoff's bound. If values vary less than coins do, later blocks have a larger κ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.checks import counts, probability
from pacboost.numerics.kl import OUTWARD, kl_upper, one_sided_kl, turning_point
from pacboost.numerics.same_bits import exp, expm1, log, log1p, log_of, log_sum_exp, total

STEPS = 16
"""Number of finite λ between the smallest and the largest, equally spaced as logarithms."""
MAX_FINITE_RATE = 2.0
"""The largest finite λ; beyond it λ = ∞ is as good."""
MIN_NUMBERS_TO_HALVE = 16
"""Minimum number of values to split into blocks."""
END_WEIGHT, STEPS_WEIGHT = 0.25, 0.5
"""Weight of λ = ∞ and of the smallest λ each, and of all steps together."""


def mean_risk_upper(k: int, n: int, delta: float) -> float:
    """Return an upper bound on the mean risk of n rows with k mistakes, rounded up.

    >>> round(mean_risk_upper(0, 200, 0.05), 4), round(mean_risk_upper(5, 1000, 0.05), 4)
    (0.0196, 0.015)
    """
    k, n = counts(k, n)
    log_inverse = -log_of(probability("delta", delta))
    if k == n:
        return 1.0
    weights, shares, logs = _mixture(n, log_inverse)
    # k·ln(1 - c); a finite k times -∞ is -∞, but 0 times it is 0.
    mistakes = k * logs if k else np.zeros_like(logs)

    def beyond(risk: float) -> bool:
        right = n * log1p(-risk * shares)
        # Subtract the largest possible rounding error of a term.
        terms = weights + mistakes - right - 1e-14 * (np.abs(right) + k * np.abs(logs[1]) + 1)
        return bool(log_sum_exp(terms[None])[0] >= log_inverse)

    low = k / n if k else -math.expm1(-log_inverse / n) / 2
    high = 1 - 2.0**-53
    if not beyond(high):
        return 1.0
    value = turning_point(beyond, low, high)
    return min(math.nextafter(value * (1 + OUTWARD), math.inf), 1.0)


def _mixture(
    n: int, log_inverse: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the logarithms of the weights, the c, and the logarithms of 1 - c, which are -λ."""
    smallest = min(math.sqrt(8 * log_inverse / n), MAX_FINITE_RATE)
    steps = smallest * exp(np.arange(STEPS) * (log_of(MAX_FINITE_RATE / smallest) / (STEPS - 1)))
    rates = np.concatenate(([math.inf, smallest], steps))
    weights = np.concatenate(([END_WEIGHT, END_WEIGHT], np.full(STEPS, STEPS_WEIGHT / STEPS)))
    return log(weights), -expm1(-rates), -rates


Block = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The multiplicities of values, and the values."""


def block_ends(number: int) -> list[int]:
    """Return the ends of blocks: the last has half of the numbers, the one before a quarter, ….

    >>> block_ends(500), block_ends(15)
    ([15, 31, 62, 125, 250, 500], [15])
    """
    ends = [number]
    while ends[0] >= MIN_NUMBERS_TO_HALVE:
        ends.insert(0, ends[0] // 2)
    return ends


def mean_share_upper(blocks: Sequence[Block], delta: float) -> float:
    """Return an upper bound on the mean of independent numbers that come in blocks.

    >>> halves = mean_share_upper([(np.array([40.0, 20.0]), np.array([0.0, 0.5]))], 0.05)
    >>> round(halves, 4), round(kl_upper(10 / 60, math.log(20) / 60), 4)
    (0.262, 0.304)
    """
    log_inverse = -log_of(probability("delta", delta))
    number, mean, _ = _moments(blocks)
    cost = log_inverse / number
    costs = [cost * _factor(blocks[:place]) for place in range(len(blocks))]
    of_block = np.repeat(np.arange(len(blocks)), [times.size for times, _ in blocks])
    times, values = (np.concatenate(arrays) for arrays in zip(*blocks, strict=True))

    def beyond(m: float) -> bool:
        others = np.array([_other(m, cost) for cost in costs])[of_block]
        logs = times * log((1 - values) * ((1 - others) / (1 - m)) + values * (others / m))
        return total(logs) - 1e-12 * (1 + total(np.abs(logs))) >= log_inverse

    largest = kl_upper(mean, cost) if len(blocks) == 1 or mean == 0 else 1.0
    high = min(largest, 1 - 2.0**-53)
    if mean in (0, 1) or not beyond(high):
        return largest
    value = turning_point(beyond, mean, high)
    return min(math.nextafter(value * (1 + OUTWARD), math.inf), largest)


def _other(m: float, cost: float) -> float:
    """Return the x < m with kl(x‖m) = cost; 0 if there is none."""
    if -float(log1p(-m)) <= cost:
        return 0.0
    # kl(x‖m) is convex and falls in x: Newton's steps from the left never pass the answer.
    x, nearer = 0.0, max(m * 1e-12, m - math.sqrt(cost / 2))
    while nearer > x:
        x = nearer
        excess = one_sided_kl(m - x, x, 1 - x, 1 - m) - cost
        nearer = min(x + excess / float(log1p((m - x) / (x * (1 - m)))), m)
    return x


def _factor(past: Sequence[Block]) -> float:
    """Return the ratio of the bet to a bet on coins, from the variance of the blocks before."""
    if not past:
        return 1.0
    number, mean, squares = _moments(past)
    centre = (number * mean + 0.5) / (number + 1)
    coin = centre * (1 - centre)
    return coin * (number + 1) / (number * max(squares - mean * mean, 0.0) + coin)


def _moments(blocks: Sequence[Block]) -> tuple[float, float, float]:
    """Return the number of values, their mean and the mean of their squares."""
    number = total(np.array([total(times) for times, _ in blocks]))
    sums = [[total(times * values**power) for times, values in blocks] for power in (1, 2)]
    mean, squares = (total(np.array(block_sums)) / number for block_sums in sums)
    return number, min(1.0, mean), squares
