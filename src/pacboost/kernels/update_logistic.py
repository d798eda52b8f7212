"""Weigh the rows anew after a round of LogitBoost, for two classes and for many."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.exp_of_rows import ROWS_PER_TILE, TOP, TOTAL, raise_margins, raise_rows
from pacboost.kernels.inline import on_stack
from pacboost.kernels.jit import kernel


@kernel
def logistic(
    cells: NDArray[np.unsignedinteger],
    values: NDArray[np.float64],
    signs: NDArray[np.int8],
    base: NDArray[np.float64],
    most: float,
    margins: NDArray[np.float64],
    weights: NDArray[np.int64],
    pulls: NDArray[np.int64],
) -> tuple[np.int64, np.int64]:
    """Add each cell's value, then set weights q(1 - q) and pulls ±q for q = 1/(1 + exp(2·margin)).

    All arrays are (rows,). Pulls are held to ``most`` times the weight; both are in units of the
    row's base. Gives the sums of weights and of absolute pulls. Done tile by tile in loops that run
    on vectors.
    """
    weight_sum = np.int64(0)
    pull_sum = np.int64(0)
    raised = on_stack((ROWS_PER_TILE,), np.float64)
    added = on_stack((ROWS_PER_TILE,), np.float64)
    for tile in range(0, cells.size, ROWS_PER_TILE):
        own_cells = cells[tile : tile + ROWS_PER_TILE]
        side = signs[tile : tile + ROWS_PER_TILE]
        margin = margins[tile : tile + ROWS_PER_TILE]
        weight = weights[tile : tile + ROWS_PER_TILE]
        pull = pulls[tile : tile + ROWS_PER_TILE]
        scale = base[tile : tile + ROWS_PER_TILE]
        for i in range(own_cells.size):
            added[i] = values[own_cells[i]]
        for i in range(margin.size):
            margin[i] += added[i] * side[i]
        raise_margins(margin, raised)
        if base.size == 1:
            for i in range(margin.size):
                added[i] = base[0]
        else:
            for i in range(margin.size):
                added[i] = scale[i]
        for i in range(margin.size):
            right = added[i] / (1.0 + raised[i])  # the larger of q and 1 - q, in units
            wrong = raised[i] * right
            curve = wrong / (1.0 + raised[i])
            q = wrong if margin[i] > 0 else right
            held = most * curve
            whole = np.int64((held if held < q else q) + 0.5)  # 0 · inf is nan: take q
            curved = np.int64(curve + 0.5)
            weight[i] = curved
            pull[i] = whole * side[i]
            weight_sum += curved
            pull_sum += whole
    return weight_sum, pull_sum


@kernel
def softmax(
    chosen: NDArray[np.intp],
    cells: NDArray[np.unsignedinteger],
    values: NDArray[np.float64],
    signs: NDArray[np.int8],
    base: NDArray[np.float64],
    most: float,
    margins: NDArray[np.float64],
    weights: NDArray[np.int64],
    pulls: NDArray[np.int64],
    raised_sums: NDArray[np.float64],
) -> tuple[np.int64, np.int64]:
    """Add each cell's values, then set weights p(1 - p) and pulls y* - p, with p = softmax(F).

    Only the chosen rows are looked at. Gives by how much the sums of all weights and of all
    absolute pulls have grown. ``raised_sums`` (rows, 2) gets what ``raise_rows`` finds of each row.
    """
    weight_sum = np.int64(0)
    pull_sum = np.int64(0)
    outputs = signs.shape[1]
    rows = max(1, ROWS_PER_TILE // outputs)
    raised, found = np.empty(rows * outputs), np.empty((rows, 2))
    for first in range(0, chosen.size, rows):
        tile = chosen[first : first + rows]
        for j in range(tile.size):
            own, side, margin = values[cells[tile[j]]], signs[tile[j]], margins[tile[j]]
            line = raised[j * outputs : (j + 1) * outputs]
            for k in range(line.size):
                moved = margin[k] + own[k] * side[k]
                margin[k] = moved
                line[k] = moved * side[k]
        raise_rows(raised[: tile.size * outputs], found[: tile.size])
        for j in range(tile.size):
            i = tile[j]
            raised_sums[i, TOP], raised_sums[i, TOTAL] = found[j, TOP], found[j, TOTAL]
            total = found[j, TOTAL]
            scale = (base[i] if base.size > 1 else base[0]) / total
            side, weight, pull = signs[i], weights[i], pulls[i]
            line = raised[j * outputs : (j + 1) * outputs]
            for k in range(side.size):  # p = line/total, and the scale makes units of it
                part = line[k] * scale
                other = (total - line[k]) * scale
                curve = line[k] * other / total
                gap = other if side[k] > 0 else part
                held = most * curve
                curved = np.int64(curve + 0.5)
                whole = np.int64((held if held < gap else gap) + 0.5)  # as above
                weight_sum += curved - weight[k]
                pull_sum += whole - abs(pull[k])
                weight[k] = curved
                pull[k] = whole * side[k]
    return weight_sum, pull_sum
