"""Is the order of rows by chance? Two exact tests of a sequence of noughts and ones.

Rows that are independent draws from one distribution are exchangeable: given which rows there are,
every order of them is equally likely. A condition that each row meets or not (a mistake, a class, a
value above the median) is then a sequence in which k of n places are ones, all choices of the
places equally likely. So

* the number of ones in the first half is hypergeometric, and
* the number of runs (stretches of equal neighbours) has the law of Wald and Wolfowitz 1940.

Both p-values are two-sided and exact. docs/proofs/order.md proves it, and what the median may be.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from pacboost.errors import ParameterError
from pacboost.numerics.binomial import log_hypergeometric_tail
from pacboost.numerics.checks import counts, plain_numbers, positive_whole
from pacboost.numerics.same_bits import exp, total

SLACK = 1e-7
"""Rounding errors of sums of logarithms, for up to MOST_ROWS rows, with room to spare."""
MOST_ROWS = 200_000


@plain_numbers
def halves_p(first: int, ones: int, rows: int) -> float:
    """Return the p-value of so many ones in the first half of the rows (the smaller half if odd).

    >>> round(halves_p(10, 10, 20), 8), halves_p(5, 10, 20)
    (1.083e-05, 1.0)
    """
    counts(ones, positive_whole("rows", rows))
    half = rows // 2
    if not max(0, half - (rows - ones)) <= first <= min(half, ones):
        raise ParameterError(
            f"first is {first}; of {rows} rows with {ones} ones the first half cannot hold that"
        )
    if half == 0:
        return 1.0
    low = log_hypergeometric_tail(first, half, ones, rows)
    high = log_hypergeometric_tail(ones - first, rows - half, ones, rows)
    return min(1.0, 2 * math.exp(min(low, high)) * (1 + SLACK))


@plain_numbers
def runs_p(runs: int, ones: int, rows: int) -> float:
    """Return the p-value of so many runs.

    >>> round(runs_p(2, 10, 20), 8), runs_p(11, 10, 20)
    (2.165e-05, 1.0)
    """
    counts(ones, positive_whole("rows", rows))
    if rows > MOST_ROWS:
        raise ParameterError(f"there are {rows} rows; the test is for {MOST_ROWS} at most")
    few = min(ones, rows - ones)
    if few == 0:
        return 1.0
    law = _law(few, rows - few)  # of 2, 3, 4, … runs
    if not 2 <= runs < 2 + law.size:
        raise ParameterError(f"runs is {runs}; with {ones} ones in {rows} rows that cannot be")
    low, high = total(law[: runs - 1]), total(law[runs - 2 :])
    return min(1.0, 2 * min(low, high) * (1 + SLACK))


def _law(few: int, many: int) -> NDArray[np.float64]:
    """Return the probabilities of 2, 3, … runs."""
    pairs = np.arange(1, few + 1, dtype=np.float64)
    ways = _log_choose(few + many, np.array([float(few)]))[0]
    even = math.log(2) + _log_choose(few - 1, pairs - 1) + _log_choose(many - 1, pairs - 1) - ways
    one = _log_choose(few - 1, pairs) + _log_choose(many - 1, pairs - 1) - ways
    other = _log_choose(few - 1, pairs - 1) + _log_choose(many - 1, pairs) - ways
    law = np.empty(2 * few)
    law[0::2], law[1::2] = exp(even), exp(one) + exp(other)
    return law[: 2 * few - (few == many)]


def _log_choose(n: float, k: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = (k >= 0) & (k <= n)
    known = np.where(inside, k, 0.0)
    found = gammaln(n + 1) - gammaln(known + 1) - gammaln(n - known + 1)
    return np.asarray(np.where(inside, found, -np.inf))


def runs_of(sequence: ArrayLike) -> int:
    """Count the stretches of equal neighbours.

    >>> runs_of([0, 0, 1, 1, 0])
    3
    """
    values = np.asarray(sequence)
    return int(np.count_nonzero(values[1:] != values[:-1])) + 1
