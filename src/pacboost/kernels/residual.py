"""Follow the residuals, target minus score, from round to round."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.jit import kernel


@kernel
def advance(
    cells: NDArray[np.unsignedinteger],
    values: NDArray[np.float64],
    targets: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> float:
    """Add each cell's value to the scores (rows, 1), and give the largest absolute residual."""
    largest = 0.0
    for i in range(cells.size):
        score = scores[i, 0] + values[cells[i], 0]
        scores[i, 0] = score
        largest = max(largest, abs(targets[i] - score))
    return largest


@kernel
def pulls(
    targets: NDArray[np.float64],
    scores: NDArray[np.float64],
    weights: NDArray[np.int64],
    scale: float,
    out: NDArray[np.int64],
) -> np.int64:
    """Write weight times residual as whole numbers, and give the sum of their absolute values.

    ``scale`` brings every residual to 1 or less, so that a pull is no larger than its weight.
    """
    total = np.int64(0)
    for i in range(targets.size):
        pull = np.int64(np.rint(weights[i, 0] * ((targets[i] - scores[i, 0]) * scale)))
        out[i, 0] = pull
        total += abs(pull)
    return total


@kernel
def sides(
    targets: NDArray[np.float64],
    scores: NDArray[np.float64],
    weights: NDArray[np.int64],
    unit: float,
    out: NDArray[np.int8],
) -> np.int64:
    """Write the sign of every residual, 0 for less than a unit; give the weight of the others."""
    total = np.int64(0)
    for i in range(targets.size):
        gap = targets[i] - scores[i, 0]
        side = np.int8(0) if abs(gap) < unit else np.int8(1 if gap > 0 else -1)
        out[i, 0] = side
        total += weights[i, 0] * abs(side)
    return total
