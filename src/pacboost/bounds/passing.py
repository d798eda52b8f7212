"""How many held-out rows let a classifier of known quality pass, with a stated probability.

A classifier whose risk is ``error`` makes K ~ Bin(n, error) mistakes on n rows. It passes if
BinInv(K, n, delta) ≤ epsilon, which is K ≤ c(n), so with probability P[Bin(n, error) ≤ c(n)]. This
rises and falls with n like the teeth of a saw, because c(n) is a whole number: a few rows more may
make passing less likely. The numbers here are therefore those from which on *every* number of rows
gives at least the wanted probability, ``power``.

For any t between error and epsilon, Chernoff's bound shows that all n with

    n·kl(t‖epsilon) ≥ ln(1/delta)    and    n·kl(t‖error) ≥ ln(1/(1 - power))

are enough: with K ≤ tn the exact bound is at most epsilon, and K > tn is rare. Below that number
the teeth are looked at one by one: within a tooth c is constant, so its last n is the worst.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betainc
from scipy.stats import nbinom

from pacboost.bounds.confidence import crossing
from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.search import check_rate
from pacboost.errors import NotCertified
from pacboost.numerics.checks import plain_numbers, probability
from pacboost.numerics.kl import kl

MOST_TEETH = 20_000
"""With more teeth than this the number by Chernoff's bound is given."""


@plain_numbers
def rows_to_pass(epsilon: float, delta: float, error: float = 0.0, power: float = 0.9) -> int:
    """Count the rows from which on a classifier of this error passes with probability ``power``.

    >>> rows_to_pass(0.01, 0.05), rows_to_pass(0.1, 0.05, error=0.05)
    (299, 263)
    """
    enough = rows_to_pass_by_chernoff(epsilon, delta, error, power)
    most = allowed_mistakes(enough, epsilon, delta)
    if error == 0 or most < 0:
        return _first_row(0, epsilon, delta)
    if most > MOST_TEETH:
        return enough
    teeth = np.arange(0.0, most + 1)
    # The last n at which no more than c mistakes pass: one less than where c + 1 begin to.
    last = nbinom.isf(delta, teeth + 2, epsilon) + teeth + 1
    fails = np.flatnonzero(betainc(last - teeth, teeth + 1, 1 - error) < power)
    return _first_row(int(fails[-1]) + 1 if fails.size else 0, epsilon, delta)


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
def rows_to_pass_by_hoeffding(
    epsilon: float, delta: float, error: float = 0.0, power: float = 0.9
) -> int:
    """Count rows that are enough where the certificate is Hoeffding's.

    ((√ln(1/δ) + √ln(1/(1 - power)))/(ε - error))²/2.

    >>> rows_to_pass_by_hoeffding(0.1, 0.05, error=0.05)
    2111
    """
    check_rate(error, epsilon)
    roots = math.sqrt(-math.log(probability("delta", delta)))
    if error > 0:
        roots += math.sqrt(-math.log1p(-probability("power", power)))
    return _whole((roots / (epsilon - error)) ** 2 / 2)


@plain_numbers
def chance_to_pass(n: int, epsilon: float, delta: float, error: float = 0.0) -> float:
    """Give the probability that a classifier of this error is certified at epsilon by n rows.

    >>> round(chance_to_pass(129, 0.1, 0.05, error=0.05), 3)
    0.682
    """
    allowed = allowed_mistakes(n, epsilon, delta)
    return 0.0 if allowed < 0 else float(betainc(n - allowed, allowed + 1, 1 - error))


@plain_numbers
def allowed_mistakes(n: int, epsilon: float, delta: float) -> int:
    """Give the most mistakes on n rows whose exact bound is at most epsilon; -1 if none may be.

    >>> allowed_mistakes(29, 0.1, 0.05), allowed_mistakes(28, 0.1, 0.05)
    (0, -1)
    """
    low, high = -1, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _passes(middle, n, epsilon, delta) else (low, middle)
    return low


def _first_row(mistakes: int, epsilon: float, delta: float) -> int:
    """The smallest n at which so many mistakes pass: a quantile, corrected by the bound itself."""
    n = int(nbinom.isf(delta, mistakes + 1, epsilon)) + mistakes + 1
    while not _passes(mistakes, n, epsilon, delta):
        n += 1
    while n > mistakes + 1 and _passes(mistakes, n - 1, epsilon, delta):
        n -= 1
    return n


def _passes(mistakes: int, n: int, epsilon: float, delta: float) -> bool:
    return clopper_pearson(mistakes, n, delta) <= epsilon


def _whole(rows: float) -> int:
    if rows > 2**50:
        raise NotCertified(f"more than {2**50:,} rows are needed: ask for a larger epsilon")
    return math.ceil(rows * (1 + 1e-12))
