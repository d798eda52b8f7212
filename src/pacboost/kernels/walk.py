"""Walk rows down trees, on codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.jit import kernel, part_of_kernels

ROWS_PER_TILE = 512  # their codes and the nodes of a tree stay in the first cache

# columns of ``nodes``, one line for each split
FEATURE, CUT, MISSING_LEFT, LEFT, RIGHT, MEMBER = range(6)


@part_of_kernels
def leaf_of(
    codes: NDArray[np.unsignedinteger],
    row: int,
    nodes: NDArray[np.int32],
    members: NDArray[np.uint8],
    first: int,
    missing: int,
) -> np.int64:
    """Give the leaf of a row in the tree whose splits begin at ``first``."""
    at = np.int64(0)
    while at >= 0:
        node = nodes[first + at]
        code = codes[node[FEATURE], row]
        if node[MEMBER] >= 0:
            left = members[node[MEMBER], code] != 0
        elif code == missing:
            left = node[MISSING_LEFT] != 0
        else:
            left = code <= node[CUT]
        at = np.int64(node[LEFT] if left else node[RIGHT])
    return ~at


@kernel
def leaves(
    codes: NDArray[np.unsignedinteger],
    nodes: NDArray[np.int32],
    members: NDArray[np.uint8],
    missing: int,
    start: int,
    out: NDArray[np.unsignedinteger],
) -> None:
    """Write the leaf of every row of one tree, from row ``start`` on."""
    for i in range(out.size):
        out[i] = leaf_of(codes, start + i, nodes, members, 0, missing)


@kernel
def score(
    codes: NDArray[np.unsignedinteger],
    nodes: NDArray[np.int32],
    members: NDArray[np.uint8],
    missing: int,
    trees: NDArray[np.int64],
    values: NDArray[np.float64],
    start: int,
    scores: NDArray[np.float64],
) -> None:
    """Add what every tree says to the scores (rows, outputs), from row ``start`` on.

    A line of ``trees`` holds the first split of a tree, how many there are, and its first value.
    """
    for tile in range(0, scores.shape[0], ROWS_PER_TILE):
        own = scores[tile : tile + ROWS_PER_TILE]
        for t in range(trees.shape[0]):
            first, splits, base = trees[t, 0], trees[t, 1], trees[t, 2]
            for i in range(own.shape[0]):
                leaf = np.int64(0)
                if splits > 0:
                    leaf = leaf_of(codes, start + tile + i, nodes, members, first, missing)
                for k in range(own.shape[1]):
                    own[i, k] += values[base + leaf, k]
