"""The capped entropic minimum: weights as even as given margins allow, and the gradient.

Over weights d that sum to 1 with d ≤ base/share (no cap if the share is 0),

    G(m) = min over d of  d·m + KL(d ‖ base)

is attained by d = base·min(1/share, exp(c - m)) with the one c at which they sum to 1. d is also
the gradient of G, which is concave. For margins m = η·(votes' margins), G(m)/η is the soft margin
of the vote, smoothed: no less, and more by at most ln(1/share)/η (Warmuth, Glocer and Vishwanathan
2008).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.same_bits import exp, log_of, total
from pacboost.numerics.soft_margin import Floats, whole_weights


@dataclass(frozen=True, eq=False)
class Evenest:
    """The minimum and the weights that attain it."""

    value: float
    weights: Floats
    """d, rounded to multiples of 2^-52."""
    free: NDArray[np.bool_]
    """True where d is below its cap."""
    level: float
    """c, the logarithm of the common factor."""


def evenest(heights: Floats, base: Floats, share: float, level: float = math.nan) -> Evenest:
    """Minimise d·heights + KL(d ‖ base) for base weights of sum 1.

    A ``level`` close to the solution makes the search faster.
    """
    low, high = float(heights.min()), float(heights.max())
    if share <= 0:
        raised = base * exp(low - heights)
        mass = total(raised)
        level = low - log_of(mass)
        free = np.ones(heights.size, dtype=np.bool_)
        return Evenest(level, whole_weights(raised / mass), free, level)
    log_cap = log_of(1 / share)
    if not low <= level <= high:
        level = low
    while True:
        # In exp(c) the sum is concave and made of straight pieces: from the left, Newton's steps
        # stay on the left and meet each piece at most once. From the right, the bracket limits
        # them.
        free = level - heights < log_cap
        raised = base * exp(np.minimum(level - heights, log_cap))
        capped = total(base[~free]) / share
        rest = total(raised[free])
        if capped + rest <= 1:
            low = level
        else:
            high = level
        step = log_of((1 - capped) / rest) if capped < 1 and rest > 0 else math.nan
        if abs(step) <= 1e-14 * max(1.0, abs(level)) or high - low <= 1e-15 * max(1.0, abs(high)):
            break
        level = level + step if low < level + step < high else (low + high) / 2
    scale = (
        max(1 - capped, 0.0) / rest if rest > 0 else 1.0
    )  # corrects the rounding error of the sum
    weights = np.where(free, np.minimum(scale * raised, base / share), base / share)
    value = level * total(weights[free]) + total((weights * (heights + log_cap))[~free])
    return Evenest(value, whole_weights(weights), free, level)
