"""Every kernel once more in plain NumPy: slow, short, and what the tests compare with.

Twins take what their kernels take, or something simpler, and give new arrays back. Floats are
added in NumPy's order, so sums of floats agree with a kernel's to rounding and no further.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Cuts = Sequence[NDArray[np.float64]]


def encode(values: NDArray[np.floating], cuts: Cuts, missing: int) -> NDArray[np.int64]:
    """Give the codes (columns, rows) of ``values``: how many of its cuts each lies above.

    >>> encode(np.array([[0.5], [2.0], [np.nan]]), [np.array([1.0, 2.0])], 3).tolist()
    [[0, 1, 3]]
    """
    codes = np.empty(values.shape[::-1], dtype=np.int64)
    for j, own in enumerate(cuts):
        above = values[:, j, None].astype(np.float64) > own
        codes[j] = np.where(np.isnan(values[:, j]), missing, above.sum(axis=1))
    return codes


def score(
    values: NDArray[np.floating],
    columns: Sequence[int],
    cuts: Cuts,
    steps: Sequence[NDArray[np.float64]],
    missing: Sequence[float],
) -> NDArray[np.float64]:
    """Give each row's sum of the steps that its values stand on; cuts are those of ``columns``.

    >>> score(np.array([[0.5], [2.5]]), [0], [np.array([1.0])], [np.array([-3.0, 4.0])], [0.0])
    array([-3.,  4.])
    """
    scores = np.zeros(values.shape[0])
    for j, own, heights, absent in zip(columns, cuts, steps, missing, strict=True):
        codes = encode(values[:, [j]], [own], heights.size)[0]
        scores += np.append(heights, absent)[codes]
    return scores


def histogram(
    codes: NDArray[np.unsignedinteger], signed: NDArray[np.int64], width: int
) -> NDArray[np.int64]:
    """Sum the signed weights of each code, for every feature, afresh: ``histogram.update``'s twin.

    >>> histogram(np.array([[0, 1, 1]], dtype=np.uint8), np.array([5, 6, -1]), 3).tolist()
    [[5, 5, 0]]
    """
    sums = np.zeros((codes.shape[0], width), dtype=np.int64)
    for own, column in zip(sums, codes, strict=True):
        np.add.at(own, column, signed)
    return sums


def best_cut(histogram: NDArray[np.int64], missing: int, slack: int) -> tuple[int, int, int]:
    """Give the first feature and cut whose edge is within ``slack`` of the largest.

    >>> best_cut(np.array([[3, -4, 0], [-5, 2, 0]]), 2, 0), best_cut(np.array([[3, -3, 0]]), 2, 0)
    ((0, 0, -7), (0, 0, -6))
    """
    below = np.cumsum(histogram[:, :missing], axis=1)
    difference = below[:, -1:] - 2 * below
    edge = np.abs(difference) + np.abs(histogram[:, missing, None])
    feature, cut = np.argwhere(edge >= edge.max() - slack)[0]
    return int(feature), int(cut), int(difference[feature, cut])


def masses(
    weights: NDArray[np.int64], agree: NDArray[np.int8], size: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """For each span of ``size`` rows: the weight and that of wrong rows; the sum of squares.

    >>> sums, squares = masses(np.array([1, 2, 3]), np.array([1, -1, -1], dtype=np.int8), 2)
    >>> sums.tolist(), squares.tolist()
    ([[3, 2], [3, 3]], [5.0, 9.0])
    """
    starts = np.arange(0, weights.size, size)
    wrong = np.where(agree < 0, weights, 0)
    squares = weights.astype(np.float64) ** 2
    sums = np.stack([np.add.reduceat(weights, starts), np.add.reduceat(wrong, starts)], axis=1)
    return sums, np.add.reduceat(squares, starts)


def mistakes(margins: NDArray[np.float64], first_weights: NDArray[np.int64]) -> int:
    """Sum the first weights (one, or one each) of rows that the vote gets wrong or ties on.

    >>> mistakes(np.array([-1.0, 0.0, 2.0]), np.array([5]))
    10
    """
    return int(np.broadcast_to(first_weights, margins.shape)[margins <= 0].sum())


def whole_exp(x: NDArray[np.float64]) -> NDArray[np.int64]:
    """Give max(1, round(exp(x))) with the library's exp.

    >>> whole_exp(np.array([-50.0, 0.0, 3.0])).tolist()
    [1, 1, 20]
    """
    return np.maximum(1, np.rint(np.exp(x)).astype(np.int64))


def exponential(
    agree: NDArray[np.int8],
    vote: float,
    total_vote: float,
    log_base: NDArray[np.float64],
    log_scale: float,
    margins: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Give the new margins and the new weights.

    >>> new = exponential(np.array([1, -1], dtype=np.int8), 1.0, 1.0, np.zeros(1), 2.0, np.zeros(2))
    >>> [array.tolist() for array in new]
    [[1.0, -1.0], [7, 55]]
    """
    margins = margins + vote * agree
    return margins, whole_exp(total_vote - margins + (log_base + log_scale))
