"""Find the best split of a node where nothing is asked for beyond the common case.

That is: numbers only, one output, Newton's criterion, no constraint. kernels/best_split.py finds
the same splits, but takes four times as long to compile.
"""

from __future__ import annotations

import numpy as np
from numba.types import UniTuple, float64, int64, uint8, uint32, uint64
from numpy.typing import NDArray

from pacboost.kernels.by_address import caller
from pacboost.kernels.inline import on_stack
from pacboost.kernels.jit import kernel, part_of_kernels
from pacboost.kernels.pairing import LOW
from pacboost.kernels.quick_cuts import scan_only, scan_quickly
from pacboost.kernels.small_leaves import FEW_ROWS, scan_rows, take_pairs
from pacboost.kernels.split_layout import (
    BASE,
    BINS,
    CUT,
    DEFAULT,
    FEATURE,
    LANE,
    LEAST_ROWS,
    LEAST_WEIGHT,
    MISSING_LEFT,
    NOISE,
    PENALTY,
    open_feature,
)

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
