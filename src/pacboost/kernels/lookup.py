"""Find each value among the sorted cuts of its feature: to encode rows, and to score them.

A value's code is the number of cuts it lies above. Cuts of all features lie one after the other;
feature j owns ``cuts[offsets[j]:offsets[j + 1]]``. A missing value (NaN) has a code of its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.jit import kernel

ROWS_PER_TILE = 256  # a tile of a C-ordered matrix stays in the second-level cache


@kernel
def encode(
    values: NDArray[np.floating],
    cuts: NDArray[np.float64],
    offsets: NDArray[np.int64],
    missing: int,
    codes: NDArray[np.unsignedinteger],
    start: int,
    stop: int,
) -> None:
    """Write the codes of rows start to stop of ``values`` (rows, columns) into (columns, rows)."""
    for tile in range(start, stop, ROWS_PER_TILE):
        end = min(tile + ROWS_PER_TILE, stop)
        for j in range(values.shape[1]):
            first = offsets[j]
            size = offsets[j + 1] - first
            for i in range(tile, end):
                value = values[i, j]
                if np.isnan(value):
                    codes[j, i] = missing
                else:
                    low = first  # branch-free: the compiler turns the test into a move
                    left = size
                    while left > 0:
                        half = (left + 1) >> 1
                        low += half if cuts[low + half - 1] < value else 0
                        left -= half
                    codes[j, i] = low - first


@kernel
def score(
    values: NDArray[np.floating],
    cuts: NDArray[np.float64],
    offsets: NDArray[np.int64],
    steps: NDArray[np.float64],
    scores: NDArray[np.float64],
    start: int,
    stop: int,
) -> None:
    """Add to each row's score the step its value stands on, for every column of ``values``.

    Column j owns two more steps than cuts: one below the first cut, and last the one for missing.
    Its steps start at ``offsets[j] + 2 * j``.
    """
    for tile in range(start, stop, ROWS_PER_TILE):
        end = min(tile + ROWS_PER_TILE, stop)
        for j in range(values.shape[1]):
            first = offsets[j]
            size = offsets[j + 1] - first
            base = first + 2 * j
            for i in range(tile, end):
                value = values[i, j]
                if np.isnan(value):
                    scores[i] += steps[base + size + 1]
                else:
                    low = first
                    left = size
                    while left > 0:
                        half = (left + 1) >> 1
                        low += half if cuts[low + half - 1] < value else 0
                        left -= half
                    scores[i] += steps[base + low - first]
