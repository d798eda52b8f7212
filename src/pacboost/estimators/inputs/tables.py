"""Tables from what users pass as X: arrays, data frames, sparse matrices and our own tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import _get_feature_names, validate_data

from pacboost.errors import DataError, DenseWarning, OneClassWarning, warn
from pacboost.kernels.device import gpu_in_use
from pacboost.kernels.runtime.threads import each_rows
from pacboost.numerics.memory import as_cupy, lies_on_gpu
from pacboost.sources.arrays import ArrayTable, CategorisedArray, GpuTable
from pacboost.sources.categories import FROM_DTYPE, find_levels
from pacboost.sources.dataframe import columns_of, is_frame
from pacboost.sources.explained_errors import checked_by_scikit_learn, odd_cell, refuse_shape
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.levels import NO_LEVELS, Levels, is_missing
from pacboost.sources.sparse import SparseTable
from pacboost.sources.table import RecodedTable, Table, refuse_infinite
from pacboost.sources.written import part_of

# Warnings of estimators, each shown at the user's line that called the estimator.


def warn_of_one_class(classes: NDArray[Any], *, certified: bool = True) -> None:
    """Warn if there is one class only; where that leaves nothing to certify, say so, too."""
    if classes.size == 1:
        lacks = "" if certified else " and not certified"
        warn(
            f"y holds one class only ({classes.tolist()[0]!r}); the classifier is constant{lacks}",
            OneClassWarning,
        )


def warn_of_dense(table: Table) -> None:
    """Warn that a sparse table is held dense to be learned from."""
    warn(
        f"the sparse {table.n_rows} x {table.n_columns} matrix is held dense: one byte a cell "
        "where codes are read (two above 255 bins), eight elsewhere. BoostClassifier, "
        "AdaBoostClassifier and BoostRegressor keep it sparse for stumps and trees on numbers",
        DenseWarning,
    )


# Rows that come in the memory of a GPU, as CuPy arrays or whatever shares its memory with them.


def open_gpu_array(X: Any) -> Any:
    """Return a table of rows on the GPU; or an array for the CPU, where that is what boosts.

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


CELLS_CHECKED_BY_THREADS = 1_000_000
"""So many numbers are looked at by several threads; scikit-learn uses one."""


def open_table(estimator: Any, X: Any, *, reset: bool) -> Table:
    """Take X as it comes; ``reset`` is true in fit, where its width, names and levels are learned.

    An estimator that has ``categorical_features`` keeps the levels found as ``levels_``.
    """
    if not reset and _is_plain(estimator, X):
        return ArrayTable(X)
    X = _laid_flat(estimator, X, reset=reset)
    if lies_on_gpu(X):
        X = open_gpu_array(X)
    if isinstance(X, FrameTable):
        X = _as_chosen(estimator, X, reset=reset)
    if isinstance(X, Table):
        _check_own(estimator, X, reset=reset)
        return _with_levels(estimator, X, reset=reset)
    if is_frame(X):
        table = _of_frame(estimator, X, reset=reset)
        _refuse_empty(table)
        return _with_levels(estimator, table, reset=reset) if reset else table
    if not sparse.issparse(X) and hasattr(estimator, "categorical_features"):
        raw = np.asarray(X, dtype=None if hasattr(X, "dtype") else object)  # 1 is not "1"
        levels = _levels(estimator, raw, reset=reset) if raw.ndim == 2 and raw.size else NO_LEVELS
        if levels:
            with checked_by_scikit_learn():
                raw = validate_data(
                    estimator, raw, reset=reset, dtype=None, ensure_all_finite=False
                )
            return CategorisedArray(raw, levels)
    array = _checked_array(estimator, _without_na(X), reset=reset)
    if not sparse.issparse(array):
        return ArrayTable(array)
    stored = _with_levels(estimator, SparseTable(array), reset=reset)
    keeps = getattr(estimator, "_keeps_sparse", False) and stored.entries is not None
    if reset and not keeps:
        warn_of_dense(stored)
    return stored


def _of_frame(estimator: Any, X: Any, *, reset: bool) -> FrameTable:
    """Read a data frame: in fit as what its columns hold, after it as it was read in fit."""
    levels: Levels = getattr(estimator, "levels_", NO_LEVELS)
    names = None if reset else getattr(estimator, "feature_names_in_", None)
    names = None if names is None else [str(name) for name in names]
    if reset:
        estimator.__dict__.pop("levels_", None)
        choice = getattr(estimator, "categorical_features", None)
        table, levels = FrameTable.learn(X, choice, note=True), NO_LEVELS
        parted = len(table.names) > len(table.sources)
    else:
        parted = any(map(part_of, levels.written.values()))
    seen = hasattr(X, "iloc") or _get_feature_names(X) is not None  # pandas', or visible
    if seen and not parted:
        if names is None or not hasattr(X, "iloc") or names != X.columns.tolist():  # it takes long
            with checked_by_scikit_learn():
                validate_data(estimator, X, reset=reset, skip_check_array=True)
    elif reset:
        set_features(estimator, table.n_columns, table.names)
    else:
        _check_sources(estimator, columns_of(X), levels)
    return table if reset else FrameTable.like(X, names, levels)


def _as_chosen(estimator: Any, X: FrameTable, *, reset: bool) -> FrameTable:
    """Read columns that were read without the estimator with its choice of categories."""
    if reset:
        return X.choosing(getattr(estimator, "categorical_features", None))
    names, levels = (
        getattr(estimator, "feature_names_in_", None),
        getattr(estimator, "levels_", X.levels),
    )
    if names is None or X.levels == levels:
        return X
    return FrameTable.like(X.as_given, names.tolist(), levels, X.origin)


def _check_sources(estimator: Any, columns: Collection[str], levels: Levels) -> None:
    """Check the names of columns, of which a date became several in fit."""
    names = [str(name) for name in getattr(estimator, "feature_names_in_", ())]
    expected = list(dict.fromkeys(levels.sources(names)))
    if names and not ({*names} <= {*columns} or {*expected} <= {*columns}):
        raise DataError(
            "The feature names should match those that were passed during fit: got "
            f"{', '.join(columns)}; expected {', '.join(expected)}"
        )
    if not names:
        _check_width(estimator, len(columns))


def _check_width(estimator: Any, columns: int) -> None:
    if columns != estimator.n_features_in_:
        raise DataError(
            f"X has {columns} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )


def _is_plain(estimator: Any, X: Any) -> bool:
    """Check whether X is an array of floats that needs no further check.

    The checks below take a tenth of a millisecond, which is most of the time that one row takes.
    """
    if type(X) is not np.ndarray or X.dtype not in (np.float32, np.float64) or X.ndim != 2:
        return False
    if X.shape[0] == 0 or X.shape[1] != estimator.n_features_in_:
        return False
    levels: Levels = getattr(estimator, "levels_", NO_LEVELS)
    if hasattr(estimator, "feature_names_in_") or levels:
        return False
    return _no_infinity(X)


def _no_infinity(X: Any) -> bool:
    finite: list[bool] = []

    def task(start: int, stop: int) -> None:
        part = X[start:stop]
        with np.errstate(over="ignore", invalid="ignore"):
            total = part.sum()
        finite.append(bool(np.isfinite(total) or not np.isinf(part).any()))

    each_rows(task, X.shape[0], width=X.shape[1])
    return all(finite)


def _laid_flat(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Lay rows of several dimensions flat, where a black box gets them back in their shape."""
    if not getattr(estimator, "_takes_shapes", False):
        return X
    several = isinstance(X, np.ndarray) and X.ndim > 2
    if reset:
        estimator._row_shape = X.shape[1:] if several else ()
    if not several:
        return X
    if X.shape[1:] != estimator._row_shape:
        raise DataError(
            f"the rows of X have shape {X.shape[1:]}, but {type(estimator).__name__} was fitted to "
            f"rows of shape {estimator._row_shape or estimator.n_features_in_}"
        )
    return X.reshape(len(X), -1)


def set_features(estimator: Any, columns: int, names: Sequence[str] | None) -> None:
    """Set the number of features and their names, or forget the names of an earlier fit."""
    estimator.n_features_in_ = columns
    estimator.__dict__.pop("feature_names_in_", None)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def _without_na(X: Any) -> Any:
    """Replace what is missing in an array of objects (None, pandas' NA and NaT) by NaN."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "O":
        return X
    with np.errstate(invalid="ignore"):  # some processors report comparisons with NaN
        absent = np.frompyfunc(is_missing, 1, 1)(X).astype(np.bool_)
    return np.where(absent, np.nan, X) if absent.any() else X


def _levels(estimator: Any, data: Any, *, reset: bool) -> Levels:
    """Find the levels of categorical columns in fit, and give the same ones after it."""
    framed = isinstance(data, FrameTable)
    if not framed and not hasattr(estimator, "categorical_features"):
        return NO_LEVELS
    if reset:  # a frame's table knows its categories
        choice = FROM_DTYPE if framed else estimator.categorical_features
        estimator.levels_ = find_levels(data, choice)
    levels: Levels = estimator.levels_
    return levels


def _with_levels(estimator: Any, table: Table, *, reset: bool) -> Table:
    levels = _levels(estimator, table, reset=reset)
    return table if levels == table.levels else RecodedTable(table, levels)


def _checked_array(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check an array of numbers; cells are looked at one by one only if scikit-learn refuses it."""
    refuse_shape(X)
    large = type(X) is np.ndarray and X.dtype.kind == "f" and X.size >= CELLS_CHECKED_BY_THREADS
    checked = large and X.ndim == 2 and _no_infinity(X)
    try:
        with checked_by_scikit_learn():
            array = validate_data(
                estimator,
                X,
                reset=reset,
                accept_sparse=["csr", "csc"],
                dtype="numeric",
                ensure_all_finite=False if checked else "allow-nan",
            )
    except DataError as problem:
        if not sparse.issparse(X):
            _refuse_cells(X, problem)
        raise
    if array.dtype.kind not in "fiub":
        raise DataError(f"X holds {array.dtype}; numbers are needed. Encode text as numbers first.")
    return array


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


def _check_own(estimator: Any, table: Table, *, reset: bool) -> None:
    _refuse_empty(table)
    if table.entries is not None:
        table.entries.refuse_infinite()
    looked_at = table.entries is not None or table.far
    for first, block in () if looked_at else table.blocks():
        for j in range(block.shape[1]):
            refuse_infinite(block[:, j], repr(table.name(first + j)))
    _check_names(estimator, table, reset=reset)


def _check_names(estimator: Any, table: Table, *, reset: bool) -> None:
    """Check the names of columns where scikit-learn does not see them.

    Of frames other than pandas', some of its versions do not.
    """
    if reset:
        set_features(estimator, table.n_columns, table.names)
        return
    _check_width(estimator, table.n_columns)
    known = getattr(estimator, "feature_names_in_", None)
    if table.names is not None and known is not None and list(known) != list(table.names):
        raise DataError(
            "The feature names should match those that were passed during fit: got "
            f"{', '.join(table.names)}; expected {', '.join(known)}, in this order"
        )


def _refuse_empty(table: Table) -> None:
    what = "the data frame" if isinstance(table, FrameTable) else "the table"
    if table.n_columns == 0:
        raise DataError(f"{what} has no columns; at least one feature is needed")
    if table.n_rows == 0:
        raise DataError(f"{what} has no rows; at least one is needed")
