"""Find the best split of a node in its histograms of pairs, over all features."""

from __future__ import annotations

import numpy as np
from numba.types import UniTuple, float64, int64, uint8
from numpy.typing import NDArray

from pacboost.kernels.by_address import caller
from pacboost.kernels.feature_scan import (
    know_levels,
    scan_category,
    scan_feature,
    scan_numbers,
)
from pacboost.kernels.inline import on_stack
from pacboost.kernels.jit import kernel
from pacboost.kernels.pairing import LOW
from pacboost.kernels.split_layout import (
    BINS,
    CATEGORY,
    CRITERION,
    CUT,
    DEFAULT,
    FEATURE,
    LANE,
    LEAST_ROWS,
    LEAST_WEIGHT,
    LEVEL_ROWS,
    MISSING_LEFT,
    MONOTONE,
    NOISE,
    PENALTY,
    open_feature,
    worth,
)

KINDS = (
    int64[:, :, ::1], int64[:, ::1], uint8[::1], int64, int64, float64[::1], float64[::1],
    int64[::1], uint8[::1], int64, uint8[:, ::1], float64[::1],
)  # fmt: skip
"""The types of what ``scan`` takes."""


@kernel
def scan(
    histogram: NDArray[np.int64],
    features: NDArray[np.int64],
    allowed: NDArray[np.uint8],
    missing: int,
    size: int,
    rules: NDArray[np.float64],
    span: NDArray[np.float64],
    best: NDArray[np.int64],
    members: NDArray[np.uint8],
    at_root: int,
    orders: NDArray[np.uint8],
    evidence: NDArray[np.float64],
) -> tuple[float, float]:
    """Find the best split over every feature; give what its sides and the leaf are worth.

    Without a split that gains anything, the first is equal to the second. What the root knows of
    the levels of categories is written to ``orders`` and ``evidence``, and read in other nodes.

    ``span`` holds the least and the most mean pull that monotone splits above leave to this node.
    Of equal splits the first one counts.
    """
    outputs = histogram.shape[0]
    total, own = on_stack((outputs,), np.int64), on_stack((outputs, 256), np.int64)
    order, sums = on_stack((256,), np.int64), on_stack((256,), np.int64)
    found_at, pulls = on_stack((256,), np.float64), on_stack((outputs,), np.float64)
    for s in range(outputs):
        total[s] = 0
        for b in range(histogram.shape[2]):
            total[s] += histogram[s, 0, b]
        pulls[s] = float(total[s] >> 32)
    weight = float(total[0] & LOW)
    least = max(rules[LEAST_WEIGHT], rules[LEAST_ROWS] * weight / size, 1.0)
    if weight < 2 * least:
        return 0.0, 0.0
    before = worth(int(rules[CRITERION]), pulls, weight, rules[PENALTY])
    after = before + NOISE * abs(before)
    nothing = after
    if at_root:
        know_levels(histogram, features, missing, total, rules, own, order, orders, evidence)
    for j in range(features.shape[0]):
        if not allowed[j]:
            continue
        feature = features[j]
        bins, slope, category = feature[BINS], feature[MONOTONE], feature[CATEGORY]
        plain = outputs == 1 and category == 0
        line = histogram[0, feature[LANE]]
        absent = line[missing]
        if not plain or feature[DEFAULT] >= 0:
            for s in range(outputs):
                open_feature(histogram[s, feature[LANE]], feature, missing, total[s], own[s])
            line = own[0]
            absent = line[bins]
        if plain:
            found, cut, left = scan_numbers(
                line[:bins], absent, total[0], rules, least, span, slope, after, sums, found_at
            )
        elif category:
            found, cut, left = scan_category(
                own, feature, total, rules, least, rules[LEVEL_ROWS] * weight / size, after,
                orders[j], 0.0 if at_root else evidence[j], missing, members,
            )  # fmt: skip
        else:
            found, cut, left = scan_feature(own, feature, total, order, rules, least, after, 0.0)
        if cut >= 0:
            after = found
            best[FEATURE], best[CUT], best[MISSING_LEFT] = j, cut, left
    return (after, before) if after > nothing else (before, before)


scan_at = caller(UniTuple(float64, 2), KINDS)
"""``scan`` at an address."""
