"""Score rows from their codes: one table a feature, or one mask of leaves a feature and tree.

Every code of a feature rules out some leaves of a tree. The masks of what each feature leaves are
combined by "and"; one bit remains, the row's leaf (after Lucchese and others, QuickScorer, 2015,
who keep several). No step waits for another, so rows take a few nanoseconds a tree.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.jit import kernel

ROWS_PER_TILE = 512
LEAVES = 32
ALL = np.uint32(0xFFFFFFFF)
SPREAD = np.uint32(0x077CB531)
"""Multiplied by 1 << k, its top five of 32 bits differ for every k (a de Bruijn sequence)."""


@kernel
def by_tables(
    codes: NDArray[np.unsignedinteger],
    features: NDArray[np.int64],
    tables: NDArray[np.float64],
    start: int,
    scores: NDArray[np.float64],
) -> None:
    """Add tables[f, code, k] of the named features to the scores (rows, outputs)."""
    rows, outputs = scores.shape
    for tile in range(0, rows, ROWS_PER_TILE):
        own = scores[tile : tile + ROWS_PER_TILE]
        for f in range(features.size):
            told = codes[features[f]][start + tile : start + tile + own.shape[0]]
            table = tables[f]
            for i in range(own.shape[0]):
                for k in range(outputs):
                    own[i, k] += table[told[i], k]


@kernel
def by_masks(
    codes: NDArray[np.unsignedinteger],
    features: NDArray[np.int64],
    masks: NDArray[np.uint32],
    trees: NDArray[np.int64],
    values: NDArray[np.float64],
    start: int,
    scores: NDArray[np.float64],
) -> None:
    """Add what the leaf of every tree says to the scores (rows, outputs).

    Tree t has the lines trees[t] to trees[t + 1] of ``features`` and ``masks``. Its values
    (32, outputs) are stored where a leaf's bit, multiplied by ``SPREAD``, points to.
    """
    rows, outputs = scores.shape
    left = np.empty(ROWS_PER_TILE, np.uint32)
    for tile in range(0, rows, ROWS_PER_TILE):
        own = scores[tile : tile + ROWS_PER_TILE]
        count = own.shape[0]
        for t in range(trees.size - 1):
            left[:count] = ALL
            for line in range(trees[t], trees[t + 1]):
                told = codes[features[line]][start + tile : start + tile + count]
                mask = masks[line]
                for i in range(count):
                    left[i] &= mask[told[i]]
            said = values[t]
            for i in range(count):
                leaf = ((left[i] * SPREAD) >> np.uint32(27)) & np.uint32(31)
                for k in range(outputs):
                    own[i, k] += said[leaf, k]
