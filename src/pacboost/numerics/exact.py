"""Sums that come out the same in any order.

Floating-point addition is not associative, so a sum over rows would depend on how rows are split
among threads and in which order they arrive. Two roundings remove that, once and for all:

* what is summed over rows is a *whole-number weight*; a fresh set of weights sums to about
  ``FRESH_TOTAL`` and never to more than ``MOST_TOTAL = 2**53``, so every sum is exact;
* a *vote* is a multiple of ``VOTE_UNIT = 2**-40``; scores up to 2**12 are then exact however the
  votes are added up, round by round or from a table per feature.

Neither costs a theorem anything: the bound is computed from what was really used.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

FRESH_TOTAL = 2**52
MOST_TOTAL = 2**53
VOTE_UNIT = 2.0**-40

MOST_VOTE = 0.5 * math.log(MOST_TOTAL)
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
    """Give the power of two that brings a sum of weights to between 2**51 and ``FRESH_TOTAL``.

    Sums that differ in their last bits have the same, so a row of weight 2 is treated as two rows.

    >>> whole_scale(3.0) == 2.0**50
    True
    """
    return math.ldexp(1.0, 52 - math.frexp(total)[1])


def in_units_of_least(base: NDArray[np.float64], outputs: int = 1) -> NDArray[np.float64]:
    """Give base weights in units of the least, one for each output; whole where they nearly are.

    >>> in_units_of_least(np.array([0.1, 0.3])).tolist()
    [1.0, 3.0]
    """
    if base.size == 1:
        return np.ones(1)
    units = np.repeat(base / base.min(), outputs)
    whole = np.rint(units)
    return np.where(np.abs(units - whole) <= 1e-9 * whole, whole, units)
