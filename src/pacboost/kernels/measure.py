"""What the loop measures of a round itself: weights, pulls and mistakes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.runtime import Cells, Floats, Signs, Wholes
from pacboost.kernels.runtime.board import own_share, share_of_spans
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import on_stack, part_of_kernels, team_kernel
from pacboost.kernels.same_bits import (
    ROWS_PER_TILE,
    TOP,
    TOTAL,
    natural_exp,
    natural_log,
    raise_margins,
    raise_rows,
)

# Sums of floats, tile by tile, in one order that a GPU can follow, too.

PARTS = 64
"""What is summed in floats over a span is summed in so many parts."""


@part_of_kernels
def fold_sums(tile: Floats) -> None:
    """Add the second half of a tile to its first half, until ``PARTS`` numbers are left.

    A GPU can do so, too: no addition waits for more than a few others.
    """
    for i in range(512):  # loops of known lengths run on vectors
        tile[i] += tile[i + 512]
    for i in range(256):
        tile[i] += tile[i + 256]
    for i in range(128):
        tile[i] += tile[i + 128]
    for i in range(64):
        tile[i] += tile[i + 64]


@part_of_kernels
def fold_products(tile: Floats) -> None:
    """Do what ``fold_sums`` does, with products of all numbers plus 1."""
    for i in range(512):
        tile[i] = (1.0 + tile[i]) * (1.0 + tile[i + 512])
    for i in range(256):
        tile[i] *= tile[i + 256]
    for i in range(128):
        tile[i] *= tile[i + 128]
    for i in range(64):
        tile[i] *= tile[i + 64]


@part_of_kernels
def sum_of_parts(parts: Floats) -> float:
    """Add the second half of the parts to the first half until one number is left; clear them."""
    width = PARTS // 2
    while width > 0:
        for i in range(width):
            parts[i] += parts[i + width]
        width //= 2
    total = float(parts[0])
    for i in range(PARTS):
        parts[i] = 0.0
    return total


@part_of_kernels
def add_tile(tile: Floats, held: int, parts: Floats) -> None:
    """Fold the first numbers of a tile, and add them to the parts of a sum."""
    for i in range(held, ROWS_PER_TILE):
        tile[i] = 0.0
    fold_sums(tile)
    for i in range(PARTS):
        parts[i] += tile[i]


@team_kernel(allocates=False)
def stump_agreement(
    member: Member,
    codes: Cells,
    cut: int,
    above: int,
    missing: int,
    if_missing: int,
    signs: Signs,
    agree: Signs,
) -> None:
    """Write +1 where a stump's answer is the sign of the row, and -1 where it is not."""
    a, b = own_share(codes.size, member)
    own, side, out = codes[a:b], signs[a:b], agree[a:b]
    for i in range(own.size):
        answer = above if own[i] > cut else -above
        out[i] = side[i] * (if_missing if own[i] == missing else answer)


@team_kernel(allocates=False)
def masses(
    member: Member, weights: Wholes, agree: Signs, size: int, sums: Wholes, squares: Floats
) -> None:
    """For each span of ``size`` rows: the weight, the weight of wrong rows, the sum of squares."""
    first, last = share_of_spans(weights.size, size, member)
    for span in range(first // size, (last + size - 1) // size):
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


@team_kernel(allocates=False)
def mistakes(member: Member, margins: Floats, first_weights: Wholes, totals: Wholes) -> None:
    """Sum the first weights (one, or one each) of rows that the vote gets wrong or ties on."""
    first, last = own_share(margins.size, member)
    own, weights = margins[first:last], first_weights[first:last]  # from 0 on, loops run on vectors
    count = np.int64(0)
    if first_weights.size == 1:
        for i in range(own.size):
            count += 1 if own[i] <= 0 else 0
        count *= first_weights[0]
    else:
        for i in range(own.size):
            count += weights[i] if own[i] <= 0 else 0
    totals[member.number, 0] = count


@team_kernel()
def wrong_classes(
    member: Member, margins: Floats, signs: Signs, first_weights: Wholes, totals: Wholes
) -> None:
    """Sum the first weights of rows whose own class does not score above every other."""
    first, last = own_share(margins.shape[0], member)
    count = np.int64(0)
    for i in range(first, last):
        own = -np.inf
        other = -np.inf
        for k in range(margins.shape[1]):
            if signs[i, k] > 0:
                own = margins[i, k]
            else:
                other = max(other, -margins[i, k])
        if not own > other:
            count += first_weights[i] if first_weights.size > 1 else first_weights[0]
    totals[member.number, 0] = count


@team_kernel()
def cell_sums(
    member: Member,
    cells: Cells,
    weights: Wholes,
    pulls: NDArray[np.integer],
    times_weight: bool,
    size: int,
    sums: Wholes,
    squares: Floats,
) -> None:
    """Add up pulls and weights (rows, outputs) in every cell.

    ``sums`` is (members, 2, cells, outputs). Also write, for each span of ``size`` rows, the sum of
    the squares of the pulls.
    """
    a, b = share_of_spans(cells.size, size, member)
    own, tile, parts = sums[member.number], np.zeros(ROWS_PER_TILE), np.zeros(PARTS)
    for span in range(a // size, (b + size - 1) // size):
        held = 0
        for i in range(span * size, min((span + 1) * size, cells.size)):
            cell = cells[i]
            for k in range(weights.shape[1]):
                weight = weights[i, k]
                pull = np.int64(pulls[i, k])
                if times_weight:
                    pull *= weight
                own[0, cell, k] += pull
                own[1, cell, k] += weight
                tile[held] = float(pull) * float(pull)
                held += 1
                if held == ROWS_PER_TILE:
                    add_tile(tile, held, parts)
                    held = 0
        add_tile(tile, held, parts)
        squares[span] = sum_of_parts(parts)


@team_kernel(allocates=False)
def cell_sums_of_one(
    member: Member,
    cells: Cells,
    weights: Wholes,
    pulls: NDArray[np.integer],
    times_weight: bool,
    size: int,
    sums: Wholes,
    squares: Floats,
) -> None:
    """Do what ``cell_sums`` does where there is one output, an axis that no array has.

    It is the common case, and half of the other's code does not have to be compiled for it.
    """
    a, b = share_of_spans(cells.size, size, member)
    pull_sums, weight_sums = sums[member.number, 0], sums[member.number, 1]
    held, parts = on_stack((ROWS_PER_TILE,), np.float64), on_stack((PARTS,), np.float64)
    for i in range(PARTS):
        parts[i] = 0.0
    for span in range(a // size, (b + size - 1) // size):
        last = min((span + 1) * size, cells.size)
        for tile in range(span * size, last, ROWS_PER_TILE):
            own = cells[tile : min(tile + ROWS_PER_TILE, last)]
            own_weights = weights[tile : tile + own.size]
            own_pulls = pulls[tile : tile + own.size]
            for i in range(own.size):
                signed = np.int64(own_pulls[i])
                if times_weight:
                    signed *= own_weights[i]
                pull_sums[own[i]] += signed
                weight_sums[own[i]] += own_weights[i]
                held[i] = float(signed) * float(signed)
            add_tile(held, own.size, parts)
        squares[span] = sum_of_parts(parts)


@team_kernel()
def class_sums(
    member: Member,
    chosen: NDArray[np.intp],
    cells: Cells,
    weights: Wholes,
    pulls: Wholes,
    sums: Wholes,
) -> None:
    """Do what ``cell_sums`` does, for the chosen rows and pulls of their own, without squares."""
    first, last = own_share(chosen.size, member)
    own = sums[member.number]
    for j in range(first, last):
        i = chosen[j]
        pull_sums, weight_sums = own[0, cells[i]], own[1, cells[i]]
        pull, weight = pulls[i], weights[i]
        for k in range(pull.size):
            pull_sums[k] += pull[k]
            weight_sums[k] += weight[k]


# What rows cost by their margins; ``class_rows`` may read sums of exponentials.

LOGISTIC, CLIPPED, SQUARE, ABSOLUTE = range(4)


@team_kernel()
def class_rows(
    member: Member,
    chosen: NDArray[np.intp],
    margins: Floats,
    signs: Signs,
    pulls: Wholes,
    raised_sums: Floats,
    costs: Floats,
    wrong: NDArray[np.bool_],
    squares: Floats,
) -> None:
    """Write what the chosen rows cost, -ln p(y|x) with p = softmax(F).

    Also write whether their own class does not score above every other, and Σ pull².
    ``raised_sums`` (rows, 2) has the sums of exponentials where these margins were raised before;
    with a shape of (0, 2) they are raised here, which takes most of the time.
    """
    a, b = own_share(chosen.size, member)
    chosen = chosen[a:b]
    outputs = margins.shape[1]
    rows = max(1, ROWS_PER_TILE // outputs)
    raised, found = np.empty(rows * outputs), np.empty((rows, 2))
    for first in range(0, chosen.size, rows):
        tile = chosen[first : first + rows]
        if raised_sums.shape[0] == 0:
            for j in range(tile.size):
                margin, side = margins[tile[j]], signs[tile[j]]
                for k in range(outputs):
                    raised[j * outputs + k] = margin[k] * side[k]
            raise_rows(raised[: tile.size * outputs], found[: tile.size])
        for j in range(tile.size):
            i = tile[j]
            margin, side, pull = margins[i], signs[i], pulls[i]
            own = other = -np.inf
            square = 0.0
            for k in range(outputs):
                if side[k] > 0:
                    own = margin[k]
                else:
                    other = max(other, -margin[k])
                square += float(pull[k]) * float(pull[k])
            sums = raised_sums[i] if raised_sums.shape[0] else found[j]
            costs[i] = natural_log(sums[TOTAL]) + (sums[TOP] - own)
            wrong[i] = not own > other
            squares[i] = square


@team_kernel(allocates=False)
def log_costs(member: Member, margins: Floats, size: int, sums: Floats) -> None:
    """Do what ``potential`` does for LOGISTIC, one output and equal rows.

    Two classes are the common case, so it has a kernel of its own, with one logarithm for sixteen
    rows of a tile: of their product.
    """
    a, b = share_of_spans(margins.size, size, member)
    raised = on_stack((ROWS_PER_TILE,), np.float64)
    lows = on_stack((ROWS_PER_TILE,), np.float64)
    parts = on_stack((PARTS,), np.float64)
    for i in range(PARTS):
        parts[i] = 0.0
    for span in range(a // size, (b + size - 1) // size):
        rows = margins[span * size : (span + 1) * size]
        for tile in range(0, rows.size, ROWS_PER_TILE):
            own = rows[tile : tile + ROWS_PER_TILE]
            raise_margins(own, raised)
            for i in range(own.size):
                lows[i] = own[i] if own[i] < 0 else 0.0
            for i in range(own.size, ROWS_PER_TILE):
                raised[i] = lows[i] = 0.0
            fold_products(raised)
            fold_sums(lows)
            for i in range(PARTS):
                parts[i] += natural_log(raised[i]) - 2.0 * lows[i]
        sums[span] = sum_of_parts(parts)


@team_kernel()
def potential(
    member: Member, kind: int, margins: Floats, base: Floats, size: int, sums: Floats
) -> None:
    """Add up, for each span of ``size`` rows, what their margins (rows, outputs) cost.

    LOGISTIC: ln(1 + exp(-2·margin)). CLIPPED: exp(-margin), or 1 - margin where that is negative.
    SQUARE and ABSOLUTE: of residuals in the place of margins. Rows count by their base weight, one
    each or one for all.
    """
    a, b = share_of_spans(margins.shape[0], size, member)
    outputs = margins.shape[1]
    for span in range(a // size, (b + size - 1) // size):
        total = 0.0
        for i in range(span * size, min((span + 1) * size, margins.shape[0])):
            cost = 0.0
            if kind >= SQUARE:
                for k in range(outputs):
                    z = abs(margins[i, k])
                    cost += z * z if kind == SQUARE else z
            else:
                for k in range(outputs):
                    z = margins[i, k]
                    e = natural_exp(-abs(z) * (2.0 if kind == LOGISTIC else 1.0))
                    if kind == LOGISTIC:
                        cost += natural_log(1.0 + e) - 2.0 * min(z, 0.0)
                    else:
                        cost += e if z >= 0 else 1.0 - z
            total += cost * (base[i] if base.size > 1 else base[0])
        sums[span] = total
