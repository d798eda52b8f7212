"""Read the best stump off the histograms of signed weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.jit import kernel

NEVER = np.int64(2**62)  # no edge reaches this


@kernel
def scan(own: NDArray[np.int64], missing: int, wanted: np.int64) -> tuple[np.int64, int, np.int64]:
    """Go through a feature's cuts to one with the wanted edge; give edge, place and difference.

    If none has it, give the largest edge there is, and -1 for the place.
    """
    values = np.int64(0)
    for b in range(missing):
        values += own[b]
    largest = np.int64(-1)
    below = np.int64(0)
    for b in range(missing):
        below += own[b]
        difference = values - 2 * below
        edge = abs(difference) + abs(own[missing])
        if edge >= wanted:
            return edge, b, difference
        largest = max(largest, edge)
    return largest, -1, np.int64(0)


def first_feature(edges: NDArray[np.int64], slack: int) -> tuple[int, np.int64]:
    """Give the first feature whose edge is within ``slack`` of the largest, and the edge wanted."""
    wanted = edges.max() - slack
    return int((edges >= wanted).argmax()), wanted
