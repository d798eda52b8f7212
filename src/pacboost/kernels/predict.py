"""Score rows from their codes: walk down trees, or combine masks of leaves.

Every code of a feature excludes some leaves of a tree. The masks of the leaves that each feature
allows are combined by "and"; the one remaining bit is the row's leaf (after Lucchese et al.,
QuickScorer, 2015, where several bits remain). No step waits for another, so a row takes a few
nanoseconds for each tree.
"""

from __future__ import annotations

import numpy as np

from pacboost.kernels.layout import CUT, FEATURE, LEFT, MEMBER, MISSING_LEFT, RIGHT
from pacboost.kernels.runtime import Bytes, Cells, Floats, Numbers, Rows, Wholes
from pacboost.kernels.runtime.jit import inline, kernel, on_stack, part_of_kernels, uncounted

ROWS_PER_TILE = 512  # their codes and the nodes of a tree fit into the first-level cache


@inline
def is_left(node: Numbers, members: Bytes, code: int, missing: int) -> bool:
    """Check whether a code goes left at a split."""
    if node[MEMBER] >= 0:
        return bool(members[node[MEMBER], code] != 0)
    return bool(node[MISSING_LEFT] != 0 if code == missing else code <= node[CUT])


@part_of_kernels
def leaf_of(
    codes: Cells, row: int, nodes: Numbers, members: Bytes, first: int, missing: int
) -> np.int64:
    """Return the leaf of a row in the tree whose splits begin at ``first``."""
    at = np.int64(0)
    while at >= 0:
        node = nodes[first + at]
        code = codes[node[FEATURE], row]
        goes_left = is_left(node, members, code, missing)
        at = np.int64(node[LEFT] if goes_left else node[RIGHT])
    return ~at


@uncounted
def score(
    codes: Cells, nodes: Numbers, members: Bytes, missing: int, trees: Wholes, values: Floats,
    start: int, scores: Floats,
) -> None:  # fmt: skip
    """Add the values of every tree to the scores (rows, outputs), from row ``start`` on.

    A line of ``trees`` holds the first split of a tree, the number of its splits, and its first
    value.
    """
    for tile in range(0, scores.shape[0], ROWS_PER_TILE):
        tile_scores = scores[tile : tile + ROWS_PER_TILE]
        for t in range(trees.shape[0]):
            first, splits, base = trees[t, 0], trees[t, 1], trees[t, 2]
            for i in range(tile_scores.shape[0]):
                leaf = np.int64(0)
                if splits > 0:
                    leaf = leaf_of(codes, start + tile + i, nodes, members, first, missing)
                for k in range(tile_scores.shape[1]):
                    tile_scores[i, k] += values[base + leaf, k]


LEAVES_PER_MASK = 32
ALL_LEAVES = np.uint32(0xFFFFFFFF)
SPREAD = np.uint32(0x077CB531)
"""Multiplied by 1 << k, its top five of 32 bits are different for every k (de Bruijn)."""


@kernel
def by_tables(codes: Cells, features: Wholes, tables: Floats, start: int, scores: Floats) -> None:
    """Add tables[f, code, k] of some features to the scores (rows, outputs)."""
    rows, outputs = scores.shape
    for tile in range(0, rows, ROWS_PER_TILE):
        tile_scores = scores[tile : tile + ROWS_PER_TILE]
        for f in range(features.size):
            tile_codes = codes[features[f]][start + tile : start + tile + tile_scores.shape[0]]
            table = tables[f]
            for i in range(tile_scores.shape[0]):
                for k in range(outputs):
                    tile_scores[i, k] += table[tile_codes[i], k]


@kernel
def by_masks(
    codes: Cells, features: Wholes, masks: Rows, trees: Wholes, values: Floats, start: int,
    scores: Floats,
) -> None:  # fmt: skip
    """Add the value of the leaf in every tree to the scores (rows, outputs).

    Tree t has the lines trees[t] to trees[t + 1] of ``features`` and ``masks``. Its values
    (32, outputs) are stored where a leaf's bit, multiplied by ``SPREAD``, points to.
    """
    rows, outputs = scores.shape
    leaves_of_rows = on_stack((ROWS_PER_TILE,), np.uint32)
    for tile in range(0, rows, ROWS_PER_TILE):
        tile_scores = scores[tile : tile + ROWS_PER_TILE]
        count = tile_scores.shape[0]
        for t in range(trees.size - 1):
            leaves_of_rows[:count] = ALL_LEAVES
            for line in range(trees[t], trees[t + 1]):
                tile_codes = codes[features[line]][start + tile : start + tile + count]
                mask = masks[line]
                for i in range(count):
                    leaves_of_rows[i] &= mask[tile_codes[i]]
            tree_values = values[t]
            if outputs == 1:  # the common case, without a loop over outputs
                scores_of_one, values_of_one = tile_scores[:, 0], tree_values[:, 0]
                for i in range(count):
                    leaf = ((leaves_of_rows[i] * SPREAD) >> np.uint32(27)) & np.uint32(31)
                    scores_of_one[i] += values_of_one[leaf]
                continue
            for i in range(count):
                leaf = ((leaves_of_rows[i] * SPREAD) >> np.uint32(27)) & np.uint32(31)
                for k in range(outputs):
                    tile_scores[i, k] += tree_values[leaf, k]


@kernel
def leaf_masks(nodes: Numbers, lines: Wholes, members: Bytes, missing: int, masks: Rows) -> None:
    """Write, for each feature and code, the mask of the leaves that a row can reach.

    ``nodes`` are the splits of a tree, and ``lines[t]`` is the row of ``masks`` for the feature of
    split t. Children come after their split, so a backward pass finds the leaves below every split.
    """
    below = on_stack((nodes.shape[0],), np.uint32)
    one = np.uint32(1)
    masks[:] = ALL_LEAVES
    for t in range(nodes.shape[0] - 1, -1, -1):
        node = nodes[t]
        left_leaves = below[node[LEFT]] if node[LEFT] >= 0 else one << np.uint32(~node[LEFT])
        right_leaves = below[node[RIGHT]] if node[RIGHT] >= 0 else one << np.uint32(~node[RIGHT])
        below[t] = left_leaves | right_leaves
        mask = masks[lines[t]]
        for code in range(256):
            # written out: LLVM makes no vectors of a call, and the loop takes ten times as long
            if node[MEMBER] >= 0:
                goes_left = members[node[MEMBER], code] != 0
            elif code == missing:
                goes_left = node[MISSING_LEFT] != 0
            else:
                goes_left = code <= node[CUT]
            mask[code] &= ~(right_leaves if goes_left else left_leaves)
    for line in range(masks.shape[0]):
        for code in range(256):
            masks[line, code] &= below[0]
