"""What the loop measures of a round on its own account: never taken from learner or booster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.jit import kernel


@kernel
def masses(
    weights: NDArray[np.int64],
    agree: NDArray[np.int8],
    sums: NDArray[np.int64],
    squares: NDArray[np.float64],
    span: int,
    start: int,
    stop: int,
) -> None:
    """Sum the weights of a span, of its wrong rows, and their squares (for the effective size)."""
    total = np.int64(0)
    wrong = np.int64(0)
    square = 0.0
    for i in range(start, stop):
        weight = weights[i]
        total += weight
        wrong += weight if agree[i] < 0 else 0
        square += float(weight) * float(weight)
    sums[span, 0] = total
    sums[span, 1] = wrong
    squares[span] = square
