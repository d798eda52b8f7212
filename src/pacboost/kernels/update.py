"""Weigh the rows anew after a round of a booster whose potential is exponential."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.jit import kernel


@kernel
def exponential(
    agree: NDArray[np.int8],
    vote: float,
    total_vote: float,
    base: NDArray[np.float64],
    log_scale: float,
    afresh: bool,
    margins: NDArray[np.float64],
    weights: NDArray[np.int64],
    start: int,
    stop: int,
) -> None:
    """Add the vote to the margins and set ``weight = max(1, round(base * exp(V - margin + s)))``.

    ``V`` is the sum of all votes so far: a row that every rule got right keeps V - margin = 0, so
    only rows the newest rule got wrong change, unless the scale ``s`` did (``afresh``). A weight is
    never below one unit: no row is forgotten, and an error of 0 means that there was none.
    ``base`` has one entry for all rows or one for each.
    """
    many = base.size > 1
    for i in range(start, stop):
        margins[i] += vote * agree[i]
        if afresh or agree[i] < 0:
            own = base[i] if many else base[0]
            fresh = own * math.exp(total_vote - margins[i] + log_scale)
            weights[i] = max(np.int64(1), np.int64(fresh + 0.5))
