"""The costs of rows by their margins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels import tiles
from pacboost.kernels.measure import own_and_best_other
from pacboost.kernels.runtime import Floats, Signs, Wholes
from pacboost.kernels.runtime.board import own_share, share_of_spans
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import on_stack, team_kernel
from pacboost.kernels.same_bits import natural_exp, natural_log
from pacboost.kernels.tiles import ROWS_PER_TILE

LOGISTIC, CLIPPED, SQUARE, ABSOLUTE = range(4)


@team_kernel()
def class_rows(
    member: Member, chosen: NDArray[np.intp], margins: Floats, signs: Signs, pulls: Wholes,
    raised_sums: Floats, costs: Floats, wrong: NDArray[np.bool_], squares: Floats,
) -> None:  # fmt: skip
    """Write the costs of the chosen rows, -ln p(y|x) with p = softmax(F).

    Also write whether their class does not score above every other, and Σ pull². ``raised_sums``
    (rows, 2) has the sums of exponentials if they were computed before; with a shape of (0, 2) they
    are computed here, which takes most of the time.
    """
    a, b = own_share(chosen.size, member)
    chosen = chosen[a:b]
    outputs = margins.shape[1]
    rows = max(1, ROWS_PER_TILE // outputs)
    raised, tile_sums = np.empty(rows * outputs), np.empty((rows, 2))
    for first in range(0, chosen.size, rows):
        tile = chosen[first : first + rows]
        if raised_sums.shape[0] == 0:
            for j in range(tile.size):
                margin, side = margins[tile[j]], signs[tile[j]]
                for k in range(outputs):
                    raised[j * outputs + k] = margin[k] * side[k]
            tiles.raise_rows(raised[: tile.size * outputs], tile_sums[: tile.size])
        for j in range(tile.size):
            i = tile[j]
            pull, square = pulls[i], 0.0
            own_margin, best_other = own_and_best_other(margins[i], signs[i])
            for k in range(outputs):
                square += float(pull[k]) * float(pull[k])
            sums = raised_sums[i] if raised_sums.shape[0] else tile_sums[j]
            costs[i] = natural_log(sums[tiles.TOTAL]) + (sums[tiles.TOP] - own_margin)
            wrong[i] = not own_margin > best_other
            squares[i] = square


@team_kernel(allocates=False)
def log_costs(member: Member, margins: Floats, size: int, sums: Floats) -> None:
    """Sum as ``potential`` does for LOGISTIC, one output and equal base weights.

    Two classes are the common case, so this separate kernel takes one logarithm for sixteen rows of
    a tile, of their product.
    """
    a, b = share_of_spans(margins.size, size, member)
    raised = on_stack((ROWS_PER_TILE,), np.float64)
    lows = on_stack((ROWS_PER_TILE,), np.float64)
    parts = on_stack((tiles.PARTS,), np.float64)
    for i in range(tiles.PARTS):
        parts[i] = 0.0
    for span in range(a // size, (b + size - 1) // size):
        rows = margins[span * size : (span + 1) * size]
        for tile in range(0, rows.size, ROWS_PER_TILE):
            tile_margins = rows[tile : tile + ROWS_PER_TILE]
            tiles.raise_margins(tile_margins, raised)
            for i in range(tile_margins.size):
                lows[i] = tile_margins[i] if tile_margins[i] < 0 else 0.0
            for i in range(tile_margins.size, ROWS_PER_TILE):
                raised[i] = lows[i] = 0.0
            tiles.fold_products(raised)
            tiles.fold_sums(lows)
            for i in range(tiles.PARTS):
                parts[i] += natural_log(raised[i]) - 2.0 * lows[i]
        sums[span] = tiles.sum_of_parts(parts)


@team_kernel()
def potential(
    member: Member, kind: int, margins: Floats, base: Floats, size: int, sums: Floats
) -> None:
    """Sum the costs of the margins (rows, outputs) of each span of ``size`` rows.

    LOGISTIC: ln(1 + exp(-2·margin)). CLIPPED: exp(-margin), or 1 - margin for a negative margin.
    SQUARE and ABSOLUTE: of residuals, passed as margins. Costs are multiplied by the base weights,
    one for each row or one for all.
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
