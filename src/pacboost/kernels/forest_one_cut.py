"""What one cut of a feature scores, in one node of a tree whose cuts are drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.chance import Whole
from pacboost.kernels.forest_split import CLASS, LEFT, LOW, NODE, TOTALS
from pacboost.kernels.inline import inline


@inline
def score_of_cut(
    codes: NDArray[np.uint8],
    line: Whole,
    size: Whole,
    start: Whole,
    parcels: NDArray[np.int64],
    weights: NDArray[np.int64],
    cut: Whole,
    missing_right: Whole,
    least: Whole,
    lightest: float,
    sums: NDArray[np.int64],
    by_class: NDArray[np.float64],
) -> float:
    """Give what one cut scores; below 0 if it leaves too few rows, or too little, on a side.

    Codes above ``cut`` go right, but not those from ``missing_right`` on.
    """
    rows, own, pull, base = np.int64(0), np.int64(0), np.int64(0), np.uint64(start)
    for i in range(size):
        goes = (codes[line, i] > cut) & (codes[line, i] < missing_right)
        rows += goes
        own += parcels[base + np.uint64(i)] if goes else 0
    if rows < least or size - rows < least:
        return -1.0
    if by_class.shape[1] > 0:
        for i in range(size):
            if (codes[line, i] > cut) & (codes[line, i] < missing_right):
                parcel = parcels[base + np.uint64(i)]
                by_class[LEFT, np.uint64(parcel & CLASS)] += float(parcel >> 16)
        return score_of_sides(lightest, by_class)
    own, pull = own & LOW, own >> 32
    if weights.size > 0:
        own, pull = np.int64(0), np.int64(0)
        for i in range(size):
            goes = (codes[line, i] > cut) & (codes[line, i] < missing_right)
            at = base + np.uint64(i)
            own += weights[at] if goes else 0
            pull += weights[at] * parcels[at] if goes else 0
    w, t = float(sums[NODE, 0] - own), float(sums[NODE, 1] - pull)
    if min(w, float(own)) < lightest:
        return -1.0
    return t * t / w + float(pull) * float(pull) / float(own)


@inline
def score_of_sides(lightest: float, by_class: NDArray[np.float64]) -> float:
    """Give what a cut scores whose right side lies in LEFT, which is cleared."""
    w, ours, theirs, weight = 0.0, 0.0, 0.0, 0.0
    for c in range(by_class.shape[1]):
        right, total = by_class[LEFT, c], by_class[TOTALS, c]
        w += right
        weight += total
        theirs += right * right
        ours += (total - right) * (total - right)
        by_class[LEFT, c] = 0.0
    if min(w, weight - w) < lightest:
        return -1.0
    return ours / (weight - w) + theirs / w
