"""Divide the levels of a category at a node: pool, order and cut them.

docs/decisions/0018-orders-of-levels.md explains why there are several orders.
"""

from __future__ import annotations

import numpy as np

from pacboost.kernels.runtime import Bytes, Wholes
from pacboost.kernels.runtime.jit import on_stack, part_of_kernels
from pacboost.kernels.split import LOW


@part_of_kernels
def pool_rare(histogram: Wholes, bins: int, min_weight: float) -> None:
    """Treat levels of a category that weigh less than ``min_weight`` in a node as missing.

    ``choose_members`` then sends them where missing values go.
    """
    for b in range(bins):
        if float(histogram[0, b] & LOW) < min_weight:
            for s in range(histogram.shape[0]):
                histogram[s, bins] += histogram[s, b]
                histogram[s, b] = 0


@part_of_kernels
def chance_of(histogram: Wholes, bins: int, penalty: float) -> float:
    """Return the penalty on the gain of a category for ordering its levels by mean pull.

    Each level adds to the gain of the best cut by chance; two levels can be ordered in one way.
    """
    levels = 0
    for b in range(bins + 1):
        if histogram[0, b] != 0:
            levels += 1
    return float(penalty * max(levels - 2, 0))


@part_of_kernels
def evidence_of(histogram: Wholes, bins: int, total: Wholes, chance: float) -> float:
    """Return how many times more the levels of a category differ than by chance.

    That is Fisher's F: the worth of the levels beyond that of all rows, per level, divided by
    ``chance``, the worth of a group of rows whose pulls are noise. It is 0 if F is within two
    standard deviations, √(2/levels), of 1, or if the levels can be ordered in one way only.
    """
    between, levels = 0.0, 0
    for b in range(bins + 1):
        if histogram[0, b] != 0:
            levels += 1
    if levels < 3 or chance <= 0:
        return 0.0
    for s in range(histogram.shape[0]):
        for b in range(bins + 1):
            if histogram[0, b] != 0:
                pull = float(histogram[s, b] >> 32)
                between += pull * pull / max(float(histogram[0, b] & LOW), 1.0)
        pull = float(total[s] >> 32)
        between -= pull * pull / float(total[0] & LOW)
    ratio = between / (chance * float(levels - 1))
    return ratio if ratio > 1 + 2 * np.sqrt(2 / levels) else 0.0


@part_of_kernels
def order_of(histogram: Wholes, bins: int, smooth: float, order: Wholes) -> None:
    """Order the levels, and missing values among them, by mean pull; ties by code."""
    ratio = on_stack((256,), np.float64)
    for b in range(bins + 1):
        # at least 1: a level without weight would have the mean NaN, which cannot be ordered
        value = float(histogram[0, b] >> 32) / max(float(histogram[0, b] & LOW) + smooth, 1.0)
        place = b
        while place > 0 and ratio[place - 1] > value:
            ratio[place] = ratio[place - 1]
            order[place] = order[place - 1]
            place -= 1
        ratio[place] = value
        order[place] = b


@part_of_kernels
def choose_members(
    histogram: Wholes, bins: int, order: Wholes, cut: int, heavier_left: bool, missing: int,
    members: Bytes,
) -> bool:  # fmt: skip
    """Write which levels of a category go left: the first ones in order, up to the cut.

    Missing values have a place in the order; if the node has none, they go to the heavier side.
    A level that is not in this node goes where missing values go; return whether that is left.
    """
    for k in range(members.size):
        members[k] = np.uint8(0)
    missing_left = heavier_left and histogram[0, bins] == 0
    for k in range(cut + 1):
        if order[k] < bins:
            members[order[k]] = np.uint8(1)
        elif histogram[0, bins] != 0:
            missing_left = True
    members[missing] = np.uint8(missing_left)
    for k in range(bins):
        if histogram[0, k] == 0:
            members[k] = np.uint8(missing_left)
    return missing_left
