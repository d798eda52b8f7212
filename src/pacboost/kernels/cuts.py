"""Pulls and weights as pairs of small whole numbers, two in one: see kernels/grow.py."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.runtime.jit import kernel, on_stack, part_of_kernels

LOW = np.int64(0xFFFFFFFF)
"""The bits of a pair that hold the weight."""


@kernel
def pair_up_one(
    weights: NDArray[np.int64],
    pulls: NDArray[np.integer],
    times_weight: bool,
    pull_scale: float,
    weight_scale: float,
    pairs: NDArray[np.int64],
) -> None:
    """Do what ``pair_up`` does where there is one output, in a loop that runs on vectors.

    All arrays are (rows,), and the pulls keep their signs.
    """
    for i in range(pairs.size):
        signed = np.int64(pulls[i])
        if times_weight:
            signed *= weights[i]
        pairs[i] = (np.int64(np.rint(signed * pull_scale)) << 32) + np.int64(
            np.rint(weights[i] * weight_scale)
        )


@kernel
def pair_up(
    weights: NDArray[np.int64],
    pulls: NDArray[np.integer],
    times_weight: bool,
    flips: NDArray[np.int8],
    pull_scale: float,
    weight_scale: float,
    pairs: NDArray[np.int64],
) -> None:
    """Round pulls and weights (rows, outputs) to small whole numbers, and pair them.

    Line s of ``flips`` says with which signs (or 0) the outputs' pulls add up to the s-th pull of
    the pair; the weights always add up. If ``times_weight``, pulls are signs of the weights.
    """
    outputs = weights.shape[1]
    for i in range(weights.shape[0]):
        weight = np.int64(0)
        for k in range(outputs):
            weight += weights[i, k]
        whole = np.int64(np.rint(weight * weight_scale))
        for s in range(flips.shape[0]):
            pull = np.int64(0)
            for k in range(outputs):
                own = np.int64(pulls[i, k])
                if times_weight:
                    own *= weights[i, k]
                pull += own * flips[s, k]
            pairs[s, i] = (np.int64(np.rint(pull * pull_scale)) << 32) + whole


# How splits are laid out and judged: columns of arrays, criteria, and what a leaf is worth.
#
# What ``features`` says of each feature is laid out in samples/blocks.py.

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
    """Return ``worth`` where there is one output."""
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


# All cuts of one number by Newton's criterion, in loops that run on vectors.


@part_of_kernels
def best_of(
    sums: NDArray[np.int64],
    weight: float,
    pull: float,
    penalty: float,
    least: float,
    best: float,
    found: NDArray[np.float64],
) -> tuple[float, int]:
    """Find which of the sums below cuts is worth most, if more than ``best``, the first of equals.

    Gives what it is worth and its place, which is -1 if there is none.
    """
    for k in range(sums.size):
        left, low = float(sums[k] & LOW), float(sums[k] >> 32)
        right, high = weight - left, pull - low
        a, c = left + penalty, right + penalty
        sides = (low * low * c + high * high * a) / (a * c)  # one division for two
        found[k] = sides if left >= least and right >= least else -1.0
    most, second, third, fourth = best, best, best, best
    fours = sums.size // 4 * 4
    for k in range(0, fours, 4):  # four at a time, so that a comparison need not wait for the last
        most = found[k] if found[k] > most else most
        second = found[k + 1] if found[k + 1] > second else second
        third = found[k + 2] if found[k + 2] > third else third
        fourth = found[k + 3] if found[k + 3] > fourth else fourth
    for k in range(fours, sums.size):
        most = found[k] if found[k] > most else most
    most = max(most, second, third, fourth)
    place = -1
    if most > best:
        place = 0
        while found[place] != most:
            place += 1
    return most, place


@kernel
def scan_only(
    below: np.int64, total: np.int64, penalty: float, least: float, wanted: float
) -> tuple[float, int, bool]:
    """Do what ``scan_quickly`` does for two bins and no missing values: there is one cut."""
    left, right = float(below & LOW), float(total & LOW) - float(below & LOW)
    if left < least or right < least:
        return wanted, -1, False
    low = float(below >> 32)
    high = float(total >> 32) - low
    a, c = left + penalty, right + penalty
    sides = (low * low * c + high * high * a) / (a * c)
    return (sides, 0, left >= right) if sides > wanted else (wanted, -1, False)


@part_of_kernels
def scan_quickly(
    own: NDArray[np.int64],
    absent: np.int64,
    total: np.int64,
    penalty: float,
    least: float,
    wanted: float,
    sums: NDArray[np.int64],
    found: NDArray[np.float64],
) -> tuple[float, int, bool]:
    """Do what ``scan_numbers`` of feature_scan.py does, by Newton's criterion, without constraints.

    In loops that run on vectors (measured: four times faster than one cut after the other). A cut
    above an empty bin divides the rows as the one below it does, and of equal cuts the first one
    counts; so empty bins, of which small leaves have many, are passed over.
    """
    weight, pull = float(total & LOW), float(total >> 32)
    best, cut, missing_left = wanted, -1, False
    for way in range(2 if absent != 0 else 1):  # missing values right, then left
        below = absent if way == 1 else np.int64(0)
        count = np.uint64(0)
        for b in range(own.size - (0 if absent != 0 and way == 0 else 1)):
            below += own[b]
            sums[count] = below
            count += np.uint64(own[b] != 0)
        filled = sums[: np.int64(count)]
        best, place = best_of(filled, weight, pull, penalty, least, best, found)
        if place >= 0:
            left = float(filled[place] & LOW)
            cut = -1
            while place >= 0:  # the bin that this was
                cut += 1
                place -= own[cut] != 0
            missing_left = way == 1 if absent != 0 else left >= weight - left
    return best, cut, missing_left


# How the levels of a category are divided at a node: pooled, ordered, and cut.
#
# Why there are several orders: docs/decisions/0018-orders-of-levels.md.


@part_of_kernels
def pool_rare(own: NDArray[np.int64], bins: int, least: float) -> None:
    """Count levels of a category that weigh less than ``least`` in a node as missing there.

    ``choose_members`` then sends them where missing values go.
    """
    for b in range(bins):
        if float(own[0, b] & LOW) < least:
            for s in range(own.shape[0]):
                own[s, bins] += own[s, b]
                own[s, b] = 0


@part_of_kernels
def chance_of(own: NDArray[np.int64], bins: int, penalty: float) -> float:
    """Return what is subtracted from the gain of a category, since its levels are ordered by it.

    Each level adds to the gain of the best cut by chance alone; two levels leave no choice.
    """
    levels = 0
    for b in range(bins + 1):
        if own[0, b] != 0:
            levels += 1
    return float(penalty * max(levels - 2, 0))


@part_of_kernels
def evidence_of(
    own: NDArray[np.int64], bins: int, total: NDArray[np.int64], chance: float
) -> float:
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
def order_of(own: NDArray[np.int64], bins: int, smooth: float, order: NDArray[np.int64]) -> None:
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
    own: NDArray[np.int64],
    bins: int,
    order: NDArray[np.int64],
    cut: int,
    heavier_left: bool,
    missing: int,
    members: NDArray[np.uint8],
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
