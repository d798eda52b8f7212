"""Select rows of any input of ``fit``; the result is the same kind of input."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import _num_samples

from pacboost.errors import DataError
from pacboost.sources.columns import Columns
from pacboost.sources.dataframe import is_frame, open_frame
from pacboost.sources.explained_errors import refuse_masked
from pacboost.sources.table import Table

Rows = NDArray[np.intp]


def number_of_rows(X: Any) -> int:
    """Return the number of rows of any input of ``fit``.

    >>> number_of_rows([["a"], ["b"]]), number_of_rows(np.zeros((3, 1)))
    (2, 3)
    """
    if isinstance(X, Table | Columns):
        return X.n_rows
    if isinstance(X, str | bytes) or getattr(X, "ndim", 2) == 0:
        raise DataError(f"X is a single {type(X).__name__}; give a table of rows and columns")
    refuse_masked(X, "X")  # before some of the rows are taken, which drops the mask
    shape = getattr(X, "shape", ())
    if sparse.issparse(X) and len(shape) != 2:
        raise DataError(f"X has shape {shape}; sparse rows need two dimensions")
    try:
        return int(_num_samples(X))
    except TypeError as problem:
        raise DataError(f"the rows of X cannot be counted: {problem}") from problem


def taken(X: Any, rows: Rows) -> Any:
    """Select rows of X; the result is the same kind of input.

    >>> taken(np.array([[1], [2], [3]]), np.array([0, 2])).tolist()
    [[1], [3]]
    """
    if isinstance(X, Table | Columns):
        return X.take(rows)
    if is_frame(X):
        return open_frame(X)[rows].to_native()
    if sparse.issparse(X):
        stored: Any = X
        return (stored if stored.format in ("csr", "csc") else stored.tocsr())[rows]
    if isinstance(X, list | tuple):
        return [X[row] for row in rows.tolist()]
    values = np.asarray(X)
    if values.ndim == 0:
        raise DataError(f"X is a {type(X).__name__}; give a table of rows and columns")
    return values[rows]


def alone(X: Any, rows: Rows) -> Any:
    """Select rows as if there were no others: the kinds of columns are found from these alone."""
    return X.alone(rows) if isinstance(X, Table) else taken(X, rows)
