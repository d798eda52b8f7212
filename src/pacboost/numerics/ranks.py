"""Ranks of values, from 1 for the smallest, in NumPy: scipy.stats takes a second to import."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mean_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of each value; equal values share the mean of their ranks.

    >>> mean_ranks(np.array([0.5, 0.1, 0.5, 0.9])).tolist()
    [2.5, 1.0, 2.5, 4.0]
    """
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    means: NDArray[np.float64] = sizes.cumsum() - (sizes - 1) / 2
    return means[group.ravel()]


def max_ranks(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rank of each value within its row; equal values share the largest of their ranks.

    >>> max_ranks(np.array([[0.5, 0.1, 0.5, 0.9]])).tolist()
    [[3, 1, 3, 4]]
    """
    columns = values.shape[1]
    order = np.argsort(values, axis=1, kind="stable")
    ascending = np.take_along_axis(values, order, axis=1)
    is_last = np.ones(values.shape, dtype=np.bool_)
    is_last[:, :-1] = ascending[:, 1:] != ascending[:, :-1]
    # the smallest end at or after each place is that of its group of equal values
    ends = np.where(is_last, np.arange(1, columns + 1), columns)
    ends = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(values.shape, dtype=np.intp)
    np.put_along_axis(ranks, order, ends, axis=1)
    return ranks
