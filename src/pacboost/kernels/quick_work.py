"""The arrays that rounds of LogitBoost in compiled code work on: see kernels/quick_rounds.py."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Wholes = NDArray[np.int64]
Floats = NDArray[np.float64]

LEAVES, KEY = 2, 4  # places in ``plan`` and in ``limits``: see kernels/grow_team.py

# what ``course`` holds: whether to go on; the number of the round, from 0 on, and how many are
# wanted; how many rounds validation rows have seen, which was best, after how many without progress
# to stop (-1: never) and how many to do at least; whether a tree had no edge
GOES_ON, ROUND, WANTED, SEEN, BEST_ROUND, PATIENCE, LEAST, NO_EDGE = range(8)
# what ``settings`` holds: the largest sum of pairs; what is added to the weight of a leaf; half of
# the rate; the most that a leaf's mean may be; the unit of values; the least edge; the best value
# on validation rows so far, and how much better is progress
MOST_SUM, L2, HALF_RATE, MOST_STEP, UNIT, LEAST_EDGE, BEST, TOLERANCE = range(8)
# columns of ``Records.wholes`` and of ``Records.floats``
N_LEAVES, WEIGHT, PULL, WRONG = range(4)
EDGE, HELD_COST = range(2)


class TreeWork(NamedTuple):
    """The arrays in which a tree is grown (learners/growing.py says what they hold)."""

    rows: NDArray[np.uint32]
    pairs: Wholes
    rules: Floats
    starts: Wholes
    sizes: Wholes
    slots: Wholes
    depths: Wholes
    made: Wholes
    gains: Floats
    plan: Wholes
    limits: Wholes
    features: Wholes
    words: NDArray[np.uint64]
    missing: int


class DrawnRows(NamedTuple):
    """What is drawn for each round: a key for features, rows to grow on (none: all), and others."""

    keys: Wholes
    chosen: NDArray[np.uint32]
    aside: NDArray[np.uint32]


class Records(NamedTuple):
    """What each round has found, a line or a table for each."""

    made: NDArray[np.int32]
    """(rounds, columns, splits)."""
    gains: Floats
    values: Floats
    cover: Floats
    wholes: Wholes
    floats: Floats
    squares: Floats
    """(rounds, spans of rows), as the costs are."""
    costs: Floats


class RoundSums(NamedTuple):
    """What kernels add up in a round; ``now`` holds the sums of weights and of absolute pulls."""

    now: Wholes
    parts: Wholes
    squares: Floats
    totals: Wholes
    wrong: Wholes
    cost: Floats
    held_cost: Floats
