"""Sums of floats over tiles of rows, in one order that a GPU can follow as well."""

from __future__ import annotations

from pacboost.kernels.row_exponentials import ROWS_PER_TILE
from pacboost.kernels.runtime import Floats
from pacboost.kernels.runtime.jit import part_of_kernels

PARTS = 64
"""Floats over a span of rows are summed in this many parts."""


@part_of_kernels
def fold_sums(tile: Floats) -> None:
    """Add the second half of a tile to its first half, until ``PARTS`` numbers remain.

    A GPU can do the same: no addition waits for more than a few others.
    """
    for i in range(512):  # loops of constant length are vectorized
        tile[i] += tile[i + 512]
    for i in range(256):
        tile[i] += tile[i + 256]
    for i in range(128):
        tile[i] += tile[i + 128]
    for i in range(64):
        tile[i] += tile[i + 64]


@part_of_kernels
def fold_products(tile: Floats) -> None:
    """Fold a tile like ``fold_sums``, but multiply 1 plus each number."""
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
