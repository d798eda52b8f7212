"""Read the best stump off the histograms of signed weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.jit import kernel


@kernel
def best_cut(histogram: NDArray[np.int64], missing: int, slack: int) -> tuple[int, int, np.int64]:
    """Give the first feature and cut whose edge is within ``slack`` of the largest.

    The third number is the sum above the cut less the sum below it; see learners/stump.py.
    """
    largest = np.int64(-1)
    for j in range(histogram.shape[0]):
        own = histogram[j]
        values = np.int64(0)
        for b in range(missing):
            values += own[b]
        below = np.int64(0)
        for b in range(missing):
            below += own[b]
            largest = max(largest, abs(values - 2 * below) + abs(own[missing]))
    for j in range(histogram.shape[0]):
        own = histogram[j]
        values = np.int64(0)
        for b in range(missing):
            values += own[b]
        below = np.int64(0)
        for b in range(missing):
            below += own[b]
            difference = values - 2 * below
            if abs(difference) + abs(own[missing]) >= largest - slack:
                return j, b, difference
    return 0, missing - 1, np.int64(0)  # not reached: the largest is within slack of itself
