"""The layout of a forest's trees, and what its kernels are told: src/native/forest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

LEAF = np.uint64(2**23 - 1)
"""The feature number of a leaf; src/native/forest/node.h describes the other bits of a node."""


class ForestPlan(NamedTuple):
    """What all trees of a forest have in common, in the order of grow.h and cuda/forest.cuh."""

    classes: int
    missing: int
    """The code of missing values."""
    tries: int
    """How many features are drawn at a node."""
    least: int
    smallest: int
    deepest: int
    random: bool
