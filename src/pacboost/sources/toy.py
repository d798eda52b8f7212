"""The ten points of the classic picture that explains AdaBoost.

Three rules that each look at one coordinate suffice, and their errors are 3/10, 3/14 and 3/22
whichever way ties are broken.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

CYCLING = (
    "-++++--+",
    "-++--+++",
    "+-+++-++",
    "+-++-+++",
    "+-+-+++-",
    "++-++++-",
    "++-+++-+",
    "++++--+-",
)
Pairs = tuple[tuple[int, int], ...]

PLUS = ((8, 0), (3, 6), (1, 5), (9, 4), (5, 7))
MINUS = ((0, 8), (7, 1), (4, 9), (6, 2), (2, 3))
LECTURE_PLUS = ((0, 2), (1, 0), (7, 7), (4, 9), (6, 6))
LECTURE_MINUS = ((2, 5), (5, 3), (3, 1), (9, 8), (8, 4))


def ten_points() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the points (10, 2) and their labels in {-1, +1}.

    >>> X, y = ten_points()
    >>> X.shape, int(y.sum())
    ((10, 2), 0)
    """
    return _labelled(PLUS, MINUS)


def lecture_points() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return ten other points, whose rules look at x, x and y, in the order of the slides.

    Their errors are 3/10, 3/14 and 3/22 as well.

    >>> X, y = lecture_points()
    >>> X.shape, int(y.sum())
    ((10, 2), 0)
    """
    return _labelled(LECTURE_PLUS, LECTURE_MINUS)


def _labelled(plus: Pairs, minus: Pairs) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    points = np.array(plus + minus, dtype=np.float64)
    return points, np.repeat(np.array([1, -1]), [len(plus), len(minus)])


def cycling_matrix() -> NDArray[np.int8]:
    """Return y·h(x) of eight rules (columns) on eight rows, on which AdaBoost need not end well.

    Some vote has margin 3/8 on every row, yet AdaBoost may cycle among rules and come to 1/3 only
    (Rudin, Daubechies and Schapire 2004).

    >>> best = np.array([2, 3, 4, 1, 2, 2, 1, 1]) / 16
    >>> (cycling_matrix() @ best).tolist() == [3 / 8] * 8
    True
    """
    return np.array([[1 if sign == "+" else -1 for sign in row] for row in CYCLING], dtype=np.int8)
