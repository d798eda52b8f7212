"""Exponentials of the scores of rows in vectorized loops, and sums of floats over tiles of rows.

Sums are added in one order that a GPU can follow as well: no addition waits for more than a few
others.
"""

from __future__ import annotations

import math

from pacboost.kernels.runtime import Floats
from pacboost.kernels.runtime.board import own_share
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import part_of_kernels, team_kernel
from pacboost.kernels.same_bits import natural_exp, whole_exp

ROWS_PER_TILE = 1_024
PARTS = 64
"""Floats over a span of rows are summed in this many parts."""
UNIT = 2.0**-53
LOG_UNITS = 53 * math.log(2)
TOP, TOTAL = 0, 1
"""Columns of the results of ``raise_rows``: a row's largest score, and its sum of exponentials."""


@part_of_kernels
def raise_all(numbers: Floats) -> None:
    """Overwrite every x with exp(x - LOG_UNITS).

    Each step of the polynomial waits for the one before, so four numbers, a quarter of the array
    apart, are computed at once (measured: 8 ns for each instead of 12).
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
def raise_margins(margins: Floats, raised: Floats) -> None:
    """Write exp(-2|margin|)."""
    for i in range(margins.size):
        raised[i] = LOG_UNITS - 2.0 * abs(margins[i])
    raise_all(raised[: margins.size])


@part_of_kernels
def raise_rows(scores: Floats, tops_and_totals: Floats) -> None:
    """Overwrite the concatenated scores F of some rows with exp(F - max F).

    Also write the largest score and the sum of exponentials of each row. One long loop covers all
    rows, because short ones are hardly vectorized.
    """
    outputs = scores.size // tops_and_totals.shape[0]
    for j in range(tops_and_totals.shape[0]):
        line = scores[j * outputs : (j + 1) * outputs]
        top = line[0]
        for k in range(line.size):
            top = line[k] if line[k] > top else top
        tops_and_totals[j, TOP] = top
        for k in range(line.size):
            line[k] = LOG_UNITS + (line[k] - top)
    raise_all(scores)
    for j in range(tops_and_totals.shape[0]):
        line = scores[j * outputs : (j + 1) * outputs]
        total = 0.0
        for k in range(line.size):
            total += line[k]
        tops_and_totals[j, TOTAL] = total


@team_kernel(allocates=False)
def raise_scores(member: Member, scores: Floats, sign: float, out: Floats) -> None:
    """Write exp(sign · score)."""
    first, last = own_share(scores.size, member)
    for i in range(first, last):
        out[i] = natural_exp(sign * scores[i])


@part_of_kernels
def fold_sums(tile: Floats) -> None:
    """Add the second half of a tile to its first half, until ``PARTS`` numbers remain."""
    for half in (512, 256, 128, 64):
        for i in range(half):
            tile[i] += tile[i + half]


@part_of_kernels
def fold_products(tile: Floats) -> None:
    """Fold a tile like ``fold_sums``, but multiply 1 plus each number."""
    for i in range(ROWS_PER_TILE):
        tile[i] += 1.0
    for half in (512, 256, 128, 64):
        for i in range(half):
            tile[i] *= tile[i + half]


@part_of_kernels
def sum_of_parts(parts: Floats) -> float:
    """Add the second half of the parts to the first until one number remains; clear the parts."""
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
def add_tile(tile: Floats, size: int, parts: Floats) -> None:
    """Fold the first ``size`` numbers of a tile, and add them to the parts of a sum."""
    for i in range(size, ROWS_PER_TILE):
        tile[i] = 0.0
    fold_sums(tile)
    for i in range(PARTS):
        parts[i] += tile[i]
