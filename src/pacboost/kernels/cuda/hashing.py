"""Hashes of rows in the memory of a GPU: the twin of kernels/hashing.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.cuda.device import to_gpu
from pacboost.kernels.cuda.encode import Rows, pieces
from pacboost.kernels.cuda.module import encode_kernel

whole = np.int64


def near_below(
    values: Any, chosen: Rows | None, columns: NDArray[np.int64], steps: NDArray[np.float64],
    factors: NDArray[np.uint64], salt: int, limit: int,
) -> Rows:  # fmt: skip
    """Give the rows of which the hash of some columns is below a limit."""
    import cupy

    kernel, found = encode_kernel("near_below"), []
    tables = [to_gpu(table) for table in (columns, steps, factors)]
    for first, part, stream in pieces(values, chosen):
        below = cupy.empty(len(part), np.bool_)
        row_step, column_step = (step // part.itemsize for step in part.strides)
        with stream:
            kernel((2_048,), (256,), (
                part, whole(part.itemsize), whole(row_step), whole(column_step), whole(len(part)),
                tables[0], whole(columns.size), *tables[1:], np.uint64(salt), np.uint64(limit),
                below,
            ))  # fmt: skip
            found.append(first + cupy.flatnonzero(below).get())
    return np.concatenate(found)
