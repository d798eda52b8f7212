"""Quantiles of numbers with whole weights: what lowers the pinball loss most."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def quantile_of(numbers: Floats, weights: NDArray[np.int64] | None, share: float) -> float:
    """Return the middle of all numbers v that minimise the pinball loss of ``share``.

    That loss is Σ w·share·(r - v) over numbers r above v, and Σ w·(1 - share)·(v - r) over the
    others; with a share of ½ the minimum is the median. Weights were rounded to whole units, so
    that parts that differ by less than a unit a row are equal: a row of weight 2 then does the same
    as two rows.

    >>> quantile_of(np.array([5.0, 1.0, 2.0]), np.array([10, 20, 10]), 0.5)
    1.5
    >>> quantile_of(np.arange(1.0, 11.0), None, 0.9), quantile_of(np.arange(1.0, 12.0), None, 0.9)
    (9.5, 10.0)
    """
    if weights is None:
        return _of_equal_weights(numbers, share)
    order = np.argsort(numbers, kind="stable")
    below = 2 * np.cumsum(weights[order])
    goal = share * float(below[-1])
    slack = min(numbers.size, int(weights.min()) - 1)
    at = min(int(np.searchsorted(below, goal - slack)), numbers.size - 1)
    if below[at] <= goal + slack and at + 1 < numbers.size:
        return float((numbers[order[at]] + numbers[order[at + 1]]) / 2)
    return float(numbers[order[at]])


def _of_equal_weights(numbers: Floats, share: float) -> float:
    goal = share * numbers.size
    rounding = 1e-12 * numbers.size
    at = min(max(math.ceil(goal - rounding) - 1, 0), numbers.size - 1)
    after = min(at + 1, numbers.size - 1)
    parted = np.partition(numbers, (at, after))
    if abs(goal - (at + 1)) <= rounding:
        return float((parted[at] + parted[after]) / 2)
    return float(parted[at])


def quantiles_of_cells(
    numbers: Floats,
    weights: NDArray[np.int64] | None,
    share: float,
    cells: NDArray[np.unsignedinteger],
    count: int,
) -> Floats:
    """Return the quantile of every cell, 0 where there are no rows.

    >>> cells = np.array([0, 0, 2, 2, 2], dtype=np.uint8)
    >>> quantiles_of_cells(np.array([1.0, 3.0, 5.0, 7.0, 6.0]), None, 0.5, cells, 3).tolist()
    [2.0, 0.0, 6.0]
    """
    order = np.argsort(cells, kind="stable")
    ends = np.cumsum(np.bincount(cells, minlength=count))
    found = np.zeros(count)
    for cell, rows in enumerate(np.split(order, ends[:-1])):
        if rows.size:
            own = None if weights is None else weights[rows]
            found[cell] = quantile_of(numbers[rows], own, share)
    return found
