"""Random whole numbers inside kernels: splitmix64 (Steele, Lea and Flood 2014)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.inline import inline

Whole = int | np.int64

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@inline
def below(state: NDArray[np.uint64], limit: Whole) -> np.int64:
    """Draw one of 0 … limit - 1, all as likely up to limit/2³² (limit < 2³²), and move on."""
    state[0] += _STEP
    x = state[0]
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    x ^= x >> np.uint64(31)
    return np.int64(((x >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))
