"""Grow a tree on codes: count, scan, part. Sums are of whole numbers, so any order gives the same.

Each row carries a pair of whole numbers for every output: its pull (what the row asks the score to
do, with sign) and its weight. Both sums fit into 32 bits, so a pair travels as one 64-bit number,
``pull·2³² + weight``, and one addition counts both (measured: up to twice as fast). Eight codes of
a row lie in one 64-bit word, so that one load serves eight histograms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pacboost.kernels.hashing import STEP, mixed
from pacboost.kernels.layout import CATEGORY, FEATURE, LEFT, RIGHT
from pacboost.kernels.runtime import Bytes, Floats, Rows, Wholes, Words
from pacboost.kernels.runtime.jit import kernel, on_stack, prefetch
from pacboost.kernels.split import LOW

ROWS_AT_ONCE = 1_024  # their pairs and words stay in the cache from when they are fetched


@kernel
def count(
    words: Words,
    lanes: int,
    rows: Rows,
    pairs: Wholes,
    histogram: Wholes,
    first_block: int,
    last_block: int,
) -> None:
    """Add the pairs of some rows to the histograms (outputs, lanes, codes) of some blocks.

    The rows of a leaf lie apart in memory, so the words of a block are fetched while the one before
    is counted (measured: twice as fast).
    """
    held = on_stack((ROWS_AT_ONCE,), np.int64)
    byte = np.uint64(255)
    for first in range(0, rows.size, ROWS_AT_ONCE):
        own = rows[first : first + ROWS_AT_ONCE]
        for s in range(pairs.shape[0]):
            line = pairs[s]
            block = words[first_block]
            for k in range(own.size):
                prefetch(block, own[k])
                held[k] = line[own[k]]
            for b in range(first_block, last_block):
                block, following = words[b], words[min(b + 1, last_block - 1)]
                h = histogram[s, 8 * b :]
                h0, h1, h2, h3 = h[0], h[1], h[2], h[3]
                if lanes - 8 * b > 4:
                    h4, h5, h6, h7 = h[4], h[5], h[6], h[7]
                    for k in range(own.size):
                        prefetch(following, own[k])
                        w = block[own[k]]
                        d = held[k]
                        h0[w & byte] += d
                        h1[(w >> np.uint64(8)) & byte] += d
                        h2[(w >> np.uint64(16)) & byte] += d
                        h3[(w >> np.uint64(24)) & byte] += d
                        h4[(w >> np.uint64(32)) & byte] += d
                        h5[(w >> np.uint64(40)) & byte] += d
                        h6[(w >> np.uint64(48)) & byte] += d
                        h7[w >> np.uint64(56)] += d
                else:
                    for k in range(own.size):
                        w = block[own[k]]
                        d = held[k]
                        h0[w & byte] += d
                        h1[(w >> np.uint64(8)) & byte] += d
                        h2[(w >> np.uint64(16)) & byte] += d
                        h3[(w >> np.uint64(24)) & byte] += d


@kernel
def narrow(
    histogram: Wholes, slope: int, slots: Wholes, spans: Floats, leaf: int, new: int
) -> None:
    """Hand a leaf's span down to its parts; a monotone split divides it halfway between them."""
    spans[new, 0], spans[new, 1] = spans[leaf, 0], spans[leaf, 1]
    if slope == 0:
        return
    middle = 0.0
    for side in range(2):
        own = histogram[slots[leaf if side == 0 else new], 0, 0]
        total = np.int64(0)
        for b in range(own.size):
            total += own[b]
        mean = float(total >> 32) / max(float(total & LOW), 1.0)
        middle += 0.5 * min(max(mean, spans[leaf, 0]), spans[leaf, 1])
    if slope > 0:
        spans[leaf, 1] = spans[new, 0] = middle
    else:
        spans[leaf, 0] = spans[new, 1] = middle


@kernel
def record(
    features: Wholes,
    best: Wholes,
    members: Bytes,
    gains: Floats,
    leaf: int,
    new: int,
    splits: Wholes,
    split_members: Bytes,
    split_gains: Floats,
    hangs: Wholes,
    depths: Wholes,
) -> None:
    """Write down the split of a leaf: its left part keeps the number, its right part is ``new``.

    ``hangs`` says for each leaf at which split, and on which side of it, it hangs.
    """
    split = new - 1
    for k in range(3):
        splits[split, k] = best[leaf, k]
    splits[split, LEFT], splits[split, RIGHT] = ~leaf, ~new
    split_gains[split] = gains[leaf]
    if features[best[leaf, FEATURE], CATEGORY]:
        for k in range(members.shape[1]):
            split_members[split, k] = members[leaf, k]
    if split > 0:
        splits[hangs[leaf, 0], hangs[leaf, 1]] = split
    hangs[leaf, 0], hangs[leaf, 1] = split, LEFT
    hangs[new, 0], hangs[new, 1] = split, RIGHT
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
    """Return the leaf whose split wins most, the first of equals; -1 if none wins anything."""
    leaf, most = -1, 0.0
    for k in range(leaves):
        if gains[k] > most:
            leaf, most = k, gains[k]
    return leaf


# Which features may be asked for in each leaf of a tree, where only some may interact.
#
# Features on the way from the root to a leaf have to lie in one of the sets given, or be at most
# so many.


class Interactions(NamedTuple):
    """What may interact, and what that leaves to each leaf, one line for each."""

    sets: Bytes
    """(sets, features): which features each set holds. Without sets, ``most`` counts alone."""
    most: int
    """How many different features a path may ask for."""
    share: float
    """The share of the features open to a leaf that is drawn for each split."""
    reach: Bytes
    """(leaves, sets): the sets that hold all features asked for on the way to the leaf."""
    asked: Bytes
    """(leaves, features): the features asked for on the way to the leaf."""
    open: Bytes
    """(leaves, features): the features that the leaf may ask for."""


@kernel
def hand_down(rules: Interactions, feature: int, leaf: int, new: int) -> None:
    """Narrow what is open to a leaf split by a feature, and give it to both parts."""
    reach, asked, open_to = rules.reach, rules.asked, rules.open
    asked[leaf, feature] = 1
    count = 0
    for j in range(asked.shape[1]):
        count += asked[leaf, j]
        asked[new, j] = asked[leaf, j]
    if rules.sets.shape[0] == 0:
        for j in range(asked.shape[1]):
            open_to[leaf, j] = asked[leaf, j] if count >= rules.most else np.uint8(1)
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
    allowed: Bytes, deck: Wholes, most: int, seed: np.uint64, rules: Interactions,
    leaf: int
) -> None:  # fmt: skip
    """Allow the features open to a leaf, or as many of them as are to be drawn."""
    count = 0
    for j in range(allowed.size):
        count += rules.open[leaf, j]
    drawn = min(most, max(1, int(np.ceil(rules.share * count))))
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
