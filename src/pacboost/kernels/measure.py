"""What the loop measures of a round itself: weights, pulls and mistakes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.exp_of_rows import ROWS_PER_TILE
from pacboost.kernels.inline import on_stack
from pacboost.kernels.jit import kernel
from pacboost.kernels.tile_sums import PARTS, add_tile, sum_of_parts


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


@kernel
def wrong_classes(
    margins: NDArray[np.float64], signs: NDArray[np.int8], first_weights: NDArray[np.int64]
) -> np.int64:
    """Sum the first weights of rows whose own class does not score above every other."""
    count = np.int64(0)
    for i in range(margins.shape[0]):
        own = -np.inf
        other = -np.inf
        for k in range(margins.shape[1]):
            if signs[i, k] > 0:
                own = margins[i, k]
            else:
                other = max(other, -margins[i, k])
        if not own > other:
            count += first_weights[i] if first_weights.size > 1 else first_weights[0]
    return count


@kernel
def cell_sums(
    cells: NDArray[np.unsignedinteger],
    weights: NDArray[np.int64],
    pulls: NDArray[np.integer],
    times_weight: bool,
    size: int,
    sums: NDArray[np.int64],
    squares: NDArray[np.float64],
) -> None:
    """Add up pulls and weights (rows, outputs) in every cell: ``sums`` is (2, cells, outputs).

    Also give, for each span of ``size`` rows, the sum of the squares of the pulls.
    """
    tile, parts = np.zeros(ROWS_PER_TILE), np.zeros(PARTS)
    for span in range(squares.size):
        held = 0
        for i in range(span * size, min((span + 1) * size, cells.size)):
            cell = cells[i]
            for k in range(weights.shape[1]):
                weight = weights[i, k]
                pull = np.int64(pulls[i, k])
                if times_weight:
                    pull *= weight
                sums[0, cell, k] += pull
                sums[1, cell, k] += weight
                tile[held] = float(pull) * float(pull)
                held += 1
                if held == ROWS_PER_TILE:
                    add_tile(tile, held, parts)
                    held = 0
        add_tile(tile, held, parts)
        squares[span] = sum_of_parts(parts)


@kernel
def cell_sums_of_one(
    cells: NDArray[np.unsignedinteger],
    weights: NDArray[np.int64],
    pulls: NDArray[np.integer],
    times_weight: bool,
    size: int,
    sums: NDArray[np.int64],
    squares: NDArray[np.float64],
) -> None:
    """Do what ``cell_sums`` does where there is one output: arrays are (rows,) and (2, cells).

    It is the common case, and half of the other's code does not have to be compiled for it.
    """
    pull_sums, weight_sums = sums[0], sums[1]
    held, parts = on_stack((ROWS_PER_TILE,), np.float64), on_stack((PARTS,), np.float64)
    for i in range(PARTS):
        parts[i] = 0.0
    for span in range(squares.size):
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


@kernel
def class_sums(
    chosen: NDArray[np.intp],
    cells: NDArray[np.unsignedinteger],
    weights: NDArray[np.int64],
    pulls: NDArray[np.int64],
    sums: NDArray[np.int64],
) -> None:
    """Do what ``cell_sums`` does, for the chosen rows and pulls of their own, without squares."""
    for j in range(chosen.size):
        i = chosen[j]
        pull_sums, weight_sums = sums[0, cells[i]], sums[1, cells[i]]
        pull, weight = pulls[i], weights[i]
        for k in range(pull.size):
            pull_sums[k] += pull[k]
            weight_sums[k] += weight[k]
