"""Find the best split of a node where nothing is asked for beyond the common case.

That is: numbers only, one output, Newton's criterion, no constraint. kernels/best_split.py finds
the same splits, but takes four times as long to compile.
"""

from __future__ import annotations

import numpy as np
from numba.types import UniTuple, float64, int64, uint8, uint32, uint64
from numpy.typing import NDArray

from pacboost.kernels.cuts import (
    BASE,
    BINS,
    CUT,
    DEFAULT,
    FEATURE,
    LANE,
    LEAST_ROWS,
    LEAST_WEIGHT,
    LOW,
    MISSING_LEFT,
    NOISE,
    PENALTY,
    best_of,
    open_feature,
    scan_only,
    scan_quickly,
)
from pacboost.kernels.runtime.entry import caller
from pacboost.kernels.runtime.jit import kernel, on_stack, part_of_kernels, trailing_zeros

# Cuts of one number in a leaf of few rows, for which most bins of a histogram would be empty.

FEW_ROWS = 128
"""From so many rows on, to count histograms and to pass over their empty bins is faster."""


@part_of_kernels
def take_pairs(
    rows: NDArray[np.uint32],
    pairs: NDArray[np.int64],
    held: NDArray[np.int64],
    own: NDArray[np.int64],
) -> np.int64:
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
    block: NDArray[np.uint64],
    lane: int,
    rows: NDArray[np.uint32],
    held: NDArray[np.int64],
    bins: int,
    missing: int,
    total: np.int64,
    penalty: float,
    least: float,
    wanted: float,
    own: NDArray[np.int64],
    sums: NDArray[np.int64],
    found: NDArray[np.float64],
    places: NDArray[np.int64],
    filled: NDArray[np.uint64],
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
    count, below = 0, np.int64(0)
    for w in range(4):
        bits = filled[w]
        while bits != 0:
            b = 64 * w + trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            below += own[b]
            own[b] = 0
            sums[count], places[count] = below, b
            count += 1
    weight, pull = float(total & LOW), float(total >> 32)
    best, cut, missing_left = wanted, -1, False
    without_last = count - 1 if count > 0 and places[count - 1] == bins - 1 else count
    for way in range(2 if absent != 0 else 1):  # missing values right, then left
        if way == 1:
            for k in range(count):
                sums[k] += absent
        looked_at = count if absent != 0 and way == 0 else without_last
        best, place = best_of(sums[:looked_at], weight, pull, penalty, least, best, found)
        if place >= 0:
            left = float(sums[place] & LOW)
            cut = places[place]
            missing_left = way == 1 if absent != 0 else left >= weight - left
    return best, cut, missing_left


KINDS = (
    int64[:, ::1], int64[:, ::1], uint8[::1], int64, int64, float64[::1], int64[::1],
    uint64[:, ::1], uint32[::1], int64[::1],
)  # fmt: skip
"""The types of what ``scan`` takes."""


@part_of_kernels
def scan_lane(
    lane: NDArray[np.int64],
    feature: NDArray[np.int64],
    missing: int,
    total: np.int64,
    penalty: float,
    least: float,
    wanted: float,
    own: NDArray[np.int64],
    sums: NDArray[np.int64],
    found: NDArray[np.float64],
) -> tuple[float, int, bool]:
    """Find a cut of a feature, given the histogram of its lane, as ``scan_quickly`` does."""
    bins, default, line = feature[BINS], feature[DEFAULT], lane
    absent = line[missing] if default < 0 else np.int64(0)  # none, where features share a lane
    if bins == 2 and absent == 0:
        below = line[0] if default < 0 else line[feature[BASE]]
        below = total - below if default == 0 else below
        return scan_only(below, total, penalty, least, wanted)
    if default >= 0:
        open_feature(lane, feature, missing, total, own)
        line = own
    return scan_quickly(line[:bins], absent, total, penalty, least, wanted, sums, found)


@kernel
def scan(
    histogram: NDArray[np.int64],
    features: NDArray[np.int64],
    allowed: NDArray[np.uint8],
    missing: int,
    size: int,
    rules: NDArray[np.float64],
    best: NDArray[np.int64],
    words: NDArray[np.uint64],
    rows: NDArray[np.uint32],
    pairs: NDArray[np.int64],
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
    for j in range(features.shape[0]):
        if not allowed[j]:
            continue
        feature = features[j]
        bins, lane = feature[BINS], feature[LANE]
        if rows.size > 0:
            after, cut, left = scan_rows(
                words[lane >> 3], lane, rows, held, bins, missing, total, penalty, least, after,
                own, sums, found_at, places, filled,
            )  # fmt: skip
        else:
            after, cut, left = scan_lane(
                histogram[lane], feature, missing, total, penalty, least, after, own, sums, found_at
            )
        if cut >= 0:
            best[FEATURE], best[CUT], best[MISSING_LEFT] = j, cut, left
    return (after, before) if after > nothing else (before, before)


scan_at = caller(UniTuple(float64, 2), KINDS)
"""``scan`` at an address."""
