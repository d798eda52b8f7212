"""The best cut of one feature for many classes, in one node of a forest's tree.

Small nodes hang their rows on chains, one a code, and move them one by one from right to left;
larger ones add up a histogram.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.chance import Whole
from pacboost.kernels.forest_split import CLASS, FOUND, HEADS, LEFT, TOTALS, between, marked
from pacboost.kernels.inline import inline


@inline
def hang_up(
    codes: NDArray[np.uint8],
    line: Whole,
    size: Whole,
    start: Whole,
    parcels: NDArray[np.int64],
    chained: bool,
    each: NDArray[np.uint8],
    chain: NDArray[np.int32],
    sums: NDArray[np.int64],
    by_class: NDArray[np.float64],
) -> None:
    """Hang rows on the chain of their code, or add them to the sums of its classes."""
    base = np.uint64(start)
    if chained:
        for i in range(size):
            code = codes[line, i]
            each[code] = 1
            chain[i] = sums[HEADS, code]
            sums[HEADS, code] = i
    else:
        for i in range(size):
            code, parcel = codes[line, i], parcels[base + np.uint64(i)]
            each[code] = 1
            by_class[code, np.uint64(parcel & CLASS)] += float(parcel >> 16)
            sums[HEADS, code] += 1


@inline
def move_left(
    code: Whole,
    start: Whole,
    parcels: NDArray[np.int64],
    chained: bool,
    chain: NDArray[np.int32],
    sums: NDArray[np.int64],
    by_class: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> Whole:
    """Move the rows of a code to the left; give how many they are.

    ``squares`` holds the weight on the left, and the sums of squares on the left and on the right.
    """
    if not chained:
        w, ours, theirs = squares[0], 0.0, 0.0
        for c in range(by_class.shape[1]):
            left = by_class[LEFT, c] + by_class[code, c]
            right = by_class[TOTALS, c] - left
            by_class[LEFT, c] = left
            w += by_class[code, c]
            ours += left * left
            theirs += right * right
        squares[0], squares[1], squares[2] = w, ours, theirs
        return np.int64(sums[HEADS, code] + 1)
    w, ours, theirs, n = squares[0], squares[1], squares[2], np.int64(0)
    i = sums[HEADS, code]
    while i >= 0:
        parcel = parcels[np.uint64(start + i)]
        own_class, own = np.uint64(parcel & CLASS), float(parcel >> 16)
        left = by_class[LEFT, own_class]
        ours += own * (2 * left + own)
        theirs -= own * (2 * (by_class[TOTALS, own_class] - left) - own)
        by_class[LEFT, own_class] = left + own
        w += own
        n += 1
        i = np.int64(chain[np.uint64(i)])
    squares[0], squares[1], squares[2] = w, ours, theirs
    return n


@inline
def best_of_classes(
    codes: NDArray[np.uint8],
    line: Whole,
    size: Whole,
    start: Whole,
    parcels: NDArray[np.int64],
    low: Whole,
    high: Whole,
    missing: Whole,
    least: Whole,
    lightest: float,
    marks: NDArray[np.uint64],
    each: NDArray[np.uint8],
    chain: NDArray[np.int32],
    sums: NDArray[np.int64],
    by_class: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> tuple[float, Whole, Whole]:
    """Do what ``best_of_numbers`` does, for many classes.

    What is kept by code, and the left side, are zero before and after; heads of chains are -1.
    ``chain`` has a place for every row. ``squares`` ends with the node's weight and its square.
    """
    chained = bool(3 * size < by_class.shape[1] * min(size, high - low + 1))  # measured
    hang_up(codes, line, size, start, parcels, chained, each, chain, sums, by_class)
    count = marked(marks, each, low, high, sums)
    best, cut, side = -1.0, low, low - low
    for missing_left in range(2 if high == missing else 1):
        squares[0], squares[1], squares[2] = 0.0, 0.0, squares[4]
        n = np.int64(0)
        for k in range(-missing_left, count - 1 - missing_left):
            code = sums[FOUND, k] if k >= 0 else missing
            n += move_left(code, start, parcels, chained, chain, sums, by_class, squares)
            if k < 0 or n < least or size - n < least:
                continue
            other = squares[3] - squares[0]
            score = squares[1] / squares[0] + squares[2] / other
            if score > best and min(squares[0], other) >= lightest:
                best, side = score, missing_left
                cut = between(code, sums[FOUND, k + 1], missing)
        for c in range(by_class.shape[1]):
            by_class[LEFT, c] = 0.0
    for k in range(count):
        code = sums[FOUND, k]
        sums[HEADS, code] = -1
        for c in range(0 if chained else by_class.shape[1]):
            by_class[code, c] = 0.0
    return best, cut, side
