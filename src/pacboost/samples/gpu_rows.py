"""Rows in the memory of a GPU: CuPy arrays, and arrays of libraries that share memory with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacboost.errors import DataError
from pacboost.kernels.device import gpu_in_use
from pacboost.numerics.memory import as_cupy
from pacboost.sources.arrays import GpuTable


def open_gpu_array(X: Any) -> Any:
    """Return rows in GPU memory as a table, or as an array for the CPU if that does the boosting.

    Raises if the array is not a table of numbers.
    """
    import cupy

    array = as_cupy(X)
    if not gpu_in_use():
        return array.get()
    if array.ndim != 2:
        raise DataError(
            f"X has shape {array.shape}; a table of rows and columns is needed: reshape it"
        )
    if array.dtype.kind not in "fiub":
        raise DataError(f"X holds {array.dtype}; numbers are needed. Encode text as numbers first.")
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if not bool(cupy.isfinite(array.sum())) and bool(cupy.isinf(array).any()):
        row, column = (int(place[0]) for place in cupy.nonzero(cupy.isinf(array)))
        raise DataError(
            f"column {column} holds {float(array[row, column])} in row {row}; values have to be "
            "finite, or NaN where they are missing. Clip the infinite ones or make them missing."
        )
    return GpuTable(array)
