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

FRESH_TOTAL = 2**52
MOST_TOTAL = 2**53
VOTE_UNIT = 2.0**-40

MOST_VOTE = 0.5 * math.log(MOST_TOTAL)
"""The vote of a rule whose error is one unit of weight: no finer error can be told apart."""


def round_vote(vote: float) -> float:
    """Round a vote to the nearest multiple of ``VOTE_UNIT``.

    >>> round_vote(0.1) + round_vote(0.2) == round_vote(0.3)
    True
    >>> 0.1 + 0.2 == 0.3
    False
    """
    return round(vote / VOTE_UNIT) * VOTE_UNIT
