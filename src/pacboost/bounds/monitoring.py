"""Is a certificate still true? Capital that grows where a model errs more often than certified.

If every conditional mean of the mistakes X_1, X_2, … is at most e, the capital
∏ (q/e)^X ((1-q)/(1-e))^(1-X), averaged over a grid of q > e, ever reaches 1/δ with probability at
most δ (docs/proofs/monitoring.md).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.search import smallest
from pacboost.errors import ParameterError
from pacboost.numerics.checks import counts, plain_numbers, positive_whole, probability
from pacboost.numerics.same_bits import exp, log, log1p, log_of, total

# The error that a model will have is not known: bets on 16 alternatives, each of which may win.
ODDS = 1.1 * exp(np.arange(16) * (log_of(10.0 / 1.1) / 15))
"""Each alternative q multiplies the odds of a mistake by one of these."""
EQUAL_WEIGHTS = np.full(ODDS.size, 1 / ODDS.size)
# Capital is bet where a change is likely; the fifth that is divided equally finds the others.
TYPICAL_ODDS, LOG_ODDS_SPREAD, EQUAL_PART = 1.5, 0.25, 0.2
DETECTOR_WEIGHTS = exp(-0.5 * ((log(ODDS) - log_of(TYPICAL_ODDS)) / LOG_ODDS_SPREAD) ** 2)
DETECTOR_WEIGHTS *= (1 - EQUAL_PART) / total(DETECTOR_WEIGHTS)
DETECTOR_WEIGHTS += EQUAL_PART * EQUAL_WEIGHTS
"""The detector bets most on errors that grow by about a half, and a little on each alternative."""
WEIGHTS = np.ldexp(0.5, -np.arange(14))
"""The weights λ of the confidence sequence; each has an equal share of δ."""


def alternatives(error: float) -> NDArray[np.float64]:
    """Return the error rates that are bet on, all larger than the certified one."""
    odds = probability("error", error) / (1 - error) * ODDS
    rates: NDArray[np.float64] = odds / (1 + odds)
    return rates


def log_factors(error: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the logarithms of the factors of each bet: after a mistake, and after none."""
    others = alternatives(error)
    return log(others / error), log1p(-others) - log1p(-error)


@plain_numbers
def log_capital(k: int, n: int, error: float) -> float:
    """Return the log of the capital after k mistakes on n rows, if at most ``error`` is claimed."""
    return _log_capital(*counts(k, n), error, EQUAL_WEIGHTS)


def _log_capital(k: int, n: int, error: float, weights: NDArray[np.float64]) -> float:
    won, lost = log_factors(error)
    single = k * won + (n - k) * lost
    top = float(single.max())
    return top + log_of(total(exp(single - top) * weights))


@plain_numbers
def rows_to_see(
    before: float, after: float, log_goal: float, power: float = 0.9, *, detector: bool = False
) -> int:
    """Return the number of rows after which the capital passes e^log_goal with this ``power``.

    The error grows from ``before`` to ``after`` at the first of them.
    """
    from scipy.stats import binom

    if not probability("before", before) < probability("after", after):
        raise ParameterError(
            f"before is {before:g} and after is {after:g}; only an error that grows can be seen"
        )
    probability("power", power)
    weights = DETECTOR_WEIGHTS if detector else EQUAL_WEIGHTS

    def is_seen(n: int) -> bool:
        capital = partial(_log_capital, n=n, error=before, weights=weights)
        mistakes = bisect_left(range(1, n + 1), log_goal, key=capital)  # it rises with the mistakes
        return bool(binom.sf(mistakes, n, after) >= power)

    return smallest(is_seen, 1, f"seeing an error of {after:g} above {before:g}")


@plain_numbers
def mean_interval(total: float, squares: float, rows: int, delta: float) -> tuple[float, float]:
    """Return an interval for the mean conditional error of the rows so far, valid at all times.

    ``squares`` is the sum of (X_i - m_i)², where m_i is the mean of the past of X_i. The errors
    may change in time: it is their mean that lies in the interval.
    """
    mean = total / positive_whole("rows", rows)
    slack = 1e-12 + 4e-16 * rows
    # two sides, each for 14 weights λ at once
    price = math.log(2 * WEIGHTS.size / probability("delta", delta))
    spread = (-log1p(-WEIGHTS) - WEIGHTS) * squares
    radius = float(((price + spread) / WEIGHTS).min()) / rows * (1 + slack) + slack
    return max(0.0, mean - radius), min(1.0, mean + radius)
