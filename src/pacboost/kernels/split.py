"""What a split is worth, and the searches for one that many kernels share."""

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
def open_feature(lane: Wholes, feature: Wholes, missing: int, total: np.int64, out: Wholes) -> None:
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


@inline
def newton_sides(low: float, a: float, high: float, c: float) -> float:
    """Return low²/a + high²/c, what both sides of a cut are worth, with one division for two."""
    return (low * low * c + high * high * a) / (a * c)


class Leaf(NamedTuple):
    """What cuts of a leaf are judged by, and room for their sums and what they are worth."""

    total: np.int64
    penalty: float
    least: float
    """What a side weighs at least."""
    sums: Wholes
    found: Floats


@part_of_kernels
def best_of(sums: Wholes, leaf: Leaf, best: float) -> tuple[float, int]:
    """Find which of the sums below cuts is worth most, if more than ``best``, the first of equals.

    Gives what it is worth and its place, which is -1 if there is none.
    """
    weight, pull = float(leaf.total & LOW), float(leaf.total >> 32)
    penalty, least, found = leaf.penalty, leaf.least, leaf.found
    for k in range(sums.size):
        left, low = float(sums[k] & LOW), float(sums[k] >> 32)
        right, high = weight - left, pull - low
        sides = newton_sides(low, left + penalty, high, right + penalty)
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
def scan_only(below: np.int64, leaf: Leaf, wanted: float) -> tuple[float, int, bool]:
    """Do what ``scan_quickly`` does for two bins and no missing values: there is one cut."""
    left, right = float(below & LOW), float(leaf.total & LOW) - float(below & LOW)
    if left < leaf.least or right < leaf.least:
        return wanted, -1, False
    low = float(below >> 32)
    high = float(leaf.total >> 32) - low
    sides = newton_sides(low, left + leaf.penalty, high, right + leaf.penalty)
    return (sides, 0, left >= right) if sides > wanted else (wanted, -1, False)


@part_of_kernels
def scan_quickly(
    own: Wholes, absent: np.int64, leaf: Leaf, wanted: float
) -> tuple[float, int, bool]:
    """Do what ``scan_numbers`` of split_general.py does, by Newton's criterion, unconstrained.

    In loops that run on vectors (measured: four times faster than one cut after the other). A cut
    above an empty bin divides the rows as the one below it does, and of equal cuts the first one
    counts; so empty bins, of which small leaves have many, are passed over.
    """
    weight, sums = float(leaf.total & LOW), leaf.sums
    best, cut, missing_left = wanted, -1, False
    for way in range(2 if absent != 0 else 1):  # missing values right, then left
        below = absent if way == 1 else np.int64(0)
        count = np.uint64(0)
        for b in range(own.size - (0 if absent != 0 and way == 0 else 1)):
            below += own[b]
            sums[count] = below
            count += np.uint64(own[b] != 0)
        filled = sums[: np.int64(count)]
        best, place = best_of(filled, leaf, best)
        if place >= 0:
            left = float(filled[place] & LOW)
            cut = -1
            while place >= 0:  # the bin that this was
                cut += 1
                place -= own[cut] != 0
            missing_left = way == 1 if absent != 0 else left >= weight - left
    return best, cut, missing_left


# Find the best split of a node where nothing is asked for beyond the common case.
#
# That is: numbers only, one output, Newton's criterion, no constraint. split_general.py finds the
# same splits, but takes four times as long to compile.

# Cuts of one number in a leaf of few rows, for which most bins of a histogram would be empty.

FEW_ROWS = 128
"""From so many rows on, to count histograms and to pass over their empty bins is faster."""


@part_of_kernels
def take_pairs(rows: Rows, pairs: Wholes, held: Wholes, own: Wholes) -> np.int64:
    """Write the pairs of the rows to ``held``, and give their sum; make ``own`` 0 everywhere."""
    total = np.int64(0)
    for k in range(rows.size):
        held[k] = pairs[rows[k]]
        total += held[k]
    for b in range(own.size):
        own[b] = 0
    return total


@part_of_kernels
def scan_rows(
    block: Words,
    lane: int,
    rows: Rows,
    held: Wholes,
    bins: int,
    missing: int,
    leaf: Leaf,
    wanted: float,
    own: Wholes,
    places: Wholes,
    filled: Words,
) -> tuple[float, int, bool]:
    """Do what ``scan_quickly`` does, for the rows of a leaf and their pairs, ``held``.

    ``own`` has a place for every code and is 0 everywhere, before and after. ``filled`` has a bit
    for every code.
    """
    shift, byte = np.uint64(8 * (lane & 7)), np.uint64(255)
    for w in range(4):
        filled[w] = 0
    for k in range(rows.size):
        code = (block[rows[k]] >> shift) & byte
        own[code] += held[k]
        filled[code >> np.uint64(6)] |= np.uint64(1) << (code & np.uint64(63))
    absent = own[missing]
    own[missing] = 0
    filled[missing >> 6] &= ~(np.uint64(1) << np.uint64(missing & 63))
    count, below, sums = 0, np.int64(0), leaf.sums
    for w in range(4):
        bits = filled[w]
        while bits != 0:
            b = 64 * w + trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            below += own[b]
            own[b] = 0
            sums[count], places[count] = below, b
            count += 1
    weight = float(leaf.total & LOW)
    best, cut, missing_left = wanted, -1, False
    without_last = count - 1 if count > 0 and places[count - 1] == bins - 1 else count
    for way in range(2 if absent != 0 else 1):  # missing values right, then left
        if way == 1:
            for k in range(count):
                sums[k] += absent
        looked_at = count if absent != 0 and way == 0 else without_last
        best, place = best_of(sums[:looked_at], leaf, best)
        if place >= 0:
            left = float(sums[place] & LOW)
            cut = places[place]
            missing_left = way == 1 if absent != 0 else left >= weight - left
    return best, cut, missing_left


@part_of_kernels
def scan_lane(
    lane: Wholes, feature: Wholes, missing: int, leaf: Leaf, wanted: float, own: Wholes
) -> tuple[float, int, bool]:
    """Find a cut of a feature, given the histogram of its lane, as ``scan_quickly`` does."""
    bins, default, line = feature[BINS], feature[DEFAULT], lane
    absent = line[missing] if default < 0 else np.int64(0)  # none, where features share a lane
    if bins == 2 and absent == 0:
        below = line[0] if default < 0 else line[feature[BASE]]
        below = leaf.total - below if default == 0 else below
        return scan_only(below, leaf, wanted)
    if default >= 0:
        open_feature(lane, feature, missing, leaf.total, own)
        line = own
    return scan_quickly(line[:bins], absent, leaf, wanted)


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
    """Find the best split over every feature; give what its sides and the leaf are worth.

    Without a split that gains anything, the first is equal to the second. The histogram is (lanes,
    codes). Of equal splits the first one counts. Where ``rows`` are given, at most ``FEW_ROWS``, no
    histogram is looked at, but their ``words`` and ``pairs``; lanes then hold a feature each.
    """
    own, sums = on_stack((256,), np.int64), on_stack((256,), np.int64)
    found_at = on_stack((256,), np.float64)
    if features.shape[0] == 0:
        return 0.0, 0.0
    held, places = on_stack((FEW_ROWS,), np.int64), on_stack((FEW_ROWS,), np.int64)
    filled = on_stack((4,), np.uint64)
    total = np.int64(0)
    if rows.size > 0:
        total = take_pairs(rows, pairs, held, own)
    else:  # every lane holds all rows: one that is asked for anyway
        for b in range(histogram.shape[1]):
            total += histogram[features[0, LANE], b]
    weight, pull, penalty = float(total & LOW), float(total >> 32), rules[PENALTY]
    least = max(rules[LEAST_WEIGHT], rules[LEAST_ROWS] * weight / size, 1.0)
    if weight < 2 * least:
        return 0.0, 0.0
    before = pull * pull / (weight + penalty)
    after = nothing = before + NOISE * before
    leaf = Leaf(total, penalty, least, sums, found_at)
    for j in range(features.shape[0]):
        if not allowed[j]:
            continue
        feature = features[j]
        bins, lane = feature[BINS], feature[LANE]
        if rows.size > 0:
            after, cut, left = scan_rows(
                words[lane >> 3], lane, rows, held, bins, missing, leaf, after, own, places, filled
            )
        else:
            after, cut, left = scan_lane(histogram[lane], feature, missing, leaf, after, own)
        if cut >= 0:
            best[FEATURE], best[CUT], best[MISSING_LEFT] = j, cut, left
    return (after, before) if after > nothing else (before, before)
