"""Exponentials and logarithms of numerics/same_bits.py, bit for bit, without NumPy's many passes.

A thread that calls NumPy thirty times for one array takes and gives back the interpreter's lock as
often, and waits for it each time where other threads do the same. These loops are entered once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.exp_log import BIAS, FRACTION, exp_below_0
from pacboost.kernels.runtime.jit import inline, kernel
from pacboost.numerics import same_bits
from pacboost.numerics.same_bits import ATANH, FARTHEST, LN2_HIGH, LN2_LOW, LOG2_E, ROOT_HALF

Floats = NDArray[np.float64]

ROWS_WORTH_COMPILING = 2_048
"""On fewer rows, NumPy takes some 0.1 ms."""
LEAST_NORMAL = 2.0**-1022
UP = 2.0**54


def exp(values: Any) -> Any:
    """Return the exponential of an array of any shape."""
    return _elementwise(exponentials, same_bits.exp, values)


def log(values: Any) -> Any:
    """Return the logarithm of an array of any shape."""
    return _elementwise(logarithms, same_bits.log, values)


def sigmoid(values: Any) -> Any:
    """Return 1/(1 + exp(-x)) of an array of any shape."""
    return _elementwise(sigmoids, same_bits.sigmoid, values)


def log_sigmoid(values: Any) -> Any:
    """Return the logarithm of ``sigmoid``, also where that is 0."""
    return 0.0 - same_bits.softplus(-values, exp, log)


def softmax(rows: Any) -> Any:
    """Return exp(x)/Σ exp(x) of every row."""
    if _few(rows):
        return same_bits.softmax(rows)
    less, raised, sums = _raised(rows)
    return np.divide(raised, sums[:, None], out=less)


def log_softmax(rows: Any) -> Any:
    """Return the logarithm of ``softmax``."""
    if _few(rows):
        return same_bits.log_softmax(rows)
    less, _, sums = _raised(rows)
    return np.subtract(less, log(sums)[:, None], out=less)


def _raised(rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Return numbers less the largest of their row, exponentials of these, and their sums."""
    given = np.ascontiguousarray(rows, dtype=np.float64)
    less, sums = np.empty(given.shape), np.empty(len(given))
    below_largest(given, less)
    raised = exp(less)
    add_rows(raised, sums)
    return less, raised, sums


def _few(values: Any) -> bool:
    return not isinstance(values, np.ndarray) or values.size < ROWS_WORTH_COMPILING


def _elementwise(many: Any, few: Any, values: Any) -> Any:
    if _few(values):
        return few(values)
    given = np.ascontiguousarray(values, dtype=np.float64)
    out = np.empty(given.shape)
    many(given.reshape(-1), out.reshape(-1))
    return out


@kernel
def exponentials(values: Floats, out: Floats) -> None:
    """Write the exponential of every number."""
    for i in range(values.size):
        x = values[i] if values[i] < FARTHEST else FARTHEST
        out[i] = exp_below_0(x) if values[i] == values[i] else values[i]


@kernel
def logarithms(values: Floats, out: Floats) -> None:
    """Write the logarithm of every number."""
    for i in range(values.size):
        x = values[i]
        k, f, low = powers(x)
        found = k * LN2_HIGH + (f - (low - k * LN2_LOW))
        edge = -np.inf if x == 0.0 else (x if x > 0.0 else np.nan)
        out[i] = found if 0.0 < x < np.inf else edge


@kernel
def below_largest(rows: Floats, out: Floats) -> None:
    """Write every number of a row less the largest of them."""
    for i in range(rows.shape[0]):
        top = rows[i, 0]
        for k in range(rows.shape[1]):
            top = rows[i, k] if rows[i, k] > top else top
        for k in range(rows.shape[1]):
            out[i, k] = rows[i, k] - top


@kernel
def add_rows(rows: Floats, out: Floats) -> None:
    """Write the sum of every row, added up from left to right."""
    for i in range(rows.shape[0]):
        total = 0.0
        for k in range(rows.shape[1]):
            total += rows[i, k]
        out[i] = total


@kernel
def sigmoids(values: Floats, out: Floats) -> None:
    """Write 1/(1 + exp(-x)) of every number."""
    for i in range(values.size):
        small = exp_below_0(-abs(values[i]))
        out[i] = (1.0 if values[i] >= 0 else small) / (1.0 + small)


@kernel
def steps_below_1(values: Floats, steps: float, last: int, out: NDArray[np.uint8]) -> None:
    """Write ⌊-steps·log₂(value)⌋ of numbers in [0, 1], but ``last`` at most."""
    for i in range(values.size):
        if values[i] == 0.0:
            out[i] = last
            continue
        k, f, low = powers(values[i])
        out[i] = min(math.floor(-steps * (k + (f - low) * LOG2_E)), last)


@inline
def powers(x: float) -> tuple[float, float, float]:
    """Write x as 2^k·(1 + f); return k, f, and f - ln(1 + f)."""
    tiny = x < LEAST_NORMAL
    bits = np.float64(x * UP if tiny else x).view(np.int64)
    power = (bits >> FRACTION) - (BIAS - np.int64(1)) - (np.int64(54) if tiny else np.int64(0))
    whole = (bits & np.int64(2**52 - 1)) | ((BIAS - np.int64(1)) << FRACTION)
    fraction = np.int64(whole).view(np.float64)
    small = fraction < ROOT_HALF
    f = (2 * fraction if small else fraction) - 1.0
    s = f / (2.0 + f)
    z = s * s
    rest = ATANH[0] * z + ATANH[1]
    rest = rest * z + ATANH[2]
    rest = rest * z + ATANH[3]
    rest = rest * z + ATANH[4]
    rest = rest * z + ATANH[5]
    rest = rest * z + ATANH[6]
    rest = rest * z + ATANH[7]
    rest = rest * z + ATANH[8]
    rest = rest * z + ATANH[9]
    rest = rest * z + ATANH[10]
    rest = rest * z + ATANH[11]
    return float(power - small), f, s * (f - rest * z)
