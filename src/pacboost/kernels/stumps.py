"""The best cut of a stump, for kernels on sparse columns; src/native/stumps has the others."""

from __future__ import annotations

import numpy as np

from pacboost.kernels.runtime import Wholes
from pacboost.kernels.runtime.jit import kernel

NEVER = np.int64(2**62)
"""No edge is as large as this."""


@kernel
def scan(histogram: Wholes, missing: int, min_edge: np.int64) -> tuple[np.int64, int, np.int64]:
    """Find the first cut of a feature whose edge reaches ``min_edge``.

    Return its edge, its place, and the sum above minus the sum below. If there is none, return the
    largest edge, and -1 for the place.
    """
    present = np.int64(0)
    for b in range(missing):
        present += histogram[b]
    largest = np.int64(-1)
    below = np.int64(0)
    for b in range(missing):
        below += histogram[b]
        difference = present - 2 * below
        edge = abs(difference) + abs(histogram[missing])
        if edge >= min_edge:
            return edge, b, difference
        largest = max(largest, edge)
    return largest, -1, np.int64(0)


def first_feature(edges: Wholes, slack: int) -> tuple[int, np.int64]:
    """Return the first feature whose edge is within ``slack`` of the largest, and that limit."""
    min_edge = edges.max() - slack
    return int((edges >= min_edge).argmax()), min_edge
