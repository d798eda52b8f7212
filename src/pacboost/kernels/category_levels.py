"""Divide the levels of a category at a node: pool, order and cut them.

docs/decisions/0018-orders-of-levels.md explains why there are several orders.
"""

from __future__ import annotations

import numpy as np

from pacboost.kernels.runtime import Bytes, Wholes
from pacboost.kernels.runtime.jit import on_stack, part_of_kernels
from pacboost.kernels.split import LOW


@part_of_kernels
def pool_rare(own: Wholes, bins: int, least: float) -> None:
    """Count levels of a category that weigh less than ``least`` in a node as missing there.

    ``choose_members`` then sends them where missing values go.
    """
    for b in range(bins):
        if float(own[0, b] & LOW) < least:
            for s in range(own.shape[0]):
                own[s, bins] += own[s, b]
                own[s, b] = 0


@part_of_kernels
def chance_of(own: Wholes, bins: int, penalty: float) -> float:
    """Return what is subtracted from the gain of a category, since its levels are ordered by it.

    Each level adds to the gain of the best cut by chance alone; two levels leave no choice.
    """
    levels = 0
    for b in range(bins + 1):
        if own[0, b] != 0:
            levels += 1
    return float(penalty * max(levels - 2, 0))


@part_of_kernels
def evidence_of(own: Wholes, bins: int, total: Wholes, chance: float) -> float:
    """Return how many times as much the levels of a category differ as they would by chance.

    That is Fisher's F: what levels are worth beyond all rows together, per level, over ``chance``,
    what a group of rows is worth whose pulls are noise. 0 if that is within two of its standard
    deviations, √(2/levels), or if there is no choice between orders.
    """
    between, levels = 0.0, 0
    for b in range(bins + 1):
        if own[0, b] != 0:
            levels += 1
    if levels < 3 or chance <= 0:
        return 0.0
    for s in range(own.shape[0]):
        for b in range(bins + 1):
            if own[0, b] != 0:
                pull = float(own[s, b] >> 32)
                between += pull * pull / max(float(own[0, b] & LOW), 1.0)
        pull = float(total[s] >> 32)
        between -= pull * pull / float(total[0] & LOW)
    found = between / (chance * float(levels - 1))
    return found if found > 1 + 2 * np.sqrt(2 / levels) else 0.0


@part_of_kernels
def order_of(own: Wholes, bins: int, smooth: float, order: Wholes) -> None:
    """Order categories by their mean pull, the missing one among them; ties by code."""
    ratio = on_stack((256,), np.float64)
    for b in range(bins + 1):
        # at least 1: a level without weight has no mean, and NaN would not be ordered
        value = float(own[0, b] >> 32) / max(float(own[0, b] & LOW) + smooth, 1.0)
        place = b
        while place > 0 and ratio[place - 1] > value:
            ratio[place] = ratio[place - 1]
            order[place] = order[place - 1]
            place -= 1
        ratio[place] = value
        order[place] = b


@part_of_kernels
def choose_members(
    own: Wholes,
    bins: int,
    order: Wholes,
    cut: int,
    heavier_left: bool,
    missing: int,
    members: Bytes,
) -> bool:
    """Write which levels of a category go left: the first ones up to the cut, in their order.

    Missing values go with their place; where none was seen, to the heavier side. A level that is
    not in this node goes where missing values go, which is given back.
    """
    for k in range(members.size):
        members[k] = np.uint8(0)
    missing_left = heavier_left and own[0, bins] == 0
    for k in range(cut + 1):
        if order[k] < bins:
            members[order[k]] = np.uint8(1)
        elif own[0, bins] != 0:
            missing_left = True
    members[missing] = np.uint8(missing_left)
    for k in range(bins):
        if own[0, k] == 0:
            members[k] = np.uint8(missing_left)
    return missing_left
