"""Hashes of rows by values that are rounded to steps: see samples/row_hashes.py."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.jit import kernel

MISSING = np.uint64(0x9E3779B97F4A7C15)
LARGEST_CELL = 2.0**62
CELLS_WORTH_COMPILING = 2_000_000
"""On fewer cells, NumPy is done before this is compiled."""


@kernel
def add_near_hashes(
    values: NDArray[np.floating],
    steps: NDArray[np.float64],
    factors: NDArray[np.uint64],
    total: NDArray[np.uint64],
) -> None:
    """Add the hash of every value (rows, columns), rounded to its column's step, to its row's."""
    for i in range(total.size):
        for j in range(steps.size):
            value = np.float64(values[i, j])
            x = MISSING
            if value == value:  # noqa: PLR0124 - not missing
                whole = min(max(np.rint(value / steps[j]), -LARGEST_CELL), LARGEST_CELL)
                x = np.uint64(np.int64(whole))
            x += factors[j]
            x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            total[i] += x ^ (x >> np.uint64(31))
