"""Walk rows down the trees of a forest, and sum the values of their leaves.

Several rows go down a tree side by side: while one waits for its node to come from memory, the
others move on.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.forest import LEAF
from pacboost.kernels.forest_split import Whole
from pacboost.kernels.runtime import Bytes, Floats, Wholes, Words
from pacboost.kernels.runtime.jit import kernel

ROWS_SIDE_BY_SIDE = 8
HALF = 0 if sys.byteorder == "little" else 1  # the half of a word with the 32-bit float of a leaf


@kernel
def descend(lines: Bytes, nodes: Words, first: Whole, missing: Whole, places: Wholes) -> None:
    """Write the place, within its tree, of the leaf of each row."""
    for start in range(0, places.size, ROWS_SIDE_BY_SIDE):
        here = places[start : start + ROWS_SIDE_BY_SIDE]
        here[:] = 0
        moving = 1
        while moving > 0:
            moving = 0
            for k in range(here.size):
                node = nodes[first + here[k]]
                feature = node >> np.uint64(41)
                if feature != LEAF:
                    code = np.int64(lines[start + k, np.int64(feature)])
                    goes_left = code <= np.int64((node >> np.uint64(32)) & np.uint64(255))
                    goes_left |= (code == missing) & ((node >> np.uint64(40)) & np.uint64(1) != 0)
                    right = np.int64(node & np.uint64(0xFFFFFFFF))
                    here[k] = here[k] + 1 if goes_left else right
                    moving += 1


@kernel
def add_numbers(
    lines: Bytes, nodes: Words, firsts: Wholes, missing: Whole, hard: bool, places: Wholes,
    sums: Floats,
) -> None:  # fmt: skip
    """Add the value of every row's leaf, tree by tree; if ``hard``, 1 for values above 0.5."""
    values = nodes.view(np.float32)
    for t in range(firsts.size - 1):
        descend(lines, nodes, firsts[t], missing, places)
        for i in range(places.size):
            value = float(values[2 * (firsts[t] + places[i]) + HALF])
            if hard:
                value = 1.0 if value > 0.5 else 0.0
            sums[i, 0] += value


@kernel
def add_classes(
    lines: Bytes, nodes: Words, firsts: Wholes, missing: Whole, hard: bool,
    table: NDArray[np.float32], bases: Wholes, places: Wholes, sums: Floats,
) -> None:  # fmt: skip
    """Add the distribution of every row's leaf, tree by tree; if ``hard``, 1 for its mode."""
    classes = sums.shape[1]
    for t in range(firsts.size - 1):
        descend(lines, nodes, firsts[t], missing, places)
        for i in range(places.size):
            payload = np.int64(nodes[firsts[t] + places[i]] & np.uint64(0xFFFFFFFF))
            if payload < classes:
                sums[i, payload] += 1.0
            else:
                line = table[bases[t] + payload - classes]
                if hard:
                    sums[i, line.argmax()] += 1.0
                else:
                    for c in range(classes):
                        sums[i, c] += line[c]
