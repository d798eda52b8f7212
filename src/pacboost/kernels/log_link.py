"""The exponential function of scores, with the same bits on every machine."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.jit import kernel
from pacboost.kernels.update import LN2_HIGH, LN2_LOW, LOG2_E

TAYLOR = tuple(1.0 / math.factorial(n) for n in range(13, -1, -1))
"""For |r| ≤ ln(2)/2 the series up to r^13/13! is off by 4e-18."""
FARTHEST = 700.0
"""Scores beyond this have no exponential that is a normal double."""


@kernel
def exponentials(scores: NDArray[np.float64], sign: float, out: NDArray[np.float64]) -> None:
    """Write exp(sign · score) as 2^k times a polynomial, by additions and multiplications alone."""
    for i in range(scores.size):
        x = min(max(sign * scores[i], -FARTHEST), FARTHEST)
        k = np.floor(x * LOG2_E + 0.5)
        r = (x - k * LN2_HIGH) - k * LN2_LOW
        p = 0.0
        for term in TAYLOR:
            p = p * r + term
        out[i] = math.ldexp(p, int(k))
