"""The rows of one node of a forest's tree: taken, read, added up, sorted, and told as a leaf.

Large nodes read codes by column, in the order of rows; small ones by row, where all features of a
row lie in one or two cache lines, which stay near while the whole subtree is grown. What is read is
written side by side first: so reading has many addresses open at once, and the rows of the winning
feature need not be read again to be sorted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.forest_split import CLASS, LOW, NODE, TOTALS, Whole, below
from pacboost.kernels.runtime.jit import inline, kernel

SPARSE = 32  # below one row in so many, codes are read by row


@kernel
def count_drawn(
    order: NDArray[np.intp], places: NDArray[np.int64], counts: NDArray[np.int64]
) -> None:
    """Count how often each row was drawn; ``places`` are those of the draws in ``order``."""
    for i in range(places.size):
        counts[order[places[i]]] += 1


@inline
def take_bag(
    parcels: NDArray[np.int64],
    weights: NDArray[np.int64],
    counts: NDArray[np.int64],
    classes: Whole,
    rows: NDArray[np.uint32],
    own: NDArray[np.int64],
    heavy: NDArray[np.int64],
) -> None:
    """Take the rows of a bag, each with its share times how often it was drawn."""
    at = 0
    for i in range(counts.size):
        if counts[i] > 0:
            rows[at], own[at] = i, parcels[i]
            if weights.size > 0:
                heavy[at] = weights[i] * counts[i]
            elif classes > 2:
                own[at] += (parcels[i] >> 16) * (counts[i] - 1) << 16
            else:
                own[at] *= counts[i]
            at += 1


@inline
def fetch(
    columns: NDArray[np.uint8],
    lines: NDArray[np.uint8],
    feature: Whole,
    rows: NDArray[np.uint32],
    start: Whole,
    size: Whole,
    codes: NDArray[np.uint8],
    line: Whole,
) -> tuple[Whole, Whole]:
    """Write the codes of a node's rows side by side; give the least and the largest."""
    low, high, base = np.uint8(255), np.uint8(0), np.uint64(start)
    if size * SPARSE > columns.shape[1]:
        for i in range(size):
            codes[line, i] = columns[feature, rows[base + np.uint64(i)]]
    else:
        for i in range(size):
            codes[line, i] = lines[rows[base + np.uint64(i)], feature]
    for i in range(size):
        low, high = min(low, codes[line, i]), max(high, codes[line, i])
    return np.int64(low), np.int64(high)


@inline
def sort_rows(
    codes: NDArray[np.uint8],
    line: Whole,
    size: Whole,
    start: Whole,
    cut: Whole,
    missing_right: Whole,
    rows: NDArray[np.uint32],
    parcels: NDArray[np.int64],
    weights: NDArray[np.int64],
    spare_rows: NDArray[np.uint32],
    spare: NDArray[np.int64],
) -> Whole:
    """Put the rows that go left first, in their order; give how many they are.

    Every row is written to both sides, and only one side moves on: no branch to guess wrong.
    """
    one, base = np.uint64(1), np.uint64(start)
    l, r = base, np.uint64(0)  # noqa: E741
    for i in range(size):
        goes = np.uint64((codes[line, i] > cut) & (codes[line, i] < missing_right))
        row, parcel = rows[base + np.uint64(i)], parcels[base + np.uint64(i)]
        rows[l], parcels[l] = row, parcel
        spare_rows[r], spare[r] = row, parcel
        r += goes
        l += one - goes  # noqa: E741
    for i in range(np.int64(r)):
        rows[l + np.uint64(i)], parcels[l + np.uint64(i)] = spare_rows[i], spare[i]
    if weights.size > 0:
        at, r = base, np.uint64(0)
        for i in range(size):
            goes = np.uint64((codes[line, i] > cut) & (codes[line, i] < missing_right))
            weight = weights[base + np.uint64(i)]
            weights[at], spare[r] = weight, weight
            r += goes
            at += one - goes
        for i in range(np.int64(r)):
            weights[l + np.uint64(i)] = spare[i]
    return np.int64(l - base)


@inline
def random_cut(
    codes: NDArray[np.uint8],
    line: Whole,
    size: Whole,
    low: Whole,
    high: Whole,
    missing: Whole,
    state: NDArray[np.uint64],
) -> tuple[Whole, Whole]:
    """Draw a cut between the least and the largest code, and a side for missing values."""
    side = low - low
    if high == missing:
        high = low
        for i in range(size):
            if codes[line, i] < missing:
                high = max(high, np.int64(codes[line, i]))
        if high == low:
            return low, side
        side = below(state, side + 2)
    return low + below(state, high - low), side


@inline
def sum_up(
    start: Whole,
    stop: Whole,
    parcels: NDArray[np.int64],
    weights: NDArray[np.int64],
    sums: NDArray[np.int64],
    by_class: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> tuple[float, bool]:
    """Add up a node; give the score of leaving it whole, and whether it is pure."""
    base = np.uint64(start)
    if by_class.shape[1] > 0:
        for c in range(by_class.shape[1]):
            by_class[TOTALS, c] = 0.0
        for i in range(stop - start):
            parcel = parcels[base + np.uint64(i)]
            by_class[TOTALS, np.uint64(parcel & CLASS)] += float(parcel >> 16)
        weight, square, present = 0.0, 0.0, 0
        for c in range(by_class.shape[1]):
            own = by_class[TOTALS, c]
            weight += own
            square += own * own
            present += own > 0
        squares[3], squares[4] = weight, square
        return square / weight, present == 1
    w, t, same = np.int64(0), np.int64(0), True
    if weights.size == 0:
        for i in range(stop - start):
            w += parcels[base + np.uint64(i)]
        w, t = w & LOW, w >> 32
        same = t * (w - t) == 0
    else:
        for i in range(stop - start):
            at = base + np.uint64(i)
            w += weights[at]
            t += weights[at] * parcels[at]
            same &= parcels[at] == parcels[base]
    sums[NODE, 0], sums[NODE, 1] = w, t
    return float(t) * float(t) / float(w), same


@inline
def write_leaf(
    sums: NDArray[np.int64],
    by_class: NDArray[np.float64],
    unit: float,
    lines: Whole,
    number: NDArray[np.float32],
    bits: NDArray[np.uint32],
    table: NDArray[np.float32],
) -> np.uint64:
    """Return the payload of a leaf; if it is not of one class, its distribution becomes a line."""
    if by_class.shape[1] == 0:
        number[0] = np.float32(float(sums[NODE, 1]) / float(sums[NODE, 0]) * unit)
        return np.uint64(bits[0])
    weight, only = 0.0, 0
    for c in range(by_class.shape[1]):
        weight += by_class[TOTALS, c]
        if by_class[TOTALS, c] > 0:
            only = c
    if by_class[TOTALS, only] == weight:
        return np.uint64(only)
    for c in range(by_class.shape[1]):
        table[lines, c] = np.float32(by_class[TOTALS, c] / weight)
    return np.uint64(by_class.shape[1] + lines)
