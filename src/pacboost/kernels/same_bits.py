"""Exponentials and logarithms of numerics/same_bits.py, bit for bit, without NumPy's many passes.

A thread that calls NumPy thirty times for one array takes and gives back the interpreter's lock as
often, and waits for it each time where other threads do the same. These loops are entered once.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.exp_log import exp_below_0
from pacboost.kernels.jit import kernel
from pacboost.numerics.same_bits import (
    ATANH,
    LOG2_E,
    ROOT_HALF,
)

Floats = NDArray[np.float64]

ROWS_WORTH_COMPILING = 2_048
"""On fewer rows, NumPy takes some 0.1 ms."""
REST = np.array(ATANH)


@kernel
def chances(margins: Floats, out: Floats) -> None:
    """Write 1/(1 + exp(2·margin)), the chance of a row to be kept, for every margin."""
    for i in range(margins.size):
        value = -2.0 * margins[i]
        small = exp_below_0(-abs(value))
        out[i] = (1.0 if value >= 0 else small) / (1.0 + small)


@kernel
def steps_below_1(values: Floats, steps: float, last: int, out: NDArray[np.uint8]) -> None:
    """Write ⌊-steps·log₂(value)⌋ of numbers in [0, 1], but ``last`` at most."""
    for i in range(values.size):
        if values[i] == 0.0:
            out[i] = last
            continue
        fraction, power = math.frexp(values[i])
        low = fraction < ROOT_HALF
        f = (2 * fraction if low else fraction) - 1.0
        s = f / (2.0 + f)
        z = s * s
        rest = REST[0]
        for n in range(1, REST.size):
            rest = rest * z + REST[n]
        found = (power - low) + (f - s * (f - rest * z)) * LOG2_E
        out[i] = min(math.floor(-steps * found), last)
