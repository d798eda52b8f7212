"""Rows of codes in lanes: written, read to tell the sides of a split, and sorted by it.

Eight codes of a row lie in one 64-bit word, a lane each. Features that are never away from their
defaults together share a lane; see samples/blocks.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.jit import kernel
from pacboost.kernels.split_layout import (
    BASE,
    BINS,
    CATEGORY,
    CUT,
    DEFAULT,
    FEATURE,
    LANE,
    MISSING_LEFT,
)

NO_PLACE = np.uint64(255)  # the code of what cannot share a lane


@kernel
def place(
    codes: NDArray[np.uint8],
    maps: NDArray[np.uint8],
    features: NDArray[np.int64],
    words: NDArray[np.uint64],
    first: int,
    last: int,
    clashes: NDArray[np.int64],
) -> None:
    """Write the codes (columns, rows) of some rows into their lanes.

    Counts for each column how often it found its lane taken, or has no place in it.
    """
    for j in range(codes.shape[0]):
        own, mapped = codes[j], maps[j]
        lane = features[j, LANE]
        shift = np.uint64(8 * (lane & 7))
        block = words[lane >> 3, first:last]
        if features[j, DEFAULT] < 0:
            for i in range(block.size):
                block[i] |= np.uint64(own[i]) << shift
        else:
            for i in range(block.size):
                code = np.uint64(mapped[own[i]])
                taken = (block[i] >> shift) & np.uint64(255)
                clashes[j] += (code == NO_PLACE) or (code != 0 and taken != 0)
                block[i] |= code << shift


@kernel
def part(
    block: NDArray[np.uint64],
    shift: np.uint64,
    goes_left: NDArray[np.uint8],
    rows: NDArray[np.uint32],
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
) -> np.int64:
    """Sort rows into left and right, keeping their order; give how many went left.

    Every row is written to both sides, and only one side moves on: no branch to guess wrong.
    """
    l = np.uint64(0)  # noqa: E741
    r = np.uint64(0)
    for k in range(rows.size):
        row = rows[k]
        to_left = goes_left[(block[row] >> shift) & np.uint64(255)]
        left[l] = row
        right[r] = row
        l += np.uint64(to_left)  # noqa: E741
        r += np.uint64(1) - np.uint64(to_left)
    return np.int64(l)


@kernel
def part_to_ends(
    block: NDArray[np.uint64],
    shift: np.uint64,
    goes_left: NDArray[np.uint8],
    rows: NDArray[np.uint32],
    out: NDArray[np.uint32],
) -> np.int64:
    """Write rows that go left to the front of ``out``, the others to its end, last one first.

    Gives how many went left. Both places of a row are free: they meet at the last row only.
    """
    l = np.uint64(0)  # noqa: E741
    r = np.uint64(rows.size - 1)
    for k in range(rows.size):
        row = rows[k]
        to_left = goes_left[(block[row] >> shift) & np.uint64(255)]
        out[l] = row
        out[r] = row
        l += np.uint64(to_left)  # noqa: E741
        r -= np.uint64(1) - np.uint64(to_left)
    return np.int64(l)


@kernel
def sides(
    feature: NDArray[np.int64],
    best: NDArray[np.int64],
    members: NDArray[np.uint8],
    missing: int,
    goes_left: NDArray[np.uint8],
) -> None:
    """Write for every code of the lane whether it goes left."""
    bins, default, cut = feature[BINS], feature[DEFAULT], best[CUT]
    if default < 0 and not feature[CATEGORY]:  # the common case, in a loop that runs on vectors
        for code in range(256):
            goes_left[code] = code <= cut
        goes_left[missing] = np.uint8(best[MISSING_LEFT])
        return
    for code in range(256):
        if default < 0:
            b = code
        else:  # other features' codes mean that this one has its default
            b = code - feature[BASE]
            if b < 0 or b >= bins - 1:
                b = default
            elif b >= default:
                b += 1
        if feature[CATEGORY]:
            goes_left[code] = members[b]
        elif b == missing:
            goes_left[code] = np.uint8(best[MISSING_LEFT])
        else:
            goes_left[code] = np.uint8(b <= cut)


@kernel
def sides_of_all(
    features: NDArray[np.int64],
    splits: NDArray[np.int64],
    members: NDArray[np.uint8],
    missing: int,
    goes_left: NDArray[np.uint8],
) -> None:
    """Do what ``sides`` does for every split of a tree, whose feature is in its first column."""
    for t in range(goes_left.shape[0]):
        sides(features[splits[t, FEATURE]], splits[t], members[t], missing, goes_left[t])


@kernel
def label(
    order: NDArray[np.uint32],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    first: int,
    last: int,
    cells: NDArray[np.unsignedinteger],
) -> None:
    """Write the number of its leaf to every row from ``first`` to before ``last``.

    The rows of a leaf ascend. Threads that divide the rows by their numbers, not by their leaves,
    never write to the same cache line.
    """
    for leaf in range(starts.size):
        low, high = starts[leaf], starts[leaf] + sizes[leaf]
        end = high
        while low < high:
            middle = (low + high) // 2
            if order[middle] < first:
                low = middle + 1
            else:
                high = middle
        while low < end and order[low] < last:
            cells[order[low]] = leaf
            low += 1


@kernel
def settle(
    words: NDArray[np.uint64],
    lanes: NDArray[np.int64],
    goes_left: NDArray[np.uint8],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    rows: NDArray[np.uint32],
    cells: NDArray[np.unsignedinteger],
) -> None:
    """Walk rows that did not take part in the growing to their leaves."""
    for k in range(rows.size):
        row = rows[k]
        at = np.int64(0)
        while at >= 0:
            lane = lanes[at]
            code = (words[lane >> 3, row] >> np.uint64(8 * (lane & 7))) & np.uint64(255)
            at = np.int64(left[at] if goes_left[at, code] else right[at])
        cells[row] = ~at
