"""What the loop measures of a round on its own account: never taken from learner or booster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.jit import kernel


@kernel
def masses(
    weights: NDArray[np.int64],
    agree: NDArray[np.int8],
    size: int,
    sums: NDArray[np.int64],
    squares: NDArray[np.float64],
) -> None:
    """For each span of ``size`` rows: the weight, the weight of wrong rows, the sum of squares."""
    for span in range(squares.size):
        own = weights[span * size : (span + 1) * size]
        right = agree[span * size : (span + 1) * size]
        total = np.int64(0)
        wrong = np.int64(0)
        for i in range(own.size):
            total += own[i]
            wrong += own[i] if right[i] < 0 else 0
        a = b = c = d = 0.0  # four sums, so that an addition need not wait for the one before
        fours = own.size // 4 * 4
        for i in range(0, fours, 4):
            a += float(own[i]) * float(own[i])
            b += float(own[i + 1]) * float(own[i + 1])
            c += float(own[i + 2]) * float(own[i + 2])
            d += float(own[i + 3]) * float(own[i + 3])
        for i in range(fours, own.size):
            a += float(own[i]) * float(own[i])
        sums[span, 0] = total
        sums[span, 1] = wrong
        squares[span] = (a + b) + (c + d)


@kernel
def mistakes(margins: NDArray[np.float64], first_weights: NDArray[np.int64]) -> np.int64:
    """Sum the first weights (one, or one each) of rows that the vote gets wrong or ties on."""
    count = np.int64(0)
    if first_weights.size == 1:
        for i in range(margins.size):
            count += 1 if margins[i] <= 0 else 0
        return np.int64(count * first_weights[0])
    for i in range(margins.size):
        count += first_weights[i] if margins[i] <= 0 else 0
    return count
