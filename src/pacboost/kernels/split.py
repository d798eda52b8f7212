"""The worth of a split, and the search for the best one in the common case.

That is: numeric features, one output, Newton's criterion, no constraint. split_general.py finds the
same splits, but takes four times as long to compile.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pacboost.kernels import layout
from pacboost.kernels.runtime import Bytes, Floats, Rows, Wholes, Words
from pacboost.kernels.runtime.jit import (
    bits_of,
    inline,
    kernel,
    on_stack,
    part_of_kernels,
    trailing_zeros,
    uncounted,
)

LOW = layout.LOW

NOISE = 1e-12
"""A gain below this share of the worth of a leaf comes from rounding."""
NEWTON, Z, ERROR = layout.NEWTON, layout.Z, layout.ERROR


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
    bins, default = feature[layout.BINS], feature[layout.DEFAULT]
    if default < 0:
        for b in range(bins):
            out[b] = lane[b]
        out[bins] = lane[missing]
        return
    code = feature[layout.BASE]
    for b in range(bins):
        if b != default:
            out[b] = lane[code]
            total -= lane[code]
            code += 1
    out[default] = total
    out[bins] = 0


@inline
def min_weight_of(rules: Floats, weight: float, size: int) -> float:
    """Return the minimum weight of a side of a split, in a leaf of ``size`` rows."""
    min_weight_of_rows = rules[layout.LEAST_ROWS] * weight / size
    return float(max(rules[layout.LEAST_WEIGHT], min_weight_of_rows, 1.0))


@inline
def newton_sides(low: float, a: float, high: float, c: float) -> float:
    """Return low²/a + high²/c, the worth of both sides of a cut, with a single division."""
    return (low * low * c + high * high * a) / (a * c)


class Leaf(NamedTuple):
    """The totals and limits of a leaf, and space for the sums and the worth of its cuts."""

    total: np.int64
    penalty: float
    min_weight: float
    sums: Wholes
    worth_of_cuts: Floats


@part_of_kernels
def best_of(sums: Wholes, leaf: Leaf, best: float) -> tuple[float, int]:
    """Return the worth and the index of the best cut; the index is -1 if none exceeds ``best``.

    ``sums`` are the sums below each cut. Of several equally good cuts, the first is returned.
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
    # floats from 0 on are ordered like their bits, and integers are compared in vectors
    top = start = bits_of(best)
    for k in range(sums.size):
        bits = bits_of(worth_of_cuts[k])
        top = bits if bits > top else top
    if top == start:
        return best, -1
    place = 0
    while bits_of(worth_of_cuts[place]) != top:
        place += 1
    return worth_of_cuts[place], place


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
    empty bins, which are many in small leaves, are skipped. ``scan_feature`` of split_general.py is
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


MAX_LISTED_ROWS = layout.MAX_LISTED_ROWS


class ListedRows(NamedTuple):
    """The rows of a leaf without histograms, and space for the search of one feature."""

    rows: Rows
    pairs: Wholes
    histogram: Wholes
    """A place for every code, which is 0 before and after."""
    places: Wholes
    filled: Words
    """A bit for every code."""


@part_of_kernels
def scan_rows(
    listed: ListedRows, block: Words, lane: int, bins: int, missing: int, leaf: Leaf,
    min_worth: float,
) -> tuple[float, int, bool]:  # fmt: skip
    """Find the best cut as ``scan_quickly`` does, from the rows of a leaf and their pairs."""
    rows, row_pairs, histogram, places, filled = listed
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
    bins, default, line = feature[layout.BINS], feature[layout.DEFAULT], lane
    absent = line[missing] if default < 0 else np.int64(0)  # none in shared lanes
    if bins == 2 and absent == 0:
        below = line[0] if default < 0 else line[feature[layout.BASE]]
        below = leaf.total - below if default == 0 else below
        return scan_only(below, leaf, min_worth)
    if default >= 0:
        open_feature(lane, feature, missing, leaf.total, counts)
        line = counts
    return scan_quickly(line[:bins], absent, leaf, min_worth)


class SplitSearch(NamedTuple):
    """The features that a member of a team searches for splits, and the rules of the search."""

    codes: layout.Codes
    allowed: Bytes
    first: int
    last: int
    """The features from ``first`` to before ``last``."""
    rules: Floats


@uncounted
def scan(
    search: SplitSearch, histogram: Wholes, rows: Rows, pairs: Wholes, size: int, best: Wholes
) -> tuple[float, float]:
    """Find the best split over some features; return the worth of its sides and of the leaf.

    If no split gains anything, both are equal. The histogram is (lanes, codes). The first of equal
    splits is chosen. If ``rows`` is not empty (at most ``MAX_LISTED_ROWS``), their words and
    ``pairs`` are used in place of the histogram; each lane then holds one feature.
    """
    features, missing, rules = search.codes.features, search.codes.missing, search.rules
    counts, sums = on_stack((256,), np.int64), on_stack((256,), np.int64)
    worth_of_cuts = on_stack((256,), np.float64)
    if search.first == search.last:
        return 0.0, 0.0
    row_pairs = on_stack((MAX_LISTED_ROWS,), np.int64)
    places = on_stack((MAX_LISTED_ROWS,), np.int64)
    filled = on_stack((4,), np.uint64)
    total = np.int64(0)
    if rows.size > 0:
        for k in range(rows.size):
            row_pairs[k] = pairs[rows[k]]
            total += row_pairs[k]
        for b in range(counts.size):
            counts[b] = 0
    else:  # every lane counts all rows: use one that is read anyway
        for b in range(histogram.shape[1]):
            total += histogram[features[search.first, layout.LANE], b]
    weight, pull, penalty = float(total & LOW), float(total >> 32), rules[layout.PENALTY]
    min_weight = min_weight_of(rules, weight, size)
    if weight < 2 * min_weight:
        return 0.0, 0.0
    before = pull * pull / (weight + penalty)
    after = min_worth = before + NOISE * before
    leaf = Leaf(total, penalty, min_weight, sums, worth_of_cuts)
    listed = ListedRows(rows, row_pairs, counts, places, filled)
    for j in range(search.first, search.last):
        if not search.allowed[j]:
            continue
        feature = features[j]
        bins, lane = feature[layout.BINS], feature[layout.LANE]
        if rows.size > 0:
            block = search.codes.words[lane >> 3]
            after, cut, missing_left = scan_rows(listed, block, lane, bins, missing, leaf, after)
        else:
            after, cut, missing_left = scan_lane(
                histogram[lane], feature, missing, leaf, after, counts
            )
        if cut >= 0:
            best[layout.FEATURE], best[layout.CUT] = j, cut
            best[layout.MISSING_LEFT] = missing_left
    return (after, before) if after > min_worth else (before, before)
