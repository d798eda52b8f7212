"""The ten points of the classic picture that explains AdaBoost.

Three rules that each look at one coordinate suffice, and their errors are 3/10, 3/14 and 3/22
whichever way ties are broken.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PLUS = ((8, 0), (3, 6), (1, 5), (9, 4), (5, 7))
MINUS = ((0, 8), (7, 1), (4, 9), (6, 2), (2, 3))


def ten_points() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Give the points (10, 2) and their labels in {-1, +1}.

    >>> X, y = ten_points()
    >>> X.shape, int(y.sum())
    ((10, 2), 0)
    """
    points = np.array(PLUS + MINUS, dtype=np.float64)
    return points, np.repeat(np.array([1, -1]), [len(PLUS), len(MINUS)])
