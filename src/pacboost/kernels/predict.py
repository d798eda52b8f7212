"""Walk rows down trees, on codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.runtime import Bytes, Cells, Floats, Numbers, Rows, Wholes
from pacboost.kernels.runtime.jit import kernel, on_stack, part_of_kernels, uncounted

ROWS_PER_TILE = 512  # their codes and the nodes of a tree stay in the first cache

# columns of ``nodes``, one line for each split
FEATURE, CUT, MISSING_LEFT, LEFT, RIGHT, MEMBER = range(6)


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


# Share each row's score among the features: path-dependent Tree SHAP, exactly.
#
# The game (Lundberg, Erion and Lee, Consistent individualized feature attribution for tree
# ensembles, 2018): v(S) is the mean of the tree over descents that follow the row at features in S,
# and go either way by cover at all others. A leaf of value u adds u · ∏_f (o_f if f in S, else
# r_f), over the features f on its path: o_f is 1 if the row meets every condition on f, and r_f is
# the product of the shares of cover along them. By Owen (Multilinear extensions of games, 1972) the
# Shapley value is an integral, here
#
#     φ_f = u · (o_f - r_f) · ∫₀¹ ∏_{g ≠ f} (o_g y + r_g (1 - y)) dy,
#
# of a polynomial of degree d - 1 for d features: the Gauss-Legendre rule with d/2 points is exact.
# At a point every factor is positive, so that factors can be divided out again; products go down
# the tree and sums over leaves come up, in time nodes · points for each row. Their algorithm 2
# takes leaves · depth² for the same numbers.
#
# A node is a split, or the number of splits plus a leaf's number; what is said of a node is said of
# the edge above it. The root has no edge: it stands for "no earlier edge of this feature".


@kernel
def edges(
    feature: Numbers,
    left: Numbers,
    right: Numbers,
    cover: Floats,
    parent: Numbers,
    before: Numbers,
    distinct: Numbers,
    share: Floats,
    reach: Floats,
) -> None:
    """Write, for each node below the root, what descents need to know; the root's are given.

    ``before`` is the lowest node above whose edge asks the same feature, ``distinct`` the number of
    features asked so far, ``share`` the product of shares of cover over this feature's edges so
    far, and ``reach`` that over all edges. A split that nothing reached is cut into halves.
    """
    splits = feature.size
    for i in range(splits):
        first = i
        while first > 0 and feature[parent[first]] != feature[i]:
            first = parent[first]
        for child in (left[i], right[i]):
            node = child if child >= 0 else splits - 1 - child
            other = left[i] + right[i] - child
            beside = other if other >= 0 else splits - 1 - other
            total = cover[node] + cover[beside]
            own = cover[node] / total if total > 0 else 0.5
            parent[node] = i
            before[node] = first
            distinct[node] = distinct[i] + (first == 0)
            share[node] = share[first] * own
            reach[node] = reach[i] * own


@kernel
def add(
    codes: Bytes,
    start: int,
    stop: int,
    out: Floats,
    missing: int,
    feature: Numbers,
    cut: Numbers,
    missing_left: NDArray[np.bool_],
    left: Numbers,
    right: Numbers,
    member: Numbers,
    members: Bytes,
    values: Floats,
    before: Numbers,
    factor: Floats,
    inverse: Floats,
    pull: Floats,
) -> None:
    """Add one tree's shares to ``out`` (rows, features, outputs), for rows ``start`` to ``stop``.

    ``factor``, ``inverse`` and ``pull`` are (2, nodes, points): with o = 0 and with o = 1, the
    factor o·y + share·(1 - y), one over it, and (o - share) · weight of the point / factor.
    """
    splits, nodes = feature.size, before.size
    points, outputs = factor.shape[2], values.shape[1]
    on = np.ones(nodes, dtype=np.int8)  # o of the edge's feature
    product = np.ones((nodes, points))
    sums = np.zeros((nodes, outputs, points))
    for row in range(start, stop):
        for i in range(splits):
            code = codes[feature[i], row]
            subset = member[i]
            if subset >= 0:
                goes_left = members[subset, code] != 0
            else:
                goes_left = missing_left[i] if code == missing else code <= cut[i]
            for child in (left[i], right[i]):
                node = child if child >= 0 else splits - 1 - child
                first = before[node]
                on[node] = on[first] if goes_left == (child == left[i]) else 0
                here, above = product[node], product[i]
                old, new = inverse[on[first], first], factor[on[node], node]
                for q in range(points):
                    here[q] = above[q] * old[q] * new[q]
                for k in range(outputs):
                    below = sums[node, k]
                    leaf = 0.0 if child >= 0 else values[-1 - child, k]
                    for q in range(points):
                        below[q] = leaf * here[q]
        for i in range(splits - 1, -1, -1):
            for child in (left[i], right[i]):
                node = child if child >= 0 else splits - 1 - child
                first = before[node]
                # leaves below count for this edge, and no longer for the feature's last one
                own, last = pull[on[node], node], pull[on[first], first]
                for k in range(outputs):
                    below, above = sums[node, k], sums[i, k]
                    total = 0.0
                    for q in range(points):
                        total += below[q] * (own[q] - last[q])
                        above[q] += below[q]
                    out[row, feature[i], k] += total
