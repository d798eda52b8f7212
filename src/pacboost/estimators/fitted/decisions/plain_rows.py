"""Rows of any kind as numbers that can be hashed, for models of other libraries."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacboost.sources.arrays import ArrayTable
from pacboost.sources.columns import Columns
from pacboost.sources.dataframe import is_frame


def plain_rows(X: Any) -> ArrayTable:
    """Give numbers as they are, and a number made from every text.

    >>> plain_rows([["a", 1], ["b", 2]]).n_rows
    2
    """
    if isinstance(X, ArrayTable):
        return X
    if is_frame(X):
        cells = [np.asarray(own.to_numpy()) for own in Columns.of(X).cells.values()]
        return ArrayTable(np.column_stack([_numbers(own) for own in cells]))
    if sparse.issparse(X):
        matrix: Any = X
        rows = matrix.tocsr(copy=True)
        rows.sum_duplicates()
        ends = zip(rows.indptr, rows.indptr[1:], strict=False)
        keys = [rows.indices[a:b].tobytes() + rows.data[a:b].tobytes() for a, b in ends]
        return ArrayTable(np.array([[_number(key)] for key in keys]))
    values = np.asarray(X, None if hasattr(X, "__array__") else object)
    if values.ndim == 1:
        return ArrayTable(_numbers(values)[:, None])
    lines = values.reshape(len(values), -1)
    return ArrayTable(np.column_stack([_numbers(lines[:, j]) for j in range(lines.shape[1])]))


def _numbers(cells: NDArray[Any]) -> NDArray[np.float64]:
    if cells.dtype.kind in "fiub":
        return cells.astype(np.float64)
    return np.array([_number(str(cell).encode()) for cell in cells.tolist()])


def _number(key: bytes) -> float:
    return float(int.from_bytes(hashlib.blake2b(key, digest_size=6).digest(), "big"))
