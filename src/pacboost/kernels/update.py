"""Weigh the rows anew after a round of a booster whose potential is exponential."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.inline import on_stack
from pacboost.kernels.jit import kernel, part_of_kernels

LOG2_E = math.log2(math.e)
LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")  # ln 2 to 32 bits, so that k·LN2_HIGH is exact
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")  # what is missing to ln 2
POINT = 55  # bits behind the point when the polynomial is turned into a whole number
SCALE = 2.0**POINT
MOST = 54 * math.log(2)


@kernel
def whole_exp(x: float) -> np.int64:
    """Give max(1, round(exp(x))), and no more than 2**54.

    Computed here, as 2^k times a polynomial: additions and multiplications give the same bits on
    every machine, and without a call the loops below run on vectors (measured: 4 ns a row against
    14 with the library's exp).
    """
    x = x if x > -1.0 else -1.0  # less rounds to 0 and is raised to 1 anyway
    x = x if x < MOST else MOST
    k = np.floor(x * LOG2_E + 0.5)
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    p = 1.0 / 6227020800.0  # Taylor's series up to r^13/13!; |r| ≤ ln(2)/2, so it errs by 4e-18
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    shift = np.int64(POINT) - np.int64(k)
    rounded = (np.int64(p * SCALE) + (np.int64(1) << (shift - np.int64(1)))) >> shift
    return rounded if rounded > 1 else np.int64(1)


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


ROWS_PER_TILE = 1_024


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


UNIT = 2.0**-53
LOG_UNITS = 53 * math.log(2)


@part_of_kernels
def raise_all(numbers: NDArray[np.float64]) -> None:
    """Write exp(x - LOG_UNITS) over every x.

    Each step of the polynomial waits for the one before, so four numbers, a quarter of the array
    apart, are raised at once (measured: 8 ns a number instead of 12).
    """
    size = numbers.size // 4
    a, b, c = numbers[:size], numbers[size : 2 * size], numbers[2 * size : 3 * size]
    d = numbers[3 * size : 4 * size]
    for i in range(size):
        e, f, g, h = whole_exp(a[i]), whole_exp(b[i]), whole_exp(c[i]), whole_exp(d[i])
        a[i], b[i], c[i], d[i] = e * UNIT, f * UNIT, g * UNIT, h * UNIT
    for i in range(4 * size, numbers.size):
        numbers[i] = whole_exp(numbers[i]) * UNIT


@part_of_kernels
def raise_margins(margins: NDArray[np.float64], raised: NDArray[np.float64]) -> None:
    """Write exp(-2|margin|)."""
    for i in range(margins.size):
        raised[i] = LOG_UNITS - 2.0 * abs(margins[i])
    raise_all(raised[: margins.size])


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


TOP, TOTAL = 0, 1
"""Columns of what ``raise_rows`` finds of a row: its largest score, and the sum of its numbers."""


@part_of_kernels
def raise_rows(scores: NDArray[np.float64], found: NDArray[np.float64]) -> None:
    """Write exp(F - max F) over the scores F of some rows, which lie one after the other.

    Also find the largest score of each row, and the sum of what was raised. One long loop raises
    all rows, since short ones hardly run on vectors.
    """
    outputs = scores.size // found.shape[0]
    for j in range(found.shape[0]):
        line = scores[j * outputs : (j + 1) * outputs]
        top = line[0]
        for k in range(line.size):
            top = line[k] if line[k] > top else top
        found[j, TOP] = top
        for k in range(line.size):
            line[k] = LOG_UNITS + (line[k] - top)
    raise_all(scores)
    for j in range(found.shape[0]):
        line = scores[j * outputs : (j + 1) * outputs]
        total = 0.0
        for k in range(line.size):
            total += line[k]
        found[j, TOTAL] = total


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
