"""Sums of floats, tile by tile, in one order that a GPU can follow, too."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.exp_of_rows import ROWS_PER_TILE
from pacboost.kernels.jit import part_of_kernels

PARTS = 64
"""What is summed in floats over a span is summed in so many parts."""


@part_of_kernels
def fold_sums(tile: NDArray[np.float64]) -> None:
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
def fold_products(tile: NDArray[np.float64]) -> None:
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
def sum_of_parts(parts: NDArray[np.float64]) -> float:
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
def add_tile(tile: NDArray[np.float64], held: int, parts: NDArray[np.float64]) -> None:
    """Fold the first numbers of a tile, and add them to the parts of a sum."""
    for i in range(held, ROWS_PER_TILE):
        tile[i] = 0.0
    fold_sums(tile)
    for i in range(PARTS):
        parts[i] += tile[i]
