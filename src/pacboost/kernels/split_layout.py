"""How splits are laid out and judged: columns of arrays, criteria, and what a leaf is worth.

What ``features`` says of each feature is laid out in samples/blocks.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.jit import kernel, part_of_kernels

NOISE = 1e-12  # a gain below this share of what a leaf is worth comes from rounding

# columns of ``features``, one line for each feature
LANE, BASE, BINS, DEFAULT, CATEGORY, MONOTONE = range(6)
# columns of ``best``, the best split of every leaf
FEATURE, CUT, MISSING_LEFT = range(3)
# what ``rules`` holds
CRITERION, PENALTY, LEAST_WEIGHT, LEAST_ROWS, SMOOTH, LEVEL_PENALTY, LEVEL_ROWS, CHANCE = range(8)
RULES = 8

NEWTON, Z, ERROR = range(3)


@kernel
def worth(criterion: int, pulls: NDArray[np.float64], weight: float, penalty: float) -> float:
    """What a leaf with these sums is worth; a split is good if its leaves are worth more."""
    if pulls.size == 1:
        return worth_of_one(criterion, pulls[0], weight, penalty)
    total = 0.0
    for s in range(pulls.size):
        total += pulls[s] * pulls[s]
    return total / (weight + penalty)


@part_of_kernels
def worth_of_one(criterion: int, pull: float, weight: float, penalty: float) -> float:
    """Give ``worth`` where there is one output."""
    if criterion == NEWTON:
        return pull * pull / (weight + penalty)
    if criterion == ERROR:
        return abs(pull)
    # both factors are whole: weight² - pull² would lose digits where a leaf is nearly pure
    return float(-np.sqrt(max((weight - pull) * (weight + pull), 0.0)))


@part_of_kernels
def open_feature(
    lane: NDArray[np.int64],
    feature: NDArray[np.int64],
    missing: int,
    total: np.int64,
    out: NDArray[np.int64],
) -> None:
    """Copy a feature's own histogram, with ``missing`` last, out of that of its lane.

    Where features that are never non-default together share a lane, the default's sum is what the
    others leave of the total.
    """
    bins, default = feature[BINS], feature[DEFAULT]
    if default < 0:
        for b in range(bins):
            out[b] = lane[b]
        out[bins] = lane[missing]
        return
    code = feature[BASE]
    for b in range(bins):
        if b != default:
            out[b] = lane[code]
            total -= lane[code]
            code += 1
    out[default] = total
    out[bins] = 0
