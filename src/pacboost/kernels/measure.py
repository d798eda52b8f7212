"""The sums that the loop measures in a round: weights, pulls and mistakes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.runtime import Cells, Floats, Signs, Wholes
from pacboost.kernels.runtime.board import own_share, share_of_spans
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import inline, on_stack, team_kernel
from pacboost.kernels.tiles import PARTS, ROWS_PER_TILE, add_tile, sum_of_parts


@team_kernel(allocates=False)
def stump_agreement(
    member: Member, codes: Cells, cut: int, above: int, missing: int, if_missing: int, signs: Signs,
    agree: Signs,
) -> None:  # fmt: skip
    """Write +1 for rows whose sign is the answer of a stump, and -1 for others."""
    a, b = own_share(codes.size, member)
    share_codes, share_signs, out = codes[a:b], signs[a:b], agree[a:b]
    for i in range(share_codes.size):
        answer = above if share_codes[i] > cut else -above
        out[i] = share_signs[i] * (if_missing if share_codes[i] == missing else answer)


@team_kernel(allocates=False)
def masses(
    member: Member, weights: Wholes, agree: Signs, size: int, sums: Wholes, squares: Floats
) -> None:
    """Sum weights, weights of wrong rows, and squared weights of each span of ``size`` rows."""
    first, last = share_of_spans(weights.size, size, member)
    for span in range(first // size, (last + size - 1) // size):
        span_weights = weights[span * size : (span + 1) * size]
        right = agree[span * size : (span + 1) * size]
        total = np.int64(0)
        wrong = np.int64(0)
        for i in range(span_weights.size):
            total += span_weights[i]
            wrong += span_weights[i] if right[i] < 0 else 0
        a = b = c = d = 0.0  # four sums, so that no addition waits for the one before
        fours = span_weights.size // 4 * 4
        for i in range(0, fours, 4):
            a += float(span_weights[i]) * float(span_weights[i])
            b += float(span_weights[i + 1]) * float(span_weights[i + 1])
            c += float(span_weights[i + 2]) * float(span_weights[i + 2])
            d += float(span_weights[i + 3]) * float(span_weights[i + 3])
        for i in range(fours, span_weights.size):
            a += float(span_weights[i]) * float(span_weights[i])
        sums[span, 0] = total
        sums[span, 1] = wrong
        squares[span] = (a + b) + (c + d)


@team_kernel(allocates=False)
def mistakes(member: Member, margins: Floats, first_weights: Wholes, totals: Wholes) -> None:
    """Sum the first weights (one for all, or one each) of rows that are wrong or tied."""
    first, last = own_share(margins.size, member)
    share_margins, weights = margins[first:last], first_weights[first:last]
    count = np.int64(0)
    if first_weights.size == 1:
        for i in range(share_margins.size):  # loops from 0 are vectorized
            count += 1 if share_margins[i] <= 0 else 0
        count *= first_weights[0]
    else:
        for i in range(share_margins.size):
            count += weights[i] if share_margins[i] <= 0 else 0
    totals[member.number, 0] = count


@inline
def own_and_best_other(margin: Floats, side: Signs) -> tuple[float, float]:
    """Return the score of a row's class, and the largest of the others."""
    own_margin = best_other = -np.inf
    for k in range(margin.size):
        if side[k] > 0:
            own_margin = margin[k]
        else:
            best_other = max(best_other, -margin[k])
    return own_margin, best_other


@team_kernel()
def wrong_classes(
    member: Member, margins: Floats, signs: Signs, first_weights: Wholes, totals: Wholes
) -> None:
    """Sum the first weights of rows whose class does not score above every other."""
    first, last = own_share(margins.shape[0], member)
    count = np.int64(0)
    for i in range(first, last):
        own_margin, best_other = own_and_best_other(margins[i], signs[i])
        if not own_margin > best_other:
            count += first_weights[i] if first_weights.size > 1 else first_weights[0]
    totals[member.number, 0] = count


@team_kernel()
def cell_sums(
    member: Member, cells: Cells, weights: Wholes, pulls: NDArray[np.integer], times_weight: bool,
    size: int, sums: Wholes, squares: Floats,
) -> None:  # fmt: skip
    """Sum pulls and weights (rows, outputs) in every cell.

    ``sums`` is (members, 2, cells, outputs). Also write, for each span of ``size`` rows, the sum of
    the squares of the pulls.
    """
    a, b = share_of_spans(cells.size, size, member)
    member_sums, tile, parts = sums[member.number], np.zeros(ROWS_PER_TILE), np.zeros(PARTS)
    for span in range(a // size, (b + size - 1) // size):
        count = 0
        for i in range(span * size, min((span + 1) * size, cells.size)):
            cell = cells[i]
            for k in range(weights.shape[1]):
                weight = weights[i, k]
                pull = np.int64(pulls[i, k])
                if times_weight:
                    pull *= weight
                member_sums[0, cell, k] += pull
                member_sums[1, cell, k] += weight
                tile[count] = float(pull) * float(pull)
                count += 1
                if count == ROWS_PER_TILE:
                    add_tile(tile, count, parts)
                    count = 0
        add_tile(tile, count, parts)
        squares[span] = sum_of_parts(parts)


@team_kernel(allocates=False)
def cell_sums_of_one(
    member: Member, cells: Cells, weights: Wholes, pulls: NDArray[np.integer], times_weight: bool,
    size: int, sums: Wholes, squares: Floats,
) -> None:  # fmt: skip
    """Sum as ``cell_sums`` does for a single output; arrays have no axis of outputs.

    This is the common case, and only half as much code has to be compiled for it.
    """
    a, b = share_of_spans(cells.size, size, member)
    pull_sums, weight_sums = sums[member.number, 0], sums[member.number, 1]
    tile_squares, parts = on_stack((ROWS_PER_TILE,), np.float64), on_stack((PARTS,), np.float64)
    for i in range(PARTS):
        parts[i] = 0.0
    for span in range(a // size, (b + size - 1) // size):
        last = min((span + 1) * size, cells.size)
        for tile in range(span * size, last, ROWS_PER_TILE):
            tile_cells = cells[tile : min(tile + ROWS_PER_TILE, last)]
            tile_weights = weights[tile : tile + tile_cells.size]
            tile_pulls = pulls[tile : tile + tile_cells.size]
            for i in range(tile_cells.size):
                signed = np.int64(tile_pulls[i])
                if times_weight:
                    signed *= tile_weights[i]
                pull_sums[tile_cells[i]] += signed
                weight_sums[tile_cells[i]] += tile_weights[i]
                tile_squares[i] = float(signed) * float(signed)
            add_tile(tile_squares, tile_cells.size, parts)
        squares[span] = sum_of_parts(parts)


@team_kernel()
def class_sums(
    member: Member, chosen: NDArray[np.intp], cells: Cells, weights: Wholes, pulls: Wholes,
    sums: Wholes,
) -> None:  # fmt: skip
    """Sum as ``cell_sums`` does, for the chosen rows and pulls as integers, without squares."""
    first, last = own_share(chosen.size, member)
    member_sums = sums[member.number]
    for j in range(first, last):
        i = chosen[j]
        pull_sums, weight_sums = member_sums[0, cells[i]], member_sums[1, cells[i]]
        pull, weight = pulls[i], weights[i]
        for k in range(pull.size):
            pull_sums[k] += pull[k]
            weight_sums[k] += weight[k]
