"""Where to cut between the values of a feature."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TIE = 1e-9
LARGEST = np.finfo(np.float32).max

Floats = NDArray[np.float32]


def to_32_bits(values: NDArray[np.floating]) -> Floats:
    """Round values; one too large for 32 bits counts as the largest there is."""
    with np.errstate(over="ignore"):
        rounded: Floats = np.clip(np.asarray(values, dtype=np.float32), -LARGEST, LARGEST)
    return rounded


def cut(
    values: Floats, mass: NDArray[np.float64], max_bins: int, levels: int = 0
) -> tuple[Floats, int]:
    """Give the thresholds between distinct values (ascending), and the code of the median.

    ``mass`` is the weight on each value; ``levels`` is above 0 for a category, see samples/bins.py.

    >>> cut(np.array([1, 2, 4], dtype=np.float32), np.ones(3), 255)
    (array([1.5, 3. ], dtype=float32), 1)
    """
    thresholds = np.arange(0.5, levels - 1, dtype=np.float32)  # none unless it is categorical
    if values.size < (1 if levels else 2):
        return thresholds, 0
    below = np.cumsum(mass)
    slack = below[-1] * TIE  # so that sums made in another order cut at the same place
    if not levels:
        ends: NDArray[np.intp] = np.arange(values.size - 1)
        if values.size > max_bins:
            targets = below[-1] * np.arange(1, max_bins) / max_bins
            ends = np.unique(np.searchsorted(below, targets - slack))
            ends = ends[ends < values.size - 1]
        thresholds = between(values[ends], values[ends + 1])
    median = values[np.searchsorted(below, below[-1] / 2 - slack)]
    return thresholds, int(np.searchsorted(thresholds, median))


def between(low: Floats, high: Floats) -> Floats:
    """Give 32-bit floats t with low <= t < high, halfway where the format has room."""
    half = ((low.astype(np.float64) + high.astype(np.float64)) / 2).astype(np.float32)
    return np.where(half < high, half, low)
