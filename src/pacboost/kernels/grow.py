"""Count the histograms of a tree, record its splits, and draw the features of its leaves.

Each row has a pair of integers for every output: its pull (the change of the score that it asks
for, times its weight) and its weight. Sums of integers are the same in any order.
Both sums fit into 32 bits, so a pair is one 64-bit integer, ``pull·2³² + weight``, and one addition
counts both (measured: up to twice as fast). Eight codes of a row are in one 64-bit word, so that
one load serves eight histograms.
"""

from __future__ import annotations

import numpy as np

from pacboost.kernels import layout
from pacboost.kernels.hashing import STEP, mixed
from pacboost.kernels.layout import Interactions, Leaves, Splits
from pacboost.kernels.runtime import Bytes, Floats, Rows, Wholes, Words
from pacboost.kernels.runtime.jit import kernel, on_stack, prefetch
from pacboost.kernels.split import LOW

ROWS_PER_TILE = 1_024  # their pairs and words fit into the cache


@kernel
def count(
    words: Words, lanes: int, rows: Rows, pairs: Wholes, histogram: Wholes, first_block: int,
    last_block: int,
) -> None:  # fmt: skip
    """Add the pairs of some rows to the histograms (outputs, lanes, codes) of some blocks.

    The rows of a leaf are scattered in memory, so the words of a block are prefetched while the
    block before is counted (measured: twice as fast).
    """
    tile_pairs = on_stack((ROWS_PER_TILE,), np.int64)
    byte = np.uint64(255)
    for first in range(0, rows.size, ROWS_PER_TILE):
        tile = rows[first : first + ROWS_PER_TILE]
        for s in range(pairs.shape[0]):
            line = pairs[s]
            block = words[first_block]
            for k in range(tile.size):
                prefetch(block, tile[k])
                tile_pairs[k] = line[tile[k]]
            for b in range(first_block, last_block):
                block, following = words[b], words[min(b + 1, last_block - 1)]
                h = histogram[s, 8 * b :]
                if lanes - 8 * b > 4:  # loops over lanes are unrolled
                    for k in range(tile.size):
                        prefetch(following, tile[k])
                        w = block[tile[k]]
                        for j in range(8):
                            h[j, (w >> np.uint64(8 * j)) & byte] += tile_pairs[k]
                else:
                    for k in range(tile.size):
                        w = block[tile[k]]
                        for j in range(4):
                            h[j, (w >> np.uint64(8 * j)) & byte] += tile_pairs[k]


@kernel
def narrow(
    histogram: Wholes, features: Wholes, leaves: Leaves, spans: Floats, leaf: int, new: int
) -> None:
    """Pass the span of a leaf on to its parts; a monotone split divides it between their means."""
    spans[new, 0], spans[new, 1] = spans[leaf, 0], spans[leaf, 1]
    best, slots = leaves.best[leaf], leaves.slots
    feature = features[best[layout.FEATURE]]
    slope = feature[layout.MONOTONE]
    is_for_missing = best[layout.CUT] == feature[layout.BINS] - 1
    if slope == 0 or is_for_missing:
        return
    middle = 0.0
    for side in range(2):
        lane = histogram[slots[leaf if side == 0 else new], 0, 0]
        total = np.int64(0)
        for b in range(lane.size):
            total += lane[b]
        mean = float(total >> 32) / max(float(total & LOW), 1.0)
        middle += 0.5 * min(max(mean, spans[leaf, 0]), spans[leaf, 1])
    if slope > 0:
        spans[leaf, 1] = spans[new, 0] = middle
    else:
        spans[leaf, 0] = spans[new, 1] = middle


@kernel
def record(features: Wholes, leaves: Leaves, splits: Splits, leaf: int, new: int) -> None:
    """Record the split of a leaf: its left part keeps the number, its right part is ``new``."""
    split, best, hangs, depths = new - 1, leaves.best[leaf], leaves.hangs, leaves.depths
    for k in range(3):
        splits.columns[split, k] = best[k]
    splits.columns[split, layout.LEFT], splits.columns[split, layout.RIGHT] = ~leaf, ~new
    splits.gains[split] = leaves.gains[leaf]
    if features[best[layout.FEATURE], layout.CATEGORY]:
        for k in range(leaves.members.shape[1]):
            splits.members[split, k] = leaves.members[leaf, k]
    if split > 0:
        splits.columns[hangs[leaf, 0], hangs[leaf, 1]] = split
    hangs[leaf, 0], hangs[leaf, 1] = split, layout.LEFT
    hangs[new, 0], hangs[new, 1] = split, layout.RIGHT
    depths[leaf] += 1
    depths[new] = depths[leaf]


@kernel
def draw_features(allowed: Bytes, deck: Wholes, count: int, seed: np.uint64) -> None:
    """Allow ``count`` features, drawn by splitmix64.

    ``deck`` has a place for every feature; it is shuffled here.
    """
    features = allowed.size
    if count >= features:
        return
    for j in range(features):
        deck[j] = j
        allowed[j] = np.uint8(0)
    state = seed
    for k in range(count):
        state += STEP
        place = k + np.int64(mixed(state) % np.uint64(features - k))
        deck[k], deck[place] = deck[place], deck[k]
        allowed[deck[k]] = np.uint8(1)


@kernel
def next_leaf(gains: Floats, leaves: int) -> int:
    """Return the leaf whose split gains most, the first of equals; -1 if none gains anything."""
    leaf, largest_gain = -1, 0.0
    for k in range(leaves):
        if gains[k] > largest_gain:
            leaf, largest_gain = k, gains[k]
    return leaf


@kernel
def hand_down(rules: Interactions, feature: int, leaf: int, new: int) -> None:
    """Restrict the features open to a leaf after a split, for both parts."""
    reach, asked, open_to = rules.reach, rules.asked, rules.open
    asked[leaf, feature] = 1
    count = 0
    for j in range(asked.shape[1]):
        count += asked[leaf, j]
        asked[new, j] = asked[leaf, j]
    if rules.sets.shape[0] == 0:
        for j in range(asked.shape[1]):
            open_to[leaf, j] = asked[leaf, j] if count >= rules.max_features else np.uint8(1)
    else:
        for j in range(asked.shape[1]):
            open_to[leaf, j] = 0
        for k in range(rules.sets.shape[0]):
            reach[leaf, k] &= rules.sets[k, feature]
            reach[new, k] = reach[leaf, k]
            if reach[leaf, k]:
                for j in range(asked.shape[1]):
                    open_to[leaf, j] |= rules.sets[k, j]
    for j in range(asked.shape[1]):
        open_to[new, j] = open_to[leaf, j]


@kernel
def draw_open(
    allowed: Bytes, deck: Wholes, max_drawn: int, seed: np.uint64, rules: Interactions,
    leaf: int
) -> None:  # fmt: skip
    """Allow the features open to a leaf, or some of them drawn at random."""
    count = 0
    for j in range(allowed.size):
        count += rules.open[leaf, j]
    drawn = min(max_drawn, max(1, int(np.ceil(rules.share * count))))
    if drawn >= count:
        for j in range(allowed.size):
            allowed[j] = rules.open[leaf, j]
        return
    draw_features(allowed, deck, allowed.size - 1, seed)  # the deck is in a random order now
    for j in range(allowed.size):
        allowed[j] = 0
    for j in deck:
        if drawn > 0 and rules.open[leaf, j]:
            allowed[j] = 1
            drawn -= 1
