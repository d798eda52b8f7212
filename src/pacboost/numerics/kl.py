"""The divergence between two coins, and its inverses.

kl(q‖p) = q ln(q/p) + (1-q) ln((1-q)/(1-p)). Seen from q it grows on both sides, so it has an
inverse on each. Both are found by bisection and rounded outward.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.numerics.checks import counts, probability, share
from pacboost.numerics.same_bits import exp, expm1, log, log1p, log_of, log_sum_exp, total

OUTWARD = 1e-12
"""How far, relatively, a computed end is moved outward: far more than its rounding error."""


def kl(q: float, p: float) -> float:
    """How badly a coin of chance p explains a share q: kl(q‖p), in nats.

    Each logarithm is taken of a number no less than 1, so that nothing cancels when p is near q.

    >>> round(kl(0.1, 0.2), 6)
    0.03669
    """
    share("q", q)
    share("p", p)
    if p == q:
        return 0.0
    if p > q:
        return one_sided_kl(p - q, q, 1 - q, 1 - p)
    return one_sided_kl(q - p, 1 - q, q, p)


def kl_upper(q: float, c: float) -> float:
    """The largest chance that explains a share q at cost c: sup{p ≥ q : kl(q‖p) ≤ c}, rounded up.

    >>> round(kl_upper(0.1, math.log(20) / 1000), 6)
    0.124808
    >>> kl_upper(0.0, 1.0) >= 1 - math.exp(-1)
    True
    """
    return min(math.nextafter(upper_root(q, c) * (1 + OUTWARD), math.inf), 1.0)


def kl_lower(q: float, c: float) -> float:
    """The least chance that explains a share q at cost c: inf{p ≤ q : kl(q‖p) ≤ c}, rounded down.

    >>> round(kl_lower(0.1, math.log(20) / 1000), 6)
    0.07838
    """
    return max(math.nextafter(lower_root(q, c) * (1 - OUTWARD), 0.0), 0.0)


def upper_root(q: float, c: float) -> float:
    """``kl_upper`` as it comes out, rounded neither way."""
    _check(q, c)
    if q == 0:
        return -math.expm1(-c)
    if q == 1 or c == math.inf:
        return 1.0
    return turning_point(lambda p: one_sided_kl(p - q, q, 1 - q, 1 - p) > c, q, 1.0)


def lower_root(q: float, c: float) -> float:
    """``kl_lower`` as it comes out, rounded neither way."""
    _check(q, c)
    if q == 0 or c == math.inf:
        return 0.0
    if q == 1:
        return math.exp(-c)
    # kl(q‖p) ≥ q ln(q/p) + (1-q) ln(1-q), so nothing below `least` can be the answer.
    least = q * math.exp(-(c - (1 - q) * math.log1p(-q)) / q) / 2
    if least == 0:
        return 0.0
    return turning_point(lambda p: one_sided_kl(q - p, 1 - q, q, p) <= c, least, q)


def one_sided_kl(step: float, near: float, rest: float, end: float) -> float:
    """kl(q‖p) for p a ``step`` above q, with q = ``near``, 1 - q = ``rest`` and 1 - p = ``end``.

    Turned round (1 - q for q) it serves p below q. Whoever knows the parts loses no digit to 1 - q.

    >>> round(one_sided_kl(0.1, 0.1, 0.9, 0.8), 6) == round(kl(0.1, 0.2), 6)
    True
    """
    if end <= 0:
        return math.inf
    # near may be so small that step/near overflows; its term is then nothing.
    first = near * math.log1p(step / near) if step < near * 1e300 else 0.0
    # end may be so small that step/end overflows, where 1 + step/end and step/end are the same.
    second = math.log1p(step / end) if step < end * 1e300 else math.log(step) - math.log(end)
    return max(rest * second - first, 0.0)


def turning_point(beyond: Callable[[float], bool], low: float, high: float) -> float:
    """Where ``beyond`` turns true, to the last bit; ``low`` and ``high`` hold it between them.

    >>> round(turning_point(lambda p: p * p > 2, 1.0, 2.0), 9)
    1.414213562
    """
    while True:
        # Geometric steps first: an end may lie many powers of two away.
        middle = math.sqrt(low) * math.sqrt(high) if high > 2 * low else low + (high - low) / 2
        if not low < middle < high:
            return middle
        if beyond(middle):
            high = middle
        else:
            low = middle


def _check(q: float, c: float) -> None:
    share("q", q)
    if not c >= 0:
        raise ParameterError(f"c is {c!r}; a divergence is 0 or more")


# Upper bounds on a mean that need neither equal chances nor values of 0 and 1 only.
#
# **Rows in the order of time**, by a mixture of conditional moment bounds (``mean_risk_upper``).
#   Row t is a mistake, X_t = 1, with a chance r_t that may depend on all rows before. For every λ >
#   0, with c = 1 - e^(-λ),
#
#     M(λ) = ∏ e^(-λ X_t)/(1 - r_t c)
#
# has mean 1, and by the inequality of arithmetic and geometric means it is at least (1 - c)^k/(1 -
# r̄ c)^n, k the number of mistakes and r̄ the mean of the r_t. So for weights w_j fixed beforehand
# Σ w_j (1 - c_j)^k/(1 - r̄ c_j)^n is below 1/delta except with probability delta (Markov). It grows
# with r̄; the r̄ at which it reaches 1/delta is the bound. docs/proofs/dependent.md.
#
# λ = ∞ suits periods without a mistake, λ = √(8 ln(1/delta)/n) many mistakes (it is that of Azuma's
# bound), and what lies between suits few. The weights depend on n and delta alone.
#
# **Independent shares** (``mean_share_upper``), by bets. Let X_1, …, X_G be independent with values
#   in [0, 1] and mean μ. They come in blocks, and each block has a cost κ > 0 that is known before
#   the block is. For every m let x(m) < m be the share with kl(x‖m) = κ (0 where there is none),
#   and bet
#
#     K(m) = ∏ ((1 - X_g)·a + X_g·b),    a = (1 - x)/(1 - m),  b = x/m.
#
# Each factor has mean 1 at m = μ, given the blocks before, so K(μ) ≥ 1/delta has probability at
# most delta (Markov). a and b grow with m, and so does K: the m at which K reaches 1/delta bounds
# μ.
#
# One block has κ = ln(1/delta)/G. The logarithm of a factor is concave in X_g, so K is at least
# what numbers 0 and 1 with the same mean would give, which is Chernoff's bound: this one is never
# above it. Several blocks bet more where the blocks before vary less than coins do: with their mean
# m̂ and variance v̂, to which one coin more is added, κ is larger by the factor m̂(1 - m̂)/v̂.
# docs/proofs/dependent.md.

STEPS = 16
LARGEST = 2.0
"""The largest finite λ; from there on λ = ∞ is as good."""
LEAST_TO_HALVE = 16
"""Fewer numbers are one block."""
ENDS, BETWEEN = 0.25, 0.5
"""The weight of λ = ∞ and of the smallest λ, each, and of all steps together."""


def mean_risk_upper(k: int, n: int, delta: float) -> float:
    """Bound the mean risk of n rows, k of them mistakes, rounded up.

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


Block = tuple[NDArray[np.float64], NDArray[np.float64]]
"""How often numbers occur, and the numbers."""


def block_ends(number: int) -> list[int]:
    """Return where blocks end: the last has half of the numbers, the one before a quarter, ….

    >>> block_ends(500), block_ends(15)
    ([15, 31, 62, 125, 250, 500], [15])
    """
    ends = [number]
    while ends[0] >= LEAST_TO_HALVE:
        ends.insert(0, ends[0] // 2)
    return ends


def mean_share_upper(blocks: Sequence[Block], delta: float) -> float:
    """Bound the mean of independent numbers, which come in blocks.

    >>> halves = mean_share_upper([(np.array([40.0, 20.0]), np.array([0.0, 0.5]))], 0.05)
    >>> round(halves, 4), round(kl_upper(10 / 60, math.log(20) / 60), 4)
    (0.262, 0.304)
    """
    log_inverse = -log_of(probability("delta", delta))
    number, mean, _ = _moments(blocks)
    cost = log_inverse / number
    costs = [cost * _factor(blocks[:place]) for place in range(len(blocks))]
    of_block = np.repeat(np.arange(len(blocks)), [times.size for times, _ in blocks])
    times, values = (np.concatenate(own) for own in zip(*blocks, strict=True))

    def beyond(m: float) -> bool:
        others = np.array([_other(m, own) for own in costs])[of_block]
        logs = times * log((1 - values) * ((1 - others) / (1 - m)) + values * (others / m))
        return total(logs) - 1e-12 * (1 + total(np.abs(logs))) >= log_inverse

    largest = kl_upper(mean, cost) if len(blocks) == 1 or mean == 0 else 1.0
    most = min(largest, 1 - 2.0**-53)
    if mean in (0, 1) or not beyond(most):
        return largest
    value = turning_point(beyond, mean, most)
    return min(math.nextafter(value * (1 + OUTWARD), math.inf), largest)


def _other(m: float, cost: float) -> float:
    """Return the x < m with kl(x‖m) = cost; 0 where there is none."""
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
    """Return how much more than on coins to bet, by what was seen before."""
    if not past:
        return 1.0
    number, mean, squares = _moments(past)
    centre = (number * mean + 0.5) / (number + 1)
    coin = centre * (1 - centre)
    return coin * (number + 1) / (number * max(squares - mean * mean, 0.0) + coin)


def _moments(blocks: Sequence[Block]) -> tuple[float, float, float]:
    """Return the number of numbers, their mean and the mean of their squares."""
    number = total(np.array([total(times) for times, _ in blocks]))
    sums = [[total(times * values**power) for times, values in blocks] for power in (1, 2)]
    mean, squares = (total(np.array(own)) / number for own in sums)
    return number, min(1.0, mean), squares
