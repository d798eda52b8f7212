"""How many held-out rows let a classifier of known quality pass, with a stated probability.

A classifier whose risk is ``error`` passes if its K ~ Bin(n, error) mistakes are at most c(n),
those with BinInv(K, n, delta) ≤ epsilon. A few rows more may make passing less likely, so the
numbers here are the least for which *every* larger number gives at least ``power``. Chernoff's
bound gives a sufficient number; below it, the ranges of n with the same c are checked one by one
(docs/proofs/rates.md).
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.search import check_rate, crossing, from_here_on, smallest
from pacboost.errors import NotCertified
from pacboost.numerics.checks import plain_numbers, probability
from pacboost.numerics.kl import kl
from pacboost.numerics.same_bits import total

Doubles = NDArray[np.float64]
MAX_TEETH = 20_000
"""With more teeth than this, the number by Chernoff's bound is returned."""
TAIL_PROBABILITY = 1e-12


@plain_numbers
def rows_to_pass(epsilon: float, delta: float, error: float = 0.0, power: float = 0.9) -> int:
    """Return the least n such that the classifier passes with ``power`` on n rows or more."""
    from scipy.special import betainc

    enough = rows_to_pass_by_chernoff(epsilon, delta, error, power)
    if error == 0:
        return _first_row(0, epsilon, delta)
    return rows_from_tooth_on(
        lambda c, n: betainc(n - c, c + 1, 1 - error) >= power, enough, epsilon, delta
    )


def rows_from_tooth_on(
    passes: Callable[[Doubles, Doubles], NDArray[np.bool_]],
    enough: int,
    epsilon: float,
    delta: float,
) -> int:
    """Return the least number of rows such that it and all larger numbers pass.

    ``passes(c, n)`` is called for the last n at which c mistakes, and no more, are allowed.
    """
    max_allowed = allowed_mistakes(enough, epsilon, delta)
    # Passing is a saw: it falls from one n to the next while the same number of mistakes is
    # allowed. The last n of each tooth is its worst, so only these are looked at.
    if max_allowed > MAX_TEETH:
        return enough
    allowed = np.arange(0.0, max_allowed + 1)
    fails = np.flatnonzero(~passes(allowed, _first_rows(allowed + 1, epsilon, delta) - 1))
    return _first_row(int(fails[-1]) + 1 if fails.size else 0, epsilon, delta)


@plain_numbers
def rows_of_all_to_pass(
    share: float, epsilon: float, delta: float, error: float = 0.0, power: float = 0.9
) -> int:
    """Return how many rows of all classes are needed if only the rows of one class count.

    One row more lowers the probability by ``share`` times its largest fall, at most.
    """
    from scipy.stats import binom

    higher_power = (1 + probability("power", power)) / 2
    class_rows = rows_to_pass(epsilon, delta, error, higher_power)
    sure = rows_of_all(class_rows, share, power / higher_power)
    max_class_rows = int(_likely(sure, share)[-1])
    if allowed_mistakes(max_class_rows, epsilon, delta) > MAX_TEETH:
        return sure
    chances = _chances_to_pass(np.arange(max_class_rows + 1.0), epsilon, delta, error)
    fall = share * (max(0.0, float(-np.diff(chances).min())) + TAIL_PROBABILITY)

    def between(low: int, high: int) -> bool:
        rows = _likely(min(low, sure), share)
        mean = total(binom.pmf(rows, low, share) * chances[rows.astype(int)])
        return low >= sure or mean - (high - low) * fall >= power

    return from_here_on(between, 1, sure, "this share")


@plain_numbers
def rows_of_all(rows: int, share: float, power: float) -> int:
    """Return how many rows of all classes hold ``rows`` of one class with this ``power``."""
    from scipy.stats import binom

    probability("share", share)
    return smallest(lambda n: binom.sf(rows - 1, n, share) >= power, rows, f"a share of {share:g}")


@plain_numbers
def chance_of_all_to_pass(
    n: int, share: float, epsilon: float, delta: float, error: float = 0.0
) -> float:
    """Return the chance to pass if only rows of a class of this share count, among n rows."""
    from scipy.stats import binom

    rows = _likely(n, share)
    return total(binom.pmf(rows, n, share) * _chances_to_pass(rows, epsilon, delta, error))


def _chances_to_pass(rows: Doubles, epsilon: float, delta: float, error: float) -> Doubles:
    """Return the chance to pass for each number of ``rows``."""
    from scipy.special import betainc

    allowed_first, allowed_last = (allowed_mistakes(int(n), epsilon, delta) for n in rows[[0, -1]])
    first = _first_rows(np.arange(allowed_first + 1.0, allowed_last + 1), epsilon, delta)
    allowed = allowed_first + np.searchsorted(first, rows, side="right")
    chances = betainc(rows - allowed, np.maximum(allowed, 0) + 1, 1 - error)
    return np.asarray(np.where(allowed < 0, 0.0, chances))


def _likely(n: int, share: float) -> Doubles:
    """Return the likely numbers of rows of a class among n, all but a tail."""
    reach = 8 * math.sqrt(n * share) + 40
    low, high = max(0, math.floor(n * share - reach)), min(n, math.ceil(n * share + reach))
    return np.arange(low, high + 1.0)


@plain_numbers
def rows_to_pass_by_chernoff(
    epsilon: float, delta: float, error: float = 0.0, power: float = 0.9
) -> int:
    """Return a number of rows such that it and all larger ones pass, by Chernoff's bound."""
    check_rate(error, epsilon)
    log_delta = -math.log(probability("delta", delta))
    log_miss = -math.log1p(-probability("power", power))
    if error == 0:
        return math.ceil(log_delta / -math.log1p(-epsilon) * (1 + 1e-12))
    t = crossing(lambda t: kl(t, error) * log_delta - kl(t, epsilon) * log_miss, error, epsilon)
    return _whole(max(log_delta / kl(t, epsilon), log_miss / kl(t, error)))


@plain_numbers
def chance_to_pass(n: int, epsilon: float, delta: float, error: float = 0.0) -> float:
    """Return the probability that a classifier of this error is certified at epsilon by n rows."""
    from scipy.special import betainc

    allowed = allowed_mistakes(n, epsilon, delta)
    return 0.0 if allowed < 0 else float(betainc(n - allowed, allowed + 1, 1 - error))


@plain_numbers
def allowed_mistakes(n: int, epsilon: float, delta: float) -> int:
    """Return the largest number of mistakes on n rows with a bound of at most epsilon, or -1."""
    return bisect(range(n), epsilon, key=lambda k: clopper_pearson(k, n, delta)) - 1


def _first_row(mistakes: int, epsilon: float, delta: float) -> int:
    """Return the smallest n at which this number of ``mistakes`` passes."""
    from scipy.stats import nbinom

    n = int(nbinom.isf(delta, mistakes + 1, epsilon)) + mistakes + 1
    while not _passes(mistakes, n, epsilon, delta):
        n += 1
    while n > mistakes + 1 and _passes(mistakes, n - 1, epsilon, delta):
        n -= 1
    return n


def _first_rows(mistakes: Doubles, epsilon: float, delta: float) -> Doubles:
    """Return the smallest n for many numbers of mistakes, up to 1 too large by rounding."""
    from scipy.stats import nbinom

    return np.asarray(nbinom.isf(delta * (1 - 1e-12), mistakes + 1, epsilon) + mistakes + 1)


def _passes(mistakes: int, n: int, epsilon: float, delta: float) -> bool:
    return clopper_pearson(mistakes, n, delta) <= epsilon


def _whole(rows: float) -> int:
    if rows > 2**50:
        raise NotCertified(f"more than {2**50:,} rows are needed: ask for a larger epsilon")
    return math.ceil(rows * (1 + 1e-12))
