"""Boosting the confidence: from a learner that often fails to one that hardly ever does.

A learner that reaches risk ≤ ε except with probability ``failure`` is run k times on independent
samples; all runs fail with probability failure^k ≤ δ/2. The run with the fewest mistakes on a fresh
sample S is taken. If |S| is large enough, then with probability ≥ 1 - δ its risk is ≤ ε + gap:
with a threshold t between ε and ε + gap, the good run stays below t, and each of the others that
is worse than ε + gap stays above, except with probability exp(-|S|·kl) each. (Kearns and Vazirani
1994, section 4.2, who call the *success* probability δ₀; the formula k > (1/δ₀) ln(2/δ) is theirs
and is unsafe when δ₀ is read as the probability of failure.)
"""

from __future__ import annotations

import math

from pacboost.bounds.cross import crossing
from pacboost.errors import ParameterError
from pacboost.numerics.checks import plain_numbers, positive_whole, probability
from pacboost.numerics.kl import kl


@plain_numbers
def runs_needed(failure: float, delta: float) -> int:
    """Return the smallest k with failure^k ≤ δ/2.

    >>> runs_needed(0.9, 0.05)
    36
    """
    probability("failure", failure)
    probability("delta", delta)
    k = max(1, math.ceil(math.log(2 / delta) / -math.log(failure)))
    while k * math.log(failure) > math.log(delta / 2):  # the ceiling of a rounded quotient
        k += 1
    return k


@plain_numbers
def selection_size(epsilon: float, gap: float, runs: int, delta: float) -> int:
    """Return |S| by Chernoff's bound: ln(2k/δ)/kl(t‖ε) where kl(t‖ε) = kl(t‖ε + gap).

    >>> selection_size(0.1, 0.1, 37, 0.05)
    722
    """
    t = selection_threshold(epsilon, gap)
    positive_whole("runs", runs)
    probability("delta", delta)
    return math.ceil(math.log(2 * runs / delta) / kl(t, epsilon) * (1 + 1e-12))


@plain_numbers
def selection_threshold(epsilon: float, gap: float) -> float:
    """Return the t between ε and ε + gap from which both are equally far.

    >>> round(selection_threshold(0.1, 0.02), 6)
    0.109734
    """
    probability("epsilon", epsilon)
    if not 0 < gap < 1 - epsilon:
        raise ParameterError(f"gap is {gap}; it must lie strictly between 0 and {1 - epsilon:g}")
    worse = epsilon + gap
    return crossing(lambda t: kl(t, epsilon) - kl(t, worse), epsilon, worse)


@plain_numbers
def selection_size_hoeffding(gap: float, runs: int, delta: float) -> int:
    """Return |S| by Hoeffding's bound, (2/gap²) ln(2k/δ), for any ε.

    >>> selection_size_hoeffding(0.1, 37, 0.05)
    1460
    """
    probability("gap", gap)
    positive_whole("runs", runs)
    probability("delta", delta)
    return math.ceil(2 / gap**2 * math.log(2 * runs / delta))
