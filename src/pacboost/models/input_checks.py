"""Checks of tables and arrays of numbers: their shape, and cells that are text or infinite."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from pacboost.errors import DataError, DenseWarning, warn
from pacboost.kernels.threads import each_rows
from pacboost.numerics.memory import lies_on_gpu
from pacboost.sources.explained_errors import (
    checked_by_scikit_learn,
    odd_cell,
    refuse_masked,
    refuse_shape,
)
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.table import Table, refuse_infinite
from pacboost.sources.values import is_missing

CELLS_CHECKED_BY_THREADS = 1_000_000
"""This many numbers are checked by several threads; scikit-learn uses one."""


def warn_of_dense(table: Table) -> None:
    """Warn that a sparse table is converted to a dense one for training."""
    warn(
        f"the sparse {table.n_rows} x {table.n_columns} matrix is converted to a dense one: "
        "a cell takes one byte as a code (two above 255 bins), else eight. BoostClassifier, "
        "AdaBoostClassifier and BoostRegressor keep it sparse for stumps and trees on numbers",
        DenseWarning,
    )


def no_infinity(X: NDArray[Any]) -> bool:
    """Check whether no number is infinite, by several threads."""
    finite: list[bool] = []

    def task(start: int, stop: int) -> None:
        part = X[start:stop]
        with np.errstate(over="ignore", invalid="ignore"):
            total = part.sum()
        finite.append(bool(np.isfinite(total) or not np.isinf(part).any()))

    each_rows(task, X.shape[0], width=X.shape[1])
    return all(finite)


def checked_array(stand_in: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """Check an array of numbers; single cells are checked only if scikit-learn refuses it."""
    X = _without_na(X)
    refuse_shape(X)
    large = type(X) is np.ndarray and X.dtype.kind == "f" and X.size >= CELLS_CHECKED_BY_THREADS
    checked = large and X.ndim == 2 and no_infinity(X)
    try:
        with checked_by_scikit_learn():
            array = validate_data(
                stand_in, X, reset=reset, accept_sparse=["csr", "csc"], dtype="numeric",
                ensure_all_finite=False if checked else "allow-nan",
            )  # fmt: skip
    except DataError as problem:
        if not sparse.issparse(X):
            _refuse_cells(X, problem)
        raise
    if array.dtype.kind not in "fiub":
        raise DataError(f"X holds {array.dtype}; numbers are needed. Encode text as numbers first.")
    return array


def _without_na(X: Any) -> Any:
    """Replace missing cells (None, pandas' NA and NaT) of an object array by NaN."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "O":
        return X
    with np.errstate(invalid="ignore"):  # some processors report comparisons with NaN
        absent = np.frompyfunc(is_missing, 1, 1)(X).astype(np.bool_)
    return np.where(absent, np.nan, X) if absent.any() else X


def _refuse_cells(X: Any, problem: DataError) -> None:
    """Raise an error that names the first cell that is text, odd or infinite, if there is one."""
    cell = odd_cell(X, text=True)
    if cell is not None:
        reason = " ".join(str(problem).split())
        raise type(problem)(
            f"{cell}; numbers are needed. Encode text as numbers (for example with scikit-learn's "
            f"OrdinalEncoder or OneHotEncoder) or drop the column ({reason})"
        ) from problem
    values = np.asarray(X)
    if values.dtype.kind in "fO" and values.ndim == 2 and values.size:
        for column, cells in enumerate(values.T):
            refuse_infinite(cells.astype(np.float64), str(column))


def check_cells(table: Table) -> None:
    """Raise if a table is empty or holds infinity."""
    refuse_empty(table)
    if table.entries is not None:
        table.entries.refuse_infinite()
    elif not table.far:
        for first, block in table.blocks():
            for j in range(block.shape[1]):
                refuse_infinite(block[:, j], repr(table.name(first + j)))


def refuse_empty(table: Table) -> None:
    """Raise if a table has no columns or no rows."""
    what = "the data frame" if isinstance(table, FrameTable) else "the table"
    if table.n_columns == 0:
        raise DataError(f"{what} has no columns; at least one feature is needed")
    if table.n_rows == 0:
        raise DataError(f"{what} has no rows; at least one is needed")


def in_reach(X: Any) -> Any:
    """Return rows in GPU memory as a table, or copied to the CPU."""
    if isinstance(X, np.ndarray | list) or sparse.issparse(X) or not lies_on_gpu(X):
        return X
    from pacboost.samples.gpu_rows import open_gpu_array

    return open_gpu_array(X)


def validated(stand_in: BaseEstimator, raw: NDArray[Any], *, reset: bool) -> Any:
    """Check cells of any kind as scikit-learn does."""
    with checked_by_scikit_learn():
        return validate_data(stand_in, raw, reset=reset, dtype=None, ensure_all_finite=False)


def raw_cells(X: Any) -> NDArray[Any]:
    """Return cells as they are: in an array of text, 1 would be "1"."""
    refuse_masked(X, "X")
    return np.asarray(X, dtype=None if hasattr(X, "dtype") else object)
