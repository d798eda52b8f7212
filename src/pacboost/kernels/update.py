"""Weigh the rows anew after a round of a booster whose potential is exponential."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.exp_log import whole_exp
from pacboost.kernels.exp_of_rows import ROWS_PER_TILE
from pacboost.kernels.jit import kernel


@kernel
def exponential(
    agree: NDArray[np.int8],
    vote: float,
    total_vote: float,
    log_base: NDArray[np.float64],
    log_scale: float,
    margins: NDArray[np.float64],
    weights: NDArray[np.int64],
) -> np.int64:
    """Add the vote to the margins, set the weights anew, and give their sum.

    ``weight = max(1, round(exp(V - margin + b + s)))``, where ``V`` is the sum of all votes so far:
    a row that the newest rule got right keeps its weight unless the scale ``s`` changed. A weight
    is never below one unit: no row is forgotten, and an error of 0 means that there was none. ``b``
    is the logarithm of the row's base weight, one entry for each row, or a single one for all.
    """
    total = np.int64(0)
    if log_base.size == 1:
        shift = log_base[0] + log_scale
        for i in range(agree.size):
            margin = margins[i] + vote * agree[i]
            margins[i] = margin
            weight = whole_exp(total_vote - margin + shift)
            weights[i] = weight
            total += weight
    else:
        for i in range(agree.size):
            margin = margins[i] + vote * agree[i]
            margins[i] = margin
            weight = whole_exp(total_vote - margin + (log_base[i] + log_scale))
            weights[i] = weight
            total += weight
    return total


@kernel
def exponential_cells(
    cells: NDArray[np.unsignedinteger],
    values: NDArray[np.float64],
    signs: NDArray[np.int8],
    log_base: NDArray[np.float64],
    log_scale: float,
    margins: NDArray[np.float64],
    weights: NDArray[np.int64],
) -> np.int64:
    """Add each cell's values to the margins (rows, outputs), weigh anew, and give the sum."""
    total = np.int64(0)
    outputs = signs.shape[1]
    rows = max(1, ROWS_PER_TILE // outputs)
    added = np.empty(rows * outputs)
    flat_signs, flat_margins, flat_weights = signs.ravel(), margins.ravel(), weights.ravel()
    for tile in range(0, cells.size, rows):
        own_cells = cells[tile : tile + rows]
        for i in range(own_cells.size):
            for k in range(outputs):
                added[i * outputs + k] = values[own_cells[i], k]
        first, last = tile * outputs, (tile + own_cells.size) * outputs
        side = flat_signs[first:last]
        margin = flat_margins[first:last]
        weight = flat_weights[first:last]
        for i in range(margin.size):
            margin[i] += added[i] * side[i]
        if log_base.size == 1:
            for i in range(margin.size):
                weight[i] = whole_exp(log_scale - margin[i] + log_base[0])
        else:
            base = log_base[first:last]
            for i in range(margin.size):
                weight[i] = whole_exp(log_scale - margin[i] + base[i])
        for i in range(margin.size):
            total += weight[i]
    return total


@kernel
def clipped(
    margins: NDArray[np.float64], log_base: NDArray[np.float64], weights: NDArray[np.int64]
) -> np.int64:
    """Set weights to base·min(1, exp(-margin)), no less than one unit, and give their sum."""
    total = np.int64(0)
    for i in range(margins.size):
        base = log_base[i] if log_base.size > 1 else log_base[0]
        weight = whole_exp(base - max(margins[i], 0.0))
        weights[i] = weight
        total += weight
    return total
