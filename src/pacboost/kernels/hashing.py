"""Hashes of rows (see samples/row_hashes.py), and random numbers that depend on row and key.

The compiled functions are in src/native/core/row_hashes.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.arrays import Wholes, Words
from pacboost.kernels.native import native
from pacboost.kernels.threads import each_rows
from pacboost.numerics.memory import lies_on_gpu

if TYPE_CHECKING:
    from pacboost.kernels.cuda.device import GpuArray

MISSING = np.uint64(0x9E3779B97F4A7C15)
"""The cell of missing values."""
BITS = 53
"""Random numbers are integers below 2**53, which are exact as floats."""


def rows_below(
    values: GpuArray, chosen: NDArray[np.intp] | None, columns: Wholes, factors: Words, salt: int,
    limit: int,
) -> NDArray[np.intp]:  # fmt: skip
    """Return the rows whose hash of some columns is below a limit; on a GPU, of those chosen."""
    if lies_on_gpu(values):
        from pacboost.kernels.cuda import encode

        return encode.rows_below(values, chosen, columns, factors, salt, limit)
    # A byte for each row, so that threads write apart; a list of rows would have to be joined.
    is_below = np.empty(len(values), dtype=np.bool_)
    each_rows(
        lambda a, b: native.below_limit(values[a:b], columns, factors, salt, limit, is_below[a:b]),
        len(values),
        width=columns.size,
    )
    return np.flatnonzero(is_below)
