"""Which features may be asked for in each leaf of a tree, where only some may interact.

Features on the way from the root to a leaf have to lie in one of the sets given, or be at most
so many.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.grow import draw_features
from pacboost.kernels.jit import kernel

Bytes = NDArray[np.uint8]


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
    allowed: Bytes, deck: NDArray[np.int64], most: int, seed: np.uint64, rules: Interactions,
    leaf: int,
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
