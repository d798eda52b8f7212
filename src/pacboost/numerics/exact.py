"""Sums that are the same in any order, and the definition of a mistake.

Floating-point addition is not associative, so a sum over rows would depend on how rows are split
among threads and in which order they arrive. Two roundings remove that, once and for all:

* rows have *whole-number weights*; a fresh set of weights sums to about ``FRESH_TOTAL`` and
  never to more than ``MAX_TOTAL = 2**53``, so every sum is exact;
* a *vote* is a multiple of ``VOTE_UNIT = 2**-40``; scores up to 2**12 are then exact
  in any order of addition, round by round or from a table per feature.

Theorems are unaffected: bounds are computed from the rounded weights and votes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FRESH_TOTAL = 2**52
MAX_TOTAL = 2**53
VOTE_UNIT = 2.0**-40

MAX_VOTE = 0.5 * math.log(MAX_TOTAL)
"""The vote of a rule whose error is one unit of weight: smaller errors cannot be distinguished."""


def round_vote(vote: float) -> float:
    """Round a vote to the nearest multiple of ``VOTE_UNIT``.

    >>> round_vote(0.1) + round_vote(0.2) == round_vote(0.3)
    True
    >>> 0.1 + 0.2 == 0.3
    False
    """
    return round(vote / VOTE_UNIT) * VOTE_UNIT


def whole_scale(total: float) -> float:
    """Return the power of two that brings a sum of weights to between 2**51 and ``FRESH_TOTAL``.

    Sums that differ in their last bits have the same scale, so a row of weight 2 equals two rows.

    >>> whole_scale(3.0) == 2.0**50
    True
    """
    return math.ldexp(1.0, 52 - math.frexp(total)[1])


def in_units_of_least(base: NDArray[np.float64], outputs: int = 1) -> NDArray[np.float64]:
    """Return base weights as multiples of the smallest, repeated for each output.

    Multiples that are whole up to rounding are rounded.

    >>> in_units_of_least(np.array([0.1, 0.3])).tolist()
    [1.0, 3.0]
    """
    if base.size == 1:
        return np.ones(1)
    units = np.repeat(base / base.min(), outputs)
    rounded = np.rint(units)
    # a base of decimals such as 0.1 and 0.3 has a quotient that is off in its last bits
    return np.where(np.abs(units - rounded) <= 1e-9 * rounded, rounded, units)


Scores = NDArray[Any]
Marked = NDArray[np.bool_]


def wrong_margins(margins: ArrayLike) -> Marked:
    """Mark the margins y·F(x) that are not above 0: the definition of a mistake in certificates.

    A tie is a mistake, and so is NaN, because the vote then decides nothing. A theorem about the
    error of a vote therefore holds for any answer of ``predict`` on a tie. The loops over rows of
    src/native/rounds/costs.cpp have the same definition, for the training error.
    """
    return np.logical_not(np.asarray(margins) > 0)


def wrong_classes(scores: Scores, labels: NDArray[np.integer]) -> Marked:
    """Mark the rows (rows, classes) whose class does not score above every other class."""
    return wrong_answers(scores.argmax(axis=1), labels, scores)


def wrong_answers(answers: NDArray[Any], truth: NDArray[Any], scores: Scores) -> Marked:
    """Mark the rows whose answer is not the truth, or whose scores are tied."""
    return np.asarray((answers != truth) | tied(scores))


def tied(scores: Scores) -> Marked:
    """Mark the rows with tied scores, of shape (rows,) for two classes or (rows, classes)."""
    if scores.ndim == 1:
        return np.asarray((scores == 0) | np.isnan(scores))
    # NaN is lower than nothing, so a row with NaN has too few lower scores, and is tied
    lower = scores < scores.max(axis=1, keepdims=True)
    return np.asarray(lower.sum(axis=1) < scores.shape[1] - 1)


def draw(weights: NDArray[np.int64], size: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Draw ``size`` row numbers with replacement, with probability proportional to the weights."""
    ends = np.cumsum(weights)
    return np.searchsorted(ends, generator.integers(ends[-1], size=size), side="right")


Floats = NDArray[np.float64]


def quantile_of(numbers: Floats, weights: NDArray[np.int64] | None, share: float) -> float:
    """Return the middle of all numbers v that minimise the pinball loss of ``share``.

    That loss is Σ w·share·(r - v) over numbers r above v, and Σ w·(1 - share)·(v - r) over the
    others; with a share of ½ the minimum is the median. Weights are rounded to whole units, so
    sums that differ by less than a unit per row count as equal: a row of weight 2 then has the same
    effect as two rows.
    """
    if weights is None:
        return _of_equal_weights(numbers, share)
    order = np.argsort(numbers, kind="stable")
    below = 2 * np.cumsum(weights[order])
    goal = share * float(below[-1])
    # each weight was rounded by up to half a unit, and the sums are doubled;
    # but no slack may skip a whole row, or rows of small weight would not count
    slack = min(numbers.size, int(weights.min()) - 1)
    at = min(int(np.searchsorted(below, goal - slack)), numbers.size - 1)
    if below[at] <= goal + slack and at + 1 < numbers.size:
        return float((numbers[order[at]] + numbers[order[at + 1]]) / 2)
    return float(numbers[order[at]])


def _of_equal_weights(numbers: Floats, share: float) -> float:
    goal = share * numbers.size
    rounding = 1e-12 * numbers.size
    at = min(max(math.ceil(goal - rounding) - 1, 0), numbers.size - 1)
    after = min(at + 1, numbers.size - 1)
    parted = np.partition(numbers, (at, after))
    if abs(goal - (at + 1)) <= rounding:
        return float((parted[at] + parted[after]) / 2)
    return float(parted[at])


def quantiles_of_cells(
    numbers: Floats,
    weights: NDArray[np.int64] | None,
    share: float,
    cells: NDArray[np.unsignedinteger],
    count: int,
) -> Floats:
    """Return the quantile of every cell; 0 for cells without rows."""
    order = np.argsort(cells, kind="stable")
    ends = np.cumsum(np.bincount(cells, minlength=count))
    quantiles = np.zeros(count)
    for cell, rows in enumerate(np.split(order, ends[:-1])):
        if rows.size:
            cell_weights = None if weights is None else weights[rows]
            quantiles[cell] = quantile_of(numbers[rows], cell_weights, share)
    return quantiles
