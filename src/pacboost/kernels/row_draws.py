"""Draw the rows that a tree is grown on: src/native/rounds/draws.h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.native import native
from pacboost.kernels.team import team_for, together

KEY_BITS = 20
"""A seed shifted by these is a key, for drawing rows and the features of each leaf of a tree."""


def draw_rows(seed: int, rows: int, count: int) -> NDArray[np.intp]:
    """Return ``count`` of the rows 0, 1, …, in ascending order.

    >>> draw_rows(0, rows=10, count=4)
    array([0, 3, 5, 7])
    """
    chosen = np.empty(count, dtype=np.intp)
    together(native.draw, int(seed) << KEY_BITS, rows, chosen, at_most=team_for(rows))
    return chosen
