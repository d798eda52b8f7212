"""What rows cost by their margins; ``class_rows`` may read sums of exponentials."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.exp_log import natural_exp, natural_log
from pacboost.kernels.exp_of_rows import ROWS_PER_TILE, TOP, TOTAL, raise_margins, raise_rows
from pacboost.kernels.inline import on_stack
from pacboost.kernels.jit import kernel
from pacboost.kernels.tile_sums import PARTS, fold_products, fold_sums, sum_of_parts

LOGISTIC, CLIPPED, SQUARE, ABSOLUTE = range(4)


@kernel
def class_rows(
    chosen: NDArray[np.intp],
    margins: NDArray[np.float64],
    signs: NDArray[np.int8],
    pulls: NDArray[np.int64],
    raised_sums: NDArray[np.float64],
    costs: NDArray[np.float64],
    wrong: NDArray[np.bool_],
    squares: NDArray[np.float64],
) -> None:
    """Write what the chosen rows cost, -ln p(y|x) with p = softmax(F).

    Also write whether their own class does not score above every other, and Σ pull².
    ``raised_sums`` (rows, 2) has the sums of exponentials where these margins were raised before;
    with a shape of (0, 2) they are raised here, which takes most of the time.
    """
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


@kernel
def log_costs(margins: NDArray[np.float64], size: int, sums: NDArray[np.float64]) -> None:
    """Do what ``potential`` does for LOGISTIC, one output and equal rows.

    Two classes are the common case, so it has a kernel of its own, with one logarithm for sixteen
    rows of a tile: of their product.
    """
    raised = on_stack((ROWS_PER_TILE,), np.float64)
    lows = on_stack((ROWS_PER_TILE,), np.float64)
    parts = on_stack((PARTS,), np.float64)
    for i in range(PARTS):
        parts[i] = 0.0
    for span in range(sums.size):
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


@kernel
def potential(
    kind: int,
    margins: NDArray[np.float64],
    base: NDArray[np.float64],
    size: int,
    sums: NDArray[np.float64],
) -> None:
    """Add up, for each span of ``size`` rows, what their margins (rows, outputs) cost.

    LOGISTIC: ln(1 + exp(-2·margin)). CLIPPED: exp(-margin), or 1 - margin where that is negative.
    SQUARE and ABSOLUTE: of residuals in the place of margins. Rows count by their base weight, one
    each or one for all.
    """
    outputs = margins.shape[1]
    for span in range(sums.size):
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
