"""The ten points of the classic picture that explains AdaBoost.

Three rules that each look at one coordinate suffice, and their errors are 3/10, 3/14 and 3/22
whichever way ties are broken.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Pairs = tuple[tuple[int, int], ...]

PLUS = ((8, 0), (3, 6), (1, 5), (9, 4), (5, 7))
MINUS = ((0, 8), (7, 1), (4, 9), (6, 2), (2, 3))
LECTURE_PLUS = ((0, 2), (1, 0), (7, 7), (4, 9), (6, 6))
LECTURE_MINUS = ((2, 5), (5, 3), (3, 1), (9, 8), (8, 4))


def ten_points() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Give the points (10, 2) and their labels in {-1, +1}.

    >>> X, y = ten_points()
    >>> X.shape, int(y.sum())
    ((10, 2), 0)
    """
    return _labelled(PLUS, MINUS)


def lecture_points() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Give ten other points, whose rules look at x, x and y, in the order of the lecture's slides.

    Their errors are 3/10, 3/14 and 3/22 as well.

    >>> X, y = lecture_points()
    >>> X.shape, int(y.sum())
    ((10, 2), 0)
    """
    return _labelled(LECTURE_PLUS, LECTURE_MINUS)


def _labelled(plus: Pairs, minus: Pairs) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    points = np.array(plus + minus, dtype=np.float64)
    return points, np.repeat(np.array([1, -1]), [len(plus), len(minus)])
