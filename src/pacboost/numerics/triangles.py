"""Linear equations of a positive definite matrix, solved in one order of operations.

LAPACK would be faster, but its sums are those of a BLAS, whose order depends on its build and on
its threads (numerics/same_bits.py). Here a column at a time is subtracted from what is left.
"""

from __future__ import annotations

import numpy as np

from pacboost.numerics.same_bits import Floats


def solved(matrix: Floats, sides: Floats) -> Floats:
    """Return the solutions of matrix·x = side for every column of ``sides``.

    >>> solved(np.array([[4.0, 2.0], [2.0, 3.0]]), np.array([[8.0], [7.0]])).tolist()
    [[1.25], [1.5]]
    """
    size = len(matrix)
    rest = np.concatenate([matrix, sides], axis=1)
    for i in range(size - 1):
        factors = rest[i + 1 :, i] / rest[i, i]
        rest[i + 1 :, i:] -= factors[:, None] * rest[i, i:]
    x = np.empty(sides.shape)
    for i in range(size - 1, -1, -1):
        x[i] = rest[i, size:] / rest[i, i]
        rest[:i, size:] -= rest[:i, i, None] * x[i]
    return x
