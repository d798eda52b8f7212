"""The worth of a split, and the search for the best one in the common case.

That is: numeric features, one output, Newton's criterion, no constraint. split_general.py finds the
same splits, but takes four times as long to compile.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pacboost.kernels.layout import (
    BASE,
    BINS,
    CUT,
    DEFAULT,
    FEATURE,
    LANE,
    LEAST_ROWS,
    LEAST_WEIGHT,
    MISSING_LEFT,
    PENALTY,
)
from pacboost.kernels.runtime import Bytes, Floats, Rows, Wholes, Words
from pacboost.kernels.runtime.jit import (
    inline,
    kernel,
    on_stack,
    part_of_kernels,
    trailing_zeros,
    uncounted,
)

LOW = np.int64(0xFFFFFFFF)
"""The bits of a pair that hold the weight."""

NOISE = 1e-12
"""A gain below this share of the worth of a leaf comes from rounding."""
NEWTON, Z, ERROR = range(3)
"""The criteria of splits."""


@kernel
def worth(criterion: int, pulls: Floats, weight: float, penalty: float) -> float:
    """Return the worth of a leaf with these sums; a split gains if its leaves are worth more."""
    if pulls.size == 1:
        return worth_of_one(criterion, pulls[0], weight, penalty)
    total = 0.0
    for s in range(pulls.size):
        total += pulls[s] * pulls[s]
    return total / (weight + penalty)


@part_of_kernels
def worth_of_one(criterion: int, pull: float, weight: float, penalty: float) -> float:
    """Return ``worth`` for a single output."""
    if criterion == NEWTON:
        return pull * pull / (weight + penalty)
    if criterion == ERROR:
        return abs(pull)
    # both factors are integers: weight² - pull² would lose digits if a leaf is nearly pure
    return float(-np.sqrt(max((weight - pull) * (weight + pull), 0.0)))


@part_of_kernels
def open_feature(lane: Wholes, feature: Wholes, missing: int, total: np.int64, out: Wholes) -> None:
    """Copy the histogram of a feature, ``missing`` last, out of that of its lane.

    If features share the lane, the sum of the default is the total minus all other codes.
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


@inline
def newton_sides(low: float, a: float, high: float, c: float) -> float:
    """Return low²/a + high²/c, the worth of both sides of a cut, with a single division."""
    return (low * low * c + high * high * a) / (a * c)


class Leaf(NamedTuple):
    """The totals and limits of a leaf, and space for the sums and the worth of its cuts."""

    total: np.int64
    penalty: float
    min_weight: float
    """Minimum weight of a side."""
    sums: Wholes
    worth_of_cuts: Floats


@part_of_kernels
def best_of(sums: Wholes, leaf: Leaf, best: float) -> tuple[float, int]:
    """Find the cut that is worth most and over ``best``, the first of equals.

    ``sums`` are those below the cuts. Return its worth and place, -1 if there is none.
    """
    weight, pull = float(leaf.total & LOW), float(leaf.total >> 32)
    penalty, min_weight, worth_of_cuts = leaf.penalty, leaf.min_weight, leaf.worth_of_cuts
    for k in range(sums.size):
        left_weight, low = float(sums[k] & LOW), float(sums[k] >> 32)
        right_weight, high = weight - left_weight, pull - low
        sides = newton_sides(low, left_weight + penalty, high, right_weight + penalty)
        worth_of_cuts[k] = (
            sides if left_weight >= min_weight and right_weight >= min_weight else -1.0
        )
    first, second, third, fourth = best, best, best, best
    fours = sums.size // 4 * 4
    for k in range(0, fours, 4):  # four at a time, so that no comparison waits for the last
        first = worth_of_cuts[k] if worth_of_cuts[k] > first else first
        second = worth_of_cuts[k + 1] if worth_of_cuts[k + 1] > second else second
        third = worth_of_cuts[k + 2] if worth_of_cuts[k + 2] > third else third
        fourth = worth_of_cuts[k + 3] if worth_of_cuts[k + 3] > fourth else fourth
    for k in range(fours, sums.size):
        first = worth_of_cuts[k] if worth_of_cuts[k] > first else first
    first = max(first, second, third, fourth)
    place = -1
    if first > best:
        place = 0
        while worth_of_cuts[place] != first:
            place += 1
    return first, place


@kernel
def scan_only(below: np.int64, leaf: Leaf, min_worth: float) -> tuple[float, int, bool]:
    """Judge the only cut of a feature with two bins and no missing values."""
    left_weight, right_weight = float(below & LOW), float(leaf.total & LOW) - float(below & LOW)
    if left_weight < leaf.min_weight or right_weight < leaf.min_weight:
        return min_worth, -1, False
    low = float(below >> 32)
    high = float(leaf.total >> 32) - low
    sides = newton_sides(low, left_weight + leaf.penalty, high, right_weight + leaf.penalty)
    return (sides, 0, left_weight >= right_weight) if sides > min_worth else (min_worth, -1, False)


@part_of_kernels
def scan_quickly(
    histogram: Wholes, absent: np.int64, leaf: Leaf, min_worth: float
) -> tuple[float, int, bool]:
    """Find the best cut of a feature by Newton's criterion, without constraints.

    Loops are vectorized (measured: four times faster than one cut after the other). A cut above an
    empty bin divides the rows like the cut below it, and the first of equal cuts is chosen; so
    empty bins, which are many in small leaves, are skipped. ``scan_numbers`` of split_general.py is
    for other criteria and constraints.
    """
    weight, sums = float(leaf.total & LOW), leaf.sums
    best, cut, missing_left = min_worth, -1, False
    for way in range(2 if absent != 0 else 1):  # missing values right, then left
        below = absent if way == 1 else np.int64(0)
        count = np.uint64(0)
        for b in range(histogram.size - (0 if absent != 0 and way == 0 else 1)):
            below += histogram[b]
            sums[count] = below
            count += np.uint64(histogram[b] != 0)
        filled = sums[: np.int64(count)]
        best, place = best_of(filled, leaf, best)
        if place >= 0:
            left_weight = float(filled[place] & LOW)
            cut = -1
            while place >= 0:  # count back to the bin
                cut += 1
                place -= histogram[cut] != 0
            missing_left = way == 1 if absent != 0 else left_weight >= weight - left_weight
    return best, cut, missing_left


MAX_LISTED_ROWS = 128
"""Leaves of up to this many rows have no histograms: most bins would be empty."""


@part_of_kernels
def take_pairs(rows: Rows, pairs: Wholes, row_pairs: Wholes, histogram: Wholes) -> np.int64:
    """Copy the pairs of the rows to ``row_pairs``, clear ``histogram``, and return their sum."""
    total = np.int64(0)
    for k in range(rows.size):
        row_pairs[k] = pairs[rows[k]]
        total += row_pairs[k]
    for b in range(histogram.size):
        histogram[b] = 0
    return total


@part_of_kernels
def scan_rows(
    block: Words,
    lane: int,
    rows: Rows,
    row_pairs: Wholes,
    bins: int,
    missing: int,
    leaf: Leaf,
    min_worth: float,
    histogram: Wholes,
    places: Wholes,
    filled: Words,
) -> tuple[float, int, bool]:
    """Find the best cut as ``scan_quickly`` does, from the rows of a leaf and their pairs.

    ``histogram`` has a place for every code, which is 0 before and after. ``filled`` has a bit for
    every code.
    """
    shift, byte = np.uint64(8 * (lane & 7)), np.uint64(255)
    for w in range(4):
        filled[w] = 0
    for k in range(rows.size):
        code = (block[rows[k]] >> shift) & byte
        histogram[code] += row_pairs[k]
        filled[code >> np.uint64(6)] |= np.uint64(1) << (code & np.uint64(63))
    absent = histogram[missing]
    histogram[missing] = 0
    filled[missing >> 6] &= ~(np.uint64(1) << np.uint64(missing & 63))
    count, below, sums = 0, np.int64(0), leaf.sums
    for w in range(4):
        bits = filled[w]
        while bits != 0:
            b = 64 * w + trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            below += histogram[b]
            histogram[b] = 0
            sums[count], places[count] = below, b
            count += 1
    weight = float(leaf.total & LOW)
    best, cut, missing_left = min_worth, -1, False
    without_last = count - 1 if count > 0 and places[count - 1] == bins - 1 else count
    for way in range(2 if absent != 0 else 1):  # missing values right, then left
        if way == 1:
            for k in range(count):
                sums[k] += absent
        n_cuts = count if absent != 0 and way == 0 else without_last
        best, place = best_of(sums[:n_cuts], leaf, best)
        if place >= 0:
            left_weight = float(sums[place] & LOW)
            cut = places[place]
            missing_left = way == 1 if absent != 0 else left_weight >= weight - left_weight
    return best, cut, missing_left


@part_of_kernels
def scan_lane(
    lane: Wholes, feature: Wholes, missing: int, leaf: Leaf, min_worth: float, counts: Wholes
) -> tuple[float, int, bool]:
    """Find the best cut of a feature as ``scan_quickly`` does, from the histogram of its lane."""
    bins, default, line = feature[BINS], feature[DEFAULT], lane
    absent = line[missing] if default < 0 else np.int64(0)  # none in shared lanes
    if bins == 2 and absent == 0:
        below = line[0] if default < 0 else line[feature[BASE]]
        below = leaf.total - below if default == 0 else below
        return scan_only(below, leaf, min_worth)
    if default >= 0:
        open_feature(lane, feature, missing, leaf.total, counts)
        line = counts
    return scan_quickly(line[:bins], absent, leaf, min_worth)


@uncounted
def scan(
    histogram: Wholes,
    features: Wholes,
    allowed: Bytes,
    missing: int,
    size: int,
    rules: Floats,
    best: Wholes,
    words: Words,
    rows: Rows,
    pairs: Wholes,
) -> tuple[float, float]:
    """Find the best split over all features; return the worth of its sides and of the leaf.

    If no split gains anything, both are equal. The histogram is (lanes, codes). The first of equal
    splits is chosen. If ``rows`` is not empty (at most ``MAX_LISTED_ROWS``), their ``words`` and
    ``pairs`` are used in place of the histogram; each lane then holds one feature.
    """
    counts, sums = on_stack((256,), np.int64), on_stack((256,), np.int64)
    worth_of_cuts = on_stack((256,), np.float64)
    if features.shape[0] == 0:
        return 0.0, 0.0
    row_pairs = on_stack((MAX_LISTED_ROWS,), np.int64)
    places = on_stack((MAX_LISTED_ROWS,), np.int64)
    filled = on_stack((4,), np.uint64)
    total = np.int64(0)
    if rows.size > 0:
        total = take_pairs(rows, pairs, row_pairs, counts)
    else:  # every lane counts all rows: use one that is read anyway
        for b in range(histogram.shape[1]):
            total += histogram[features[0, LANE], b]
    weight, pull, penalty = float(total & LOW), float(total >> 32), rules[PENALTY]
    min_weight = max(rules[LEAST_WEIGHT], rules[LEAST_ROWS] * weight / size, 1.0)
    if weight < 2 * min_weight:
        return 0.0, 0.0
    before = pull * pull / (weight + penalty)
    after = min_worth = before + NOISE * before
    leaf = Leaf(total, penalty, min_weight, sums, worth_of_cuts)
    for j in range(features.shape[0]):
        if not allowed[j]:
            continue
        feature = features[j]
        bins, lane = feature[BINS], feature[LANE]
        if rows.size > 0:
            after, cut, missing_left = scan_rows(
                words[lane >> 3],
                lane,
                rows,
                row_pairs,
                bins,
                missing,
                leaf,
                after,
                counts,
                places,
                filled,
            )
        else:
            after, cut, missing_left = scan_lane(
                histogram[lane], feature, missing, leaf, after, counts
            )
        if cut >= 0:
            best[FEATURE], best[CUT], best[MISSING_LEFT] = j, cut, missing_left
    return (after, before) if after > min_worth else (before, before)
