"""The soft margin of a vote: the mean margin of the worst rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.same_bits import total

Floats = NDArray[np.float64]


def soft_margin(margins: Floats, base: Floats, share: float) -> float:
    """Return the mean margin of the worst ``share`` of the rows; of the single worst one if 0.

    It is the least mean that weights of at most base/share can give, and so the dual of boosting
    with capped weights: max over ρ of ρ - mean(max(0, ρ - margin))/share. Margins are (rows,
    outputs), ``base`` is one weight a row, or one for all.

    >>> soft_margin(np.array([[0.5], [-0.1], [0.3], [0.1]]), np.ones(1), 0.5)     # (-0.1 + 0.1)/2
    0.0
    >>> soft_margin(np.array([[0.5], [-0.1], [0.3], [0.1]]), np.ones(1), 0.0)
    -0.1
    """
    if share <= 0:
        return float(margins.min())
    flat = margins.reshape(-1)
    masses = np.repeat(np.broadcast_to(base, margins.shape[:1]), margins.shape[1])
    left = share * total(masses)
    if base.size == 1 and left <= masses[0]:
        return float(flat.min())
    order = np.argsort(flat, kind="stable")
    taken = np.minimum(masses[order], np.maximum(left - _before(masses[order]), 0.0))
    return total(taken * flat[order]) / left


def _before(masses: Floats) -> Floats:
    """What comes before each."""
    return np.concatenate([[0.0], np.cumsum(masses)[:-1]])
