"""What the loop measures of a round itself: weights, pulls and mistakes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.runtime import Cells, Floats, Signs, Wholes
from pacboost.kernels.runtime.board import own_share, share_of_spans
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import on_stack, team_kernel
from pacboost.kernels.same_bits import ROWS_PER_TILE
from pacboost.kernels.tile_sums import PARTS, add_tile, sum_of_parts


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
