"""Exponentials and logarithms equal to numerics/same_bits.py, bit for bit, in compiled loops.

They take arrays of any shape; those on a GPU stay there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pacboost.kernels.arrays import Floats
from pacboost.kernels.native import native
from pacboost.numerics import same_bits
from pacboost.numerics.memory import lies_on_gpu


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
    # Not a minus: 0 stays 0, where that would give -0.
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
    # A number, not an array without axes.
    return out[()]
