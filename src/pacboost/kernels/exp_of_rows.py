"""Exponentials of the scores of many rows, in loops that run on vectors."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.exp_log import whole_exp
from pacboost.kernels.runtime.jit import part_of_kernels

ROWS_PER_TILE = 1_024
UNIT = 2.0**-53
LOG_UNITS = 53 * math.log(2)
TOP, TOTAL = 0, 1
"""Columns of what ``raise_rows`` finds of a row: its largest score, and the sum of its numbers."""


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
