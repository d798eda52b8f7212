"""Compute new weights of the rows after a round of AdaBoost or LogitBoost."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.runtime import Cells, Floats, Signs, Wholes
from pacboost.kernels.runtime.board import own_share
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import kernel, on_stack, team_kernel
from pacboost.kernels.same_bits import whole_exp
from pacboost.kernels.tiles import ROWS_PER_TILE, TOP, TOTAL, raise_margins, raise_rows


@team_kernel(allocates=False)
def exponential(
    member: Member, agree: Signs, vote: float, total_vote: float, log_base: Floats,
    log_scale: float, margins: Floats, weights: Wholes, totals: Wholes,
) -> None:  # fmt: skip
    """Add the vote to the margins, set the new weights, and write their sum to ``totals``.

    ``weight = max(1, round(exp(V - margin + b + s)))``, where ``V`` is the sum of all votes so far:
    a row that the newest rule got right keeps its weight unless the scale ``s`` changed. Weights
    are at least one unit, so that every row counts and an error of 0 means no mistake. ``b`` is the
    logarithm of the row's base weight, one for each row or one for all.
    """
    a, b = own_share(weights.size, member)
    agree, margins, weights = agree[a:b], margins[a:b], weights[a:b]
    total = np.int64(0)
    if log_base.size == 1:  # one loop for both cases is not vectorized, and takes twice as long
        shift = log_base[0] + log_scale
        for i in range(agree.size):
            margin = margins[i] + vote * agree[i]
            margins[i] = margin
            weight = whole_exp(total_vote - margin + shift)
            weights[i] = weight
            total += weight
    else:
        base = log_base[a:b]
        for i in range(agree.size):
            margin = margins[i] + vote * agree[i]
            margins[i] = margin
            weight = whole_exp(total_vote - margin + (base[i] + log_scale))
            weights[i] = weight
            total += weight
    totals[member.number, 0] = total


@team_kernel()
def exponential_cells(
    member: Member, cells: Cells, values: Floats, signs: Signs, log_base: Floats, log_scale: float,
    margins: Floats, weights: Wholes, totals: Wholes,
) -> None:  # fmt: skip
    """Add the values of cells to the margins (rows, outputs), set new weights, write their sum."""
    a, b = own_share(cells.size, member)
    cells = cells[a:b]
    total = np.int64(0)
    outputs = signs.shape[1]
    rows = max(1, ROWS_PER_TILE // outputs)
    added = np.empty(rows * outputs)
    flat_signs, flat_margins = signs[a:b].ravel(), margins[a:b].ravel()
    flat_weights = weights[a:b].ravel()
    for tile in range(0, cells.size, rows):
        tile_cells = cells[tile : tile + rows]
        for i in range(tile_cells.size):
            for k in range(outputs):
                added[i * outputs + k] = values[tile_cells[i], k]
        first, last = tile * outputs, (tile + tile_cells.size) * outputs
        side = flat_signs[first:last]
        margin = flat_margins[first:last]
        weight = flat_weights[first:last]
        for i in range(margin.size):
            margin[i] += added[i] * side[i]
        if log_base.size == 1:
            for i in range(margin.size):
                weight[i] = whole_exp(log_scale - margin[i] + log_base[0])
        else:
            base = log_base[a * outputs + first : a * outputs + last]
            for i in range(margin.size):
                weight[i] = whole_exp(log_scale - margin[i] + base[i])
        for i in range(margin.size):
            total += weight[i]
    totals[member.number, 0] = total


@kernel
def clipped(margins: Floats, log_base: Floats, weights: Wholes) -> np.int64:
    """Set weights to base·min(1, exp(-margin)), at least one unit; return their sum."""
    total = np.int64(0)
    for i in range(margins.size):
        base = log_base[i] if log_base.size > 1 else log_base[0]
        weight = whole_exp(base - max(margins[i], 0.0))
        weights[i] = weight
        total += weight
    return total


@team_kernel(allocates=False)
def logistic(
    member: Member, cells: Cells, values: Floats, signs: Signs, base: Floats, max_target: float,
    margins: Floats, weights: Wholes, pulls: Wholes, totals: Wholes,
) -> None:  # fmt: skip
    """Add each cell's value, then set weights q(1 - q) and pulls ±q for q = 1/(1 + exp(2·margin)).

    All arrays are (rows,). Pulls are clipped to ``max_target`` times the weight; both are in units
    of the row's base. ``totals`` gets the sums of weights and of absolute pulls.
    """
    a, b = own_share(cells.size, member)
    cells, signs, margins = cells[a:b], signs[a:b], margins[a:b]
    weights, pulls = weights[a:b], pulls[a:b]
    weight_sum = np.int64(0)
    pull_sum = np.int64(0)
    raised = on_stack((ROWS_PER_TILE,), np.float64)
    added = on_stack((ROWS_PER_TILE,), np.float64)
    for tile in range(0, cells.size, ROWS_PER_TILE):
        tile_cells = cells[tile : tile + ROWS_PER_TILE]
        side = signs[tile : tile + ROWS_PER_TILE]
        margin = margins[tile : tile + ROWS_PER_TILE]
        weight = weights[tile : tile + ROWS_PER_TILE]
        pull = pulls[tile : tile + ROWS_PER_TILE]
        scale = base[a + tile : a + tile + ROWS_PER_TILE]
        for i in range(tile_cells.size):
            added[i] = values[tile_cells[i]]
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
            limit = max_target * curve
            size = np.int64((limit if limit < q else q) + 0.5)  # 0 · inf is nan: take q
            curved = np.int64(curve + 0.5)
            weight[i] = curved
            pull[i] = size * side[i]
            weight_sum += curved
            pull_sum += size
    totals[member.number, 0], totals[member.number, 1] = weight_sum, pull_sum


@team_kernel()
def softmax(
    member: Member, chosen: NDArray[np.intp], cells: Cells, values: Floats, signs: Signs,
    base: Floats, max_target: float, margins: Floats, weights: Wholes, pulls: Wholes,
    raised_sums: Floats, totals: Wholes,
) -> None:  # fmt: skip
    """Add each cell's values, then set weights p(1 - p) and pulls y* - p, with p = softmax(F).

    Only the chosen rows are updated. ``totals`` gets the increase of the sums of weights and of
    absolute pulls, ``raised_sums`` (rows, 2) the results of ``raise_rows``.
    """
    a, b = own_share(chosen.size, member)
    chosen = chosen[a:b]
    weight_sum = np.int64(0)
    pull_sum = np.int64(0)
    outputs = signs.shape[1]
    rows = max(1, ROWS_PER_TILE // outputs)
    raised, tops_and_totals = np.empty(rows * outputs), np.empty((rows, 2))
    for first in range(0, chosen.size, rows):
        tile = chosen[first : first + rows]
        for j in range(tile.size):
            added, side, margin = values[cells[tile[j]]], signs[tile[j]], margins[tile[j]]
            line = raised[j * outputs : (j + 1) * outputs]
            for k in range(line.size):
                moved = margin[k] + added[k] * side[k]
                margin[k] = moved
                line[k] = moved * side[k]
        raise_rows(raised[: tile.size * outputs], tops_and_totals[: tile.size])
        for j in range(tile.size):
            i = tile[j]
            top, total = tops_and_totals[j, TOP], tops_and_totals[j, TOTAL]
            raised_sums[i, TOP], raised_sums[i, TOTAL] = top, total
            scale = (base[i] if base.size > 1 else base[0]) / total
            side, weight, pull = signs[i], weights[i], pulls[i]
            line = raised[j * outputs : (j + 1) * outputs]
            for k in range(side.size):  # p = line/total; the scale turns it into units
                part = line[k] * scale
                other = (total - line[k]) * scale
                curve = line[k] * other / total
                gap = other if side[k] > 0 else part
                limit = max_target * curve
                curved = np.int64(curve + 0.5)
                size = np.int64((limit if limit < gap else gap) + 0.5)  # as above
                weight_sum += curved - weight[k]
                pull_sum += size - abs(pull[k])
                weight[k] = curved
                pull[k] = size * side[k]
    totals[member.number, 0], totals[member.number, 1] = weight_sum, pull_sum
