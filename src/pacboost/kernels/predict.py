"""Walk rows down trees, on codes."""

from __future__ import annotations

import numpy as np

from pacboost.kernels.layout import CUT, FEATURE, LEFT, MEMBER, MISSING_LEFT, RIGHT
from pacboost.kernels.runtime import Bytes, Cells, Floats, Numbers, Rows, Wholes
from pacboost.kernels.runtime.jit import kernel, on_stack, part_of_kernels, uncounted

ROWS_PER_TILE = 512  # their codes and the nodes of a tree stay in the first cache


@part_of_kernels
def leaf_of(
    codes: Cells, row: int, nodes: Numbers, members: Bytes, first: int, missing: int
) -> np.int64:
    """Return the leaf of a row in the tree whose splits begin at ``first``."""
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


@uncounted
def score(
    codes: Cells,
    nodes: Numbers,
    members: Bytes,
    missing: int,
    trees: Wholes,
    values: Floats,
    start: int,
    scores: Floats,
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


# Score rows from their codes: one table a feature, or one mask of leaves a feature and tree.
#
# Every code of a feature rules out some leaves of a tree. The masks of what each feature leaves are
# combined by "and"; one bit remains, the row's leaf (after Lucchese and others, QuickScorer, 2015,
# who keep several). No step waits for another, so rows take a few nanoseconds a tree.

LEAVES = 32
ALL = np.uint32(0xFFFFFFFF)
SPREAD = np.uint32(0x077CB531)
"""Multiplied by 1 << k, its top five of 32 bits differ for every k (a de Bruijn sequence)."""


@kernel
def by_tables(codes: Cells, features: Wholes, tables: Floats, start: int, scores: Floats) -> None:
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
    codes: Cells,
    features: Wholes,
    masks: Rows,
    trees: Wholes,
    values: Floats,
    start: int,
    scores: Floats,
) -> None:
    """Add what the leaf of every tree says to the scores (rows, outputs).

    Tree t has the lines trees[t] to trees[t + 1] of ``features`` and ``masks``. Its values
    (32, outputs) are stored where a leaf's bit, multiplied by ``SPREAD``, points to.
    """
    rows, outputs = scores.shape
    left = on_stack((ROWS_PER_TILE,), np.uint32)
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
            if outputs == 1:  # the common case, without a loop of one step
                scores_of_one, said_of_one = own[:, 0], said[:, 0]
                for i in range(count):
                    leaf = ((left[i] * SPREAD) >> np.uint32(27)) & np.uint32(31)
                    scores_of_one[i] += said_of_one[leaf]
                continue
            for i in range(count):
                leaf = ((left[i] * SPREAD) >> np.uint32(27)) & np.uint32(31)
                for k in range(outputs):
                    own[i, k] += said[leaf, k]


@kernel
def leaf_masks(nodes: Numbers, lines: Wholes, members: Bytes, missing: int, masks: Rows) -> None:
    """Write which leaves every code leaves over; ``lines`` says which line a split's feature has.

    ``nodes`` are the splits of a tree. The parts of a split come after it,
    so the leaves below a split are known once those below all later ones are.
    """
    below = on_stack((nodes.shape[0],), np.uint32)
    one = np.uint32(1)
    masks[:] = ALL
    for t in range(nodes.shape[0] - 1, -1, -1):
        node = nodes[t]
        left = below[node[LEFT]] if node[LEFT] >= 0 else one << np.uint32(~node[LEFT])
        right = below[node[RIGHT]] if node[RIGHT] >= 0 else one << np.uint32(~node[RIGHT])
        below[t] = left | right
        mask = masks[lines[t]]
        for code in range(256):
            if node[MEMBER] >= 0:
                goes_left = members[node[MEMBER], code] != 0
            elif code == missing:
                goes_left = node[MISSING_LEFT] != 0
            else:
                goes_left = code <= node[CUT]
            mask[code] &= ~(right if goes_left else left)
    for line in range(masks.shape[0]):
        for code in range(256):
            masks[line, code] &= below[0]
