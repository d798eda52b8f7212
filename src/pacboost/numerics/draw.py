"""Draw rows with probability proportional to whole-number weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def draw(weights: NDArray[np.int64], size: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Draw ``size`` row numbers independently, with replacement.

    >>> draw(np.array([0, 5, 0]), 3, np.random.default_rng(0)).tolist()
    [1, 1, 1]
    """
    ends = np.cumsum(weights)
    return np.searchsorted(ends, generator.integers(ends[-1], size=size), side="right")
