"""Quantiles of columns on a GPU: the values between which samples/cuts.py cuts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.cuda.device import on_gpu, to_gpu, to_host
from pacboost.kernels.cuda.encode import Rows, copy_rows

LARGEST = np.finfo(np.float32).max

Floats = NDArray[np.float32]


class Quantiles(NamedTuple):
    """Of every column with more than so many distinct values, those below and above the cuts."""

    many: NDArray[np.bool_]
    """(columns): which columns these are; of the others nothing is said."""
    low: Floats
    """(columns, cuts): the largest value below each cut."""
    high: Floats
    """(columns, cuts): the next larger one, or one that is not larger where there is none."""
    median: Floats
    """(columns)"""


def quantiles(values: Any, chosen: Rows | None, max_bins: int, tie: float) -> Quantiles:
    """Sort all columns of the chosen rows of an array, and look at the places where to cut.

    A cut is wanted after every ``max_bins``-th part of the values that are not missing; ``tie`` is
    the share of all that may be missing to it.
    """
    import cupy

    columns = cupy.ascontiguousarray(_some_rows(values, chosen).T.astype(np.float32))
    columns = cupy.sort(cupy.clip(columns, -LARGEST, LARGEST), axis=1)  # missing ones are last
    steps = (columns[:, 1:] > columns[:, :-1]).sum(axis=1)
    seen = to_host(columns.shape[1] - cupy.isnan(columns).sum(axis=1)).astype(np.float64)
    many = to_host(steps) >= max_bins  # a step lies between two distinct values
    places = _places(seen, max_bins, tie)
    low = cupy.take_along_axis(columns, to_gpu(places), axis=1)
    high = cupy.zeros(low.shape, np.float32)
    for j in np.flatnonzero(many).tolist():
        above = cupy.searchsorted(columns[j, : int(seen[j])], low[j], side="right")
        high[j] = columns[j, cupy.minimum(above, columns.shape[1] - 1)]
    low, high = to_host(low), to_host(high)
    return Quantiles(many, low[:, :-1], high[:, :-1], low[:, -1])


def _some_rows(values: Any, chosen: Rows | None) -> Any:
    if chosen is None:
        return to_gpu(values)
    if on_gpu(values):
        return values[to_gpu(chosen)]
    part = np.empty((chosen.size, values.shape[1]), values.dtype)
    copy_rows(values, chosen, 0, part)
    return to_gpu(part)


def _places(seen: NDArray[np.float64], max_bins: int, tie: float) -> NDArray[np.int64]:
    """Give the places of values in sorted columns that the cuts come after, and of the medians.

    >>> _places(np.array([8.0]), 4, 1e-9)
    array([[1, 3, 5, 3]])
    """
    targets = seen[:, None] * np.arange(1, max_bins) / max_bins
    parts = np.concatenate([targets, seen[:, None] / 2], axis=1) - seen[:, None] * tie
    return np.maximum(np.ceil(parts), 1.0).astype(np.int64) - 1
