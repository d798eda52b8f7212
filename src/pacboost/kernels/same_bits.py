"""Exponentials and logarithms equal to numerics/same_bits.py, bit for bit, in compiled loops.

They take arrays of any shape; those on a GPU stay there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pacboost.kernels.native import native
from pacboost.kernels.runtime import Floats
from pacboost.kernels.runtime.jit import inline, kernel
from pacboost.numerics import same_bits
from pacboost.numerics.memory import lies_on_gpu
from pacboost.numerics.same_bits import LN2_HIGH, LN2_LOW, LOG2_E, ROOT_HALF

MAX_ARGUMENT = 700.0
"""The exponential of larger numbers is not a normal double."""
BIAS, FRACTION = np.int64(1023), np.int64(52)
"""The double 2^k has the bits (k + BIAS) << FRACTION."""


@inline
def exp_near_0(r: float) -> float:
    """Return exp(r) for |r| ≤ ln(2)/2: Taylor's series up to r^13/13!, which is off by 4e-18.

    It is written out, because a loop over its terms would prevent the vectorization of loops over
    rows.
    """
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    return p * r + 1.0


@kernel
def natural_exp(x: float) -> float:
    """Return exp(x) as 2^k times a polynomial, by additions and multiplications only."""
    clipped = min(max(x, -MAX_ARGUMENT), MAX_ARGUMENT)
    k = math.floor(clipped * LOG2_E + 0.5)
    r = (clipped - k * LN2_HIGH) - k * LN2_LOW
    return math.ldexp(exp_near_0(r), int(k))


@kernel
def exp_below_0(x: float) -> float:
    """Return exp(x) of a number that is 0 or less.

    2^k is a product of two powers: the first product is exact, so the result is rounded once, even
    if it is tiny. Without a branch or a table, loops are vectorized.
    """
    x = x if x > -same_bits.MAX_EXPONENT else -same_bits.MAX_EXPONENT
    k = np.floor(x * LOG2_E + 0.5)
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    p = exp_near_0(r)
    power = np.int64(k)
    half = power >> np.int64(1)
    first = np.int64((half + BIAS) << FRACTION).view(np.float64)  # numba 0.61 needs np.int64()
    rest = np.int64((power - half + BIAS) << FRACTION).view(np.float64)
    return float(p * first * rest)


@kernel
def natural_log(x: float) -> float:
    """Return ln x for a positive x, by additions, multiplications and divisions only.

    With x = 2^k·m and f = (m - 1)/(m + 1), ln m = 2(f + f³/3 + f⁵/5 + …); |f| ≤ 0.172, so the
    series up to f²³ is off by less than 1e-18.
    """
    m, k = math.frexp(x)
    if m < ROOT_HALF:
        m, k = 2.0 * m, k - 1
    f = (m - 1.0) / (m + 1.0)
    s = f * f
    p = 1.0 / 23.0
    p = p * s + 1.0 / 21.0
    p = p * s + 1.0 / 19.0
    p = p * s + 1.0 / 17.0
    p = p * s + 1.0 / 15.0
    p = p * s + 1.0 / 13.0
    p = p * s + 1.0 / 11.0
    p = p * s + 1.0 / 9.0
    p = p * s + 1.0 / 7.0
    p = p * s + 1.0 / 5.0
    p = p * s + 1.0 / 3.0
    p = p * s + 1.0
    return k * LN2_HIGH + (2.0 * f * p + k * LN2_LOW)


def exp(values: ArrayLike) -> Any:
    """Return the exponential of an array of any shape."""
    return _elementwise(native.exponentials, same_bits.exp, values)


def log(values: ArrayLike) -> Any:
    """Return the logarithm of an array of any shape."""
    return _elementwise(native.logarithms, same_bits.log, values)


def sigmoid(values: ArrayLike) -> Any:
    """Return 1/(1 + exp(-x)) of an array of any shape."""
    return _elementwise(native.sigmoids, same_bits.sigmoid, values)


def log_sigmoid(values: Floats) -> Any:
    """Return the logarithm of ``sigmoid``, finite even if that is 0."""
    return 0.0 - same_bits.softplus(-values, exp, log)


def softmax(rows: Floats) -> Any:
    """Return exp(x)/Σ exp(x) of every row."""
    if lies_on_gpu(rows):
        return same_bits.softmax(rows)
    less, raised, sums = _raised(rows)
    return np.divide(raised, sums[:, None], out=less)


def log_softmax(rows: Floats) -> Any:
    """Return the logarithm of ``softmax``."""
    if lies_on_gpu(rows):
        return same_bits.log_softmax(rows)
    less, _, sums = _raised(rows)
    return np.subtract(less, log(sums)[:, None], out=less)


def _raised(rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Return scores minus the largest of their row, their exponentials, and the sums of those."""
    scores = np.ascontiguousarray(rows, dtype=np.float64)
    (less, raised), sums = np.empty((2, *scores.shape)), np.empty(len(scores))
    native.raise_rows(scores, less, raised, sums)
    return less, raised, sums


def _elementwise(
    kernel: Callable[[Floats, Floats], None], by_numpy: Callable[[Any], Any], values: ArrayLike
) -> Any:
    if lies_on_gpu(values):
        return by_numpy(values)
    numbers = np.asarray(values, dtype=np.float64, order="C")
    out = np.empty(numbers.shape)
    kernel(numbers.reshape(-1), out.reshape(-1))
    return out[()]
