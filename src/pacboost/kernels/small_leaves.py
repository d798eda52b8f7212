"""Cuts of one number in a leaf of few rows, for which most bins of a histogram would be empty."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.inline import trailing_zeros
from pacboost.kernels.jit import part_of_kernels
from pacboost.kernels.pairing import LOW
from pacboost.kernels.quick_cuts import best_of

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
