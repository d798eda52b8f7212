"""How many held-out rows let a classifier of known quality pass, with a stated probability.

A classifier whose risk is ``error`` passes if its K ~ Bin(n, error) mistakes are at most c(n),
those with BinInv(K, n, delta) ≤ epsilon. As c(n) is a whole number, a few rows more may make
passing less likely: the numbers here are those from which on *every* number of rows gives at least
``power``. Chernoff's bound shows from where on this is sure; below, the teeth of constant c are
looked at one by one. Where rows of one class are counted, their number is Bin(n, share)
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
MOST_TEETH = 20_000
"""With more teeth than this the number by Chernoff's bound is given."""
TAILS = 1e-12
"""Numbers of rows of a class that come less often than this count as not passing."""


@plain_numbers
def rows_to_pass(epsilon: float, delta: float, error: float = 0.0, power: float = 0.9) -> int:
    """Count the rows from which on a classifier of this error passes with probability ``power``.

    >>> rows_to_pass(0.01, 0.05), rows_to_pass(0.1, 0.05, error=0.05)
    (299, 263)
    """
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
    """Count the rows from which on every number passes, if ``enough`` and all above do.

    ``passes(c, n)`` is asked of the last n at which c mistakes, and no more, are allowed.
    """
    most = allowed_mistakes(enough, epsilon, delta)
    if most > MOST_TEETH:
        return enough
    allowed = np.arange(0.0, most + 1)
    fails = np.flatnonzero(~passes(allowed, _first_rows(allowed + 1, epsilon, delta) - 1))
    return _first_row(int(fails[-1]) + 1 if fails.size else 0, epsilon, delta)


@plain_numbers
def rows_of_all_to_pass(
    share: float, epsilon: float, delta: float, error: float = 0.0, power: float = 0.9
) -> int:
    """Count the rows of all classes from which on the rows of one pass with probability ``power``.

    A row is of the class with probability ``share``. One row more lowers the probability by no more
    than ``share`` times the most that it falls from one number of rows of the class to the next.

    >>> rows_of_all_to_pass(0.01, 0.05, 0.05), rows_of_all_to_pass(0.2, 0.1, 0.05, error=0.05)
    (6898, 1267)
    """
    from scipy.stats import binom

    more = (1 + probability("power", power)) / 2
    many = rows_to_pass(epsilon, delta, error, more)
    sure = rows_of_all(many, share, power / more)
    most = int(_likely(sure, share)[-1])
    if allowed_mistakes(most, epsilon, delta) > MOST_TEETH:
        return sure
    chances = _chances_to_pass(np.arange(most + 1.0), epsilon, delta, error)
    fall = share * (max(0.0, float(-np.diff(chances).min())) + TAILS)

    def between(low: int, high: int) -> bool:
        rows = _likely(min(low, sure), share)
        mean = total(binom.pmf(rows, low, share) * chances[rows.astype(int)])
        return low >= sure or mean - (high - low) * fall >= power

    return from_here_on(between, 1, sure, "this share")


@plain_numbers
def rows_of_all(rows: int, share: float, power: float) -> int:
    """Count the rows of all classes that hold so many of one with probability ``power``.

    >>> rows_of_all(59, 0.01, 0.9)
    6898
    """
    from scipy.stats import binom

    probability("share", share)
    return smallest(lambda n: binom.sf(rows - 1, n, share) >= power, rows, f"a share of {share:g}")


@plain_numbers
def chance_of_all_to_pass(
    n: int, share: float, epsilon: float, delta: float, error: float = 0.0
) -> float:
    """Return the probability to pass by those of n rows that are of a class of this share.

    >>> round(chance_of_all_to_pass(5900, 0.01, 0.05, 0.05), 3)
    0.518
    """
    from scipy.stats import binom

    rows = _likely(n, share)
    return total(binom.pmf(rows, n, share) * _chances_to_pass(rows, epsilon, delta, error))


def _chances_to_pass(rows: Doubles, epsilon: float, delta: float, error: float) -> Doubles:
    """The chance to pass by each of these numbers of rows, which rise by 1."""
    from scipy.special import betainc

    least, most = (allowed_mistakes(int(n), epsilon, delta) for n in rows[[0, -1]])
    first = _first_rows(np.arange(least + 1.0, most + 1), epsilon, delta)
    allowed = least + np.searchsorted(first, rows, side="right")
    chances = betainc(rows - allowed, np.maximum(allowed, 0) + 1, 1 - error)
    return np.asarray(np.where(allowed < 0, 0.0, chances))


def _likely(n: int, share: float) -> Doubles:
    """The numbers of rows of a class among n; all others together come less often than TAILS."""
    reach = 8 * math.sqrt(n * share) + 40
    low, high = max(0, math.floor(n * share - reach)), min(n, math.ceil(n * share + reach))
    return np.arange(low, high + 1.0)


@plain_numbers
def rows_to_pass_by_chernoff(
    epsilon: float, delta: float, error: float = 0.0, power: float = 0.9
) -> int:
    """Count rows that are enough by Chernoff's bound, for themselves and all larger numbers.

    >>> rows_to_pass_by_chernoff(0.1, 0.05, error=0.05)
    572
    """
    check_rate(error, epsilon)
    log_delta = -math.log(probability("delta", delta))
    log_miss = -math.log1p(-probability("power", power))
    if error == 0:
        return math.ceil(log_delta / -math.log1p(-epsilon) * (1 + 1e-12))
    t = crossing(lambda t: kl(t, error) * log_delta - kl(t, epsilon) * log_miss, error, epsilon)
    return _whole(max(log_delta / kl(t, epsilon), log_miss / kl(t, error)))


@plain_numbers
def chance_to_pass(n: int, epsilon: float, delta: float, error: float = 0.0) -> float:
    """Return the probability that a classifier of this error is certified at epsilon by n rows.

    >>> round(chance_to_pass(129, 0.1, 0.05, error=0.05), 3)
    0.682
    """
    from scipy.special import betainc

    allowed = allowed_mistakes(n, epsilon, delta)
    return 0.0 if allowed < 0 else float(betainc(n - allowed, allowed + 1, 1 - error))


@plain_numbers
def allowed_mistakes(n: int, epsilon: float, delta: float) -> int:
    """Return the most mistakes on n rows whose exact bound is at most epsilon; -1 if none may be.

    >>> allowed_mistakes(29, 0.1, 0.05), allowed_mistakes(28, 0.1, 0.05)
    (0, -1)
    """
    return bisect(range(n), epsilon, key=lambda k: clopper_pearson(k, n, delta)) - 1


def _first_row(mistakes: int, epsilon: float, delta: float) -> int:
    """The smallest n at which so many mistakes pass: a quantile, corrected by the bound itself."""
    from scipy.stats import nbinom

    n = int(nbinom.isf(delta, mistakes + 1, epsilon)) + mistakes + 1
    while not _passes(mistakes, n, epsilon, delta):
        n += 1
    while n > mistakes + 1 and _passes(mistakes, n - 1, epsilon, delta):
        n -= 1
    return n


def _first_rows(mistakes: Doubles, epsilon: float, delta: float) -> Doubles:
    """The same for many numbers of mistakes; where rounding decides, one row too many."""
    from scipy.stats import nbinom

    return np.asarray(nbinom.isf(delta * (1 - 1e-12), mistakes + 1, epsilon) + mistakes + 1)


def _passes(mistakes: int, n: int, epsilon: float, delta: float) -> bool:
    return clopper_pearson(mistakes, n, delta) <= epsilon


def _whole(rows: float) -> int:
    if rows > 2**50:
        raise NotCertified(f"more than {2**50:,} rows are needed: ask for a larger epsilon")
    return math.ceil(rows * (1 + 1e-12))
