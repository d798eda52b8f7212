"""Sums, exponentials and logarithms that have the same bits with every build of NumPy.

NumPy's exp and log differ in the last bit between versions and processors, and its sums and
products of matrices are added up in an order that depends on the build and on the layout in
memory. These functions use additions, multiplications and divisions of single numbers in a fixed
order, which IEEE 754 defines to the last bit. Arrays may lie on a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.numerics.memory import in_host_memory

Floats = NDArray[np.float64]
Function = Callable[[Any], Any]

LOG2_E = 1.4426950408889634
LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")  # ln 2 to 32 bits, so that k·LN2_HIGH is exact
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")  # ln 2 - LN2_HIGH
TAYLOR = tuple(1.0 / math.factorial(n) for n in range(13, -1, -1))
"""For |r| ≤ ln(2)/2 the series up to r^13/13! is off by 4e-18."""
MAX_EXPONENT = 745.5
"""For larger x, exp(-x) is 0 and exp(x) is infinite."""
ATANH = tuple(2.0 / (2 * n + 1) for n in range(12, 0, -1))
"""For |s| ≤ 0.1716, the series of ln((1 + s)/(1 - s))/s - 2 up to s^24 is off by 1e-20."""
ROOT_HALF = math.sqrt(0.5)
ERFC_SERIES = (
    1.1540674772329393, 0.3554369212704985, 0.06509515882878653, 0.003671142395836639,
    -0.0011128447433526325, -0.0001607582991537808, 3.278031574173137e-05, 5.442441645505016e-06,
    -1.5154665553171482e-06, -1.4297608181169865e-07, 8.234608827419493e-08,
    -1.2962846852306563e-09, -4.154721631015199e-09, 6.347058278362811e-10, 1.4320822712256225e-10,
    -6.160390105204585e-11, 2.0612138554721698e-12, 3.5714931488477042e-12, -8.586422843251796e-13,
    -6.14560021379063e-14, 7.418725748596617e-14, -1.2895042755032325e-14, -2.358726385710632e-15,
    1.5729349381685912e-15, -2.2782966239546465e-16, -6.31233045075643e-17, 3.5916763531814925e-17,
    -5.049809149847729e-18,
)  # fmt: skip
MAX_NUMBERS_IN_PYTHON = 64
"""Maximum number of numbers to add in Python, which is then faster than NumPy's calls."""
MAX_NUMBERS_TO_COPY = 4_096
"""Maximum number of numbers to copy from a GPU and add on the CPU."""


def total(values: NDArray[Any]) -> float:
    """Return the sum of numbers, in an order that depends on their count alone.

    Halves are added to each other until one number is left, so that rounding stays small.
    """
    values_left = _doubles(values).reshape(-1)
    while values_left.size > MAX_NUMBERS_IN_PYTHON:
        if values_left.size <= MAX_NUMBERS_TO_COPY:
            values_left = in_host_memory(values_left)
        half = (values_left.size + 1) // 2
        rest, values_left = values_left[half:], values_left[:half].copy()
        values_left[: rest.size] += rest
    return _total_of_list(values_left.tolist())


def _total_of_list(values: list[float]) -> float:
    """Return ``total`` of a list, which is overwritten."""
    size = len(values)
    while size > 1:
        half = (size + 1) // 2
        for k in range(size - half):
            values[k] += values[half + k]
        size = half
    return values[0] if values else 0.0


def totals(rows: Floats) -> Floats:
    """Return ``total`` of every row, along the last axis."""
    while rows.shape[-1] > 1:
        half = (rows.shape[-1] + 1) // 2
        rest, rows = rows[..., half:], rows[..., :half].copy()
        rows[..., : rest.shape[-1]] += rest
    return rows[..., 0] if rows.shape[-1] else np.zeros(rows.shape[:-1])


def mean(values: NDArray[Any]) -> float:
    """Return the mean of numbers that are added up as ``total`` does."""
    return total(values) / max(1, values.size)


def row_totals(matrix: NDArray[Any]) -> Floats:
    """Return the sum of every row, added up from left to right."""
    sums = np.zeros_like(matrix, dtype=np.float64, shape=matrix.shape[:1])
    for column in matrix.T:
        sums += column
    return sums


def mean_of(arrays: Iterable[NDArray[Any]]) -> Floats:
    """Return the elementwise mean of arrays, added up in their order."""
    sums: Any = 0.0
    count = 0
    for array in arrays:
        sums, count = sums + array, count + 1
    return np.asarray(sums / count)


def product(matrix: NDArray[Any], other: NDArray[Any]) -> Floats:
    """Return the product of a matrix and a vector, or of two matrices."""
    if other.ndim == 2:
        return np.stack([row_totals(matrix * column) for column in other.T], axis=1)
    return row_totals(matrix * other)


def exp(values: ArrayLike) -> Any:
    """Return the exponential, as 2^k times a polynomial.

    >>> exp(np.array([0.0, 1.0, -800.0, 1000.0])).round(9).tolist()
    [1.0, 2.718281828, 0.0, inf]
    """
    x = np.clip(_doubles(values), -MAX_EXPONENT, MAX_EXPONENT)
    k = np.floor(x * LOG2_E + 0.5)
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    p = np.full_like(x, TAYLOR[0])
    for term in TAYLOR[1:]:
        p *= r
        p += term
    k = np.where(np.isnan(k), 0.0, k)
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(p, k.astype(np.int32))


def expm1(values: ArrayLike) -> Any:
    """Return exp(x) - 1, without losing small results.

    >>> expm1(np.array([1e-20, -800.0])).tolist()
    [1e-20, -1.0]
    """
    x = _doubles(values)
    raised = exp(x)
    is_limit = (raised == 1.0) | (raised == 0.0) | (raised == np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        exact = (raised - 1.0) * (x / log(raised))  # the rounding error of exp(x) cancels
    return np.where(is_limit, np.where(raised == 1.0, x, raised - 1.0), exact)


def log(values: ArrayLike) -> Any:
    """Return the logarithm of numbers that are 0 or more: -inf of 0.

    >>> log(np.array([1.0, 2.718281828459045, 0.0])).tolist()
    [0.0, 1.0, -inf]
    """
    k, high, low = _powers(values)
    return _outside(values, k * LN2_HIGH + (high - (low - k * LN2_LOW)))


def log1p(values: ArrayLike) -> Any:
    """Return ln(1 + x), without losing small results.

    >>> log1p(np.array([1e-20, -1.0])).tolist()
    [1e-20, -inf]
    """
    return _log1p(_doubles(values), log)


def _log1p(x: Floats, log: Function) -> Any:
    shifted = 1.0 + x
    rounding = (x - (shifted - 1.0)) / np.where(shifted > 0, shifted, 1.0)
    return log(shifted) + rounding


def log2(values: ArrayLike) -> Any:
    """Return the logarithm to base 2, whole for powers of 2.

    >>> log2(np.array([0.25, 1024.0])).tolist()
    [-2.0, 10.0]
    """
    k, high, low = _powers(values)
    return _outside(values, k + (high - low) * LOG2_E)


def _powers(values: ArrayLike) -> tuple[Any, Any, Any]:
    """Write numbers as 2^k·(1 + f), with 1 + f between √½ and √2; return k, and ln(1 + f) in parts.

    With s = f/(2 + f), ln(1 + f) is ln((1 + s)/(1 - s)) = f - s·(f - R), where R is the rest of a
    series in s².
    """
    fraction, power = np.frexp(_doubles(values))
    low = fraction < ROOT_HALF
    f = np.where(low, 2 * fraction, fraction) - 1.0
    with np.errstate(invalid="ignore", divide="ignore"):
        s = f / (2.0 + f)
        z = s * s
        rest = np.full_like(f, ATANH[0])
        for term in ATANH[1:]:
            rest = rest * z + term
        return (power - low).astype(np.float64), f, s * (f - rest * z)


def _outside(values: ArrayLike, logarithms: Floats) -> Any:
    """Set the logarithms of 0, of infinity and of negative numbers."""
    x = _doubles(values)
    logarithms = np.where(x == np.inf, np.inf, logarithms)
    return np.where(x > 0, logarithms, np.where(x == 0, -np.inf, np.nan))


def _doubles(values: Any) -> Any:
    """Return an array of doubles, on the GPU if the values lie there."""
    is_array = hasattr(values, "astype")
    return values.astype(np.float64, copy=False) if is_array else np.asarray(values, np.float64)


def log_of(number: float) -> float:
    """Return the logarithm of one number above 0."""
    return float(log(np.array([number]))[0])


def sigmoid(values: Floats) -> Any:
    """Return 1/(1 + exp(-x)).

    >>> sigmoid(np.array([0.0, -800.0, 800.0])).tolist()
    [0.5, 0.0, 1.0]
    """
    small = exp(-np.abs(values))
    return np.where(values >= 0, 1.0, small) / (1.0 + small)


def softplus(values: Floats, exp: Function = exp, log: Function = log) -> Any:
    """Return ln(1 + exp(x)), without losing small results.

    >>> softplus(np.array([-800.0, 800.0])).tolist()
    [0.0, 800.0]
    """
    return np.maximum(values, 0.0) + _log1p(exp(-np.abs(values)), log)


def erfc(values: Floats | float) -> Floats:
    """Return 1 - erf(x), with a small relative error for large x too.

    For x ≥ 0, exp(x²)·erfc(x) is smooth in t = 1/(1 + x/2), from 0 at infinity to 1 at t = 1.
    Divided by t it is a series of Chebyshev polynomials in 2t - 1, whose coefficients were computed
    with 50 digits from the definition.

    >>> erfc(np.array([0.0, 1.0, 5.0, -3.0])).round(9).tolist()
    [1.0, 0.157299207, 0.0, 1.99997791]
    """
    x = np.asarray(values, dtype=np.float64)
    size = np.abs(x)
    t = 1.0 / (1.0 + 0.5 * size)
    double = 2.0 * (2.0 * t - 1.0)
    last = before = np.zeros(x.shape)
    for coefficient in ERFC_SERIES[:0:-1]:  # Clenshaw's recurrence
        last, before = double * last - before + coefficient, last
    scaled = t * (0.5 * double * last - before + 0.5 * ERFC_SERIES[0])
    near = np.minimum(np.rint(size * 16.0) / 16.0, 64.0)  # its square is exact
    small = scaled * (exp(-near * near) * exp(-(size - near) * (size + near)))
    return np.asarray(np.where(x >= 0, small, 2.0 - small))


def log_sum_exp(rows: Floats) -> Any:
    """Return ln Σ exp(x) of every row.

    >>> log_sum_exp(np.array([[0.0, 0.0], [1000.0, -1000.0]])).round(6).tolist()
    [0.693147, 1000.0]
    """
    top = rows.max(axis=1)
    return top + log(row_totals(exp(rows - top[:, None])))


def softmax(rows: Floats) -> Any:
    """Return exp(x)/Σ exp(x) of every row.

    >>> softmax(np.array([[0.0, 0.0]])).tolist()
    [[0.5, 0.5]]
    """
    raised = exp(rows - rows.max(axis=1, keepdims=True))
    return raised / row_totals(raised)[:, None]


def log_softmax(rows: Floats) -> Any:
    """Return the logarithm of ``softmax``.

    >>> log_softmax(np.array([[0.0, 0.0]])).round(3).tolist()
    [[-0.693, -0.693]]
    """
    less = rows - rows.max(axis=1, keepdims=True)
    return less - log(row_totals(exp(less)))[:, None]


def solved(matrix: Floats, sides: Floats) -> Floats:
    """Solve matrix·x = side for every column of ``sides``, for a positive definite matrix.

    LAPACK would be faster, but the order of its sums depends on the build and threads of a BLAS.

    >>> solved(np.array([[4.0, 2.0], [2.0, 3.0]]), np.array([[8.0], [7.0]])).tolist()
    [[1.25], [1.5]]
    """
    size = len(matrix)
    rest = np.concatenate([matrix, sides], axis=1)
    for i in range(size - 1):
        factors = rest[i + 1 :, i] / rest[i, i]
        rest[i + 1 :, i:] -= factors[:, None] * rest[i, i:]
    x = np.empty(sides.shape)
    for i in range(size - 1, -1, -1):
        x[i] = rest[i, size:] / rest[i, i]
        rest[:i, size:] -= rest[:i, i, None] * x[i]
    return x
