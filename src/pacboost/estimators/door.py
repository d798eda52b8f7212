"""The door: what users hand in becomes a table, signs and weights, or an error that helps."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import (
    check_classification_targets,
    is_multilabel,
    type_of_target,
)
from sklearn.utils.validation import column_or_1d, validate_data

from pacboost.errors import DataError, DenseWarning, ParameterError
from pacboost.sources.arrays import ArrayTable, CategorisedArray
from pacboost.sources.categories import find_levels
from pacboost.sources.dataframe import FrameTable, is_frame
from pacboost.sources.levels import NO_LEVELS, Levels
from pacboost.sources.sparse import SparseTable
from pacboost.sources.table import RecodedTable, Table, refuse_infinite

MOST_TARGET = 1e100
PACKAGE = str(Path(__file__).parents[1])


def open_table(estimator: Any, X: Any, *, reset: bool) -> Table:
    """Take X as it comes; ``reset`` is true in fit, where its width, names and levels are learned.

    An estimator that has ``categorical_features`` keeps the levels found as ``levels_``.
    """
    if isinstance(X, Table):
        _check_own(estimator, X, reset=reset)
        return _with_levels(estimator, X, reset=reset)
    if is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        table: Table = FrameTable(X, _levels(estimator, X, reset=reset))
        _refuse_empty(table)
        return table
    if not sparse.issparse(X) and hasattr(estimator, "categorical_features"):
        raw = np.asarray(X, dtype=None if hasattr(X, "dtype") else object)  # 1 is not "1"
        levels = _levels(estimator, raw, reset=reset) if raw.ndim == 2 and raw.size else NO_LEVELS
        if levels:
            raw = validate_data(estimator, raw, reset=reset, dtype=None, ensure_all_finite=False)
            return CategorisedArray(raw, levels)
    array = _checked_array(estimator, X, reset=reset)
    if not sparse.issparse(array):
        return ArrayTable(array)
    stored = _with_levels(estimator, SparseTable(array), reset=reset)
    keeps = getattr(estimator, "_keeps_sparse", False) and stored.entries is not None
    if reset and not keeps:
        warn_of_dense(stored)
    return stored


def warn_of_dense(table: Table) -> None:
    """Say, where the user called, that a sparse table is opened up to be learned from."""
    frame: FrameType | None = sys._getframe()
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(
        f"the sparse {table.n_rows} x {table.n_columns} matrix is held dense: one byte a cell "
        "where codes are read (two above 255 bins), eight elsewhere. BoostClassifier, "
        "AdaBoostClassifier and BoostRegressor keep it sparse for stumps and trees on numbers",
        DenseWarning,
        stacklevel=level,
    )


def _levels(estimator: Any, data: Any, *, reset: bool) -> Levels:
    """Find the levels of categorical columns in fit, and give the same ones after it."""
    if not hasattr(estimator, "categorical_features"):
        return NO_LEVELS
    if reset:
        estimator.levels_ = find_levels(data, estimator.categorical_features)
    levels: Levels = estimator.levels_
    return levels


def _with_levels(estimator: Any, table: Table, *, reset: bool) -> Table:
    levels = _levels(estimator, table, reset=reset)
    return table if levels == table.levels else RecodedTable(table, levels)


def _checked_array(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Let scikit-learn check an array, and say what to do about what it finds."""
    try:
        array = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse=["csc", "csr"],
            dtype="numeric",
            ensure_all_finite="allow-nan",
        )
    except ValueError as problem:
        message = str(problem)
        if "infinity" in message and not sparse.issparse(X):
            values = np.asarray(X, dtype=np.float64)
            column = int(np.argwhere(np.isinf(values))[0, 1])
            refuse_infinite(values[:, column], str(column))
        if "could not convert" in message:
            raise DataError(
                f"X holds text: {message}. Encode text as numbers (for example with "
                "scikit-learn's OrdinalEncoder or OneHotEncoder) or drop those columns."
            ) from problem
        raise
    if array.dtype.kind not in "fiub":
        raise DataError(f"X holds {array.dtype}; numbers are needed. Encode text as numbers first.")
    return array


def _check_own(estimator: Any, table: Table, *, reset: bool) -> None:
    """Check a table of ours as scikit-learn would check an array."""
    _refuse_empty(table)
    if table.entries is not None:
        table.entries.refuse_infinite()
    for first, block in () if table.entries is not None else table.blocks():
        for j in range(block.shape[1]):
            refuse_infinite(block[:, j], repr(table.name(first + j)))
    if reset:
        estimator.n_features_in_ = table.n_columns
        estimator.__dict__.pop("feature_names_in_", None)
        if table.names is not None:
            estimator.feature_names_in_ = np.array(table.names, dtype=object)
        return
    if table.n_columns != estimator.n_features_in_:
        raise DataError(
            f"X has {table.n_columns} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
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


def read_labels(y: Any, rows: int, *, several: bool = False) -> NDArray[Any]:
    """Check labels: one per row, none missing.

    Where a row may have ``several``, y may also hold a column of 0 and 1 for each of them.
    """
    if y is None:
        raise DataError("this classifier requires y to be passed, but the target y is None")
    with np.errstate(invalid="ignore"):  # labels that are missing are looked for below
        matrix = several and is_multilabel(y)
    if matrix:
        dense: Any = y.toarray() if hasattr(y, "toarray") else y
        labels: NDArray[Any] = np.asarray(dense)
        if not np.isin(labels, (0, 1)).all():
            strange = labels[~np.isin(labels, (0, 1))][0].item()
            raise DataError(
                f"y is a matrix that holds {strange!r}; with several labels a row it has a column "
                "for each label, 1 where the row has it and 0 where not"
            )
    else:
        labels = column_or_1d(y, warn=True)
    if labels.shape[0] != rows:
        raise DataError(f"X has {rows} rows but y has {labels.shape[0]}; they must be as many")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        what = "NaN" if np.isnan(labels).any() else "infinity"
        raise DataError(f"Input y contains {what}. Every row needs a label: drop the others.")
    if labels.dtype.kind == "O" and any(_is_absent(label) for label in labels):
        raise DataError("y holds missing labels (None or NaN); drop those rows")
    try:
        check_classification_targets(labels)
    except ValueError as problem:
        raise DataError(
            f"{problem} Labels name classes: give text, whole numbers or booleans."
        ) from problem
    except TypeError as problem:
        kinds = sorted({type(label).__name__ for label in labels})
        raise DataError(
            f"y mixes labels of kinds {', '.join(kinds)}, which cannot be put in order; make them "
            "all text or all numbers"
        ) from problem
    return labels


def read_targets(y: Any, rows: int, name: str = "y") -> NDArray[np.float64]:
    """Check the numbers to predict: one per row, all finite."""
    if y is None:
        raise DataError("this regressor requires y to be passed, but the target y is None")
    try:
        values = column_or_1d(y, warn=True)
    except ValueError as problem:
        raise DataError(
            f"{problem} {name} has to hold one number a row; fit one regressor for each column"
        ) from problem
    if values.shape[0] != rows:
        raise DataError(f"X has {rows} rows but {name} has {values.shape[0]}; they must be as many")
    if values.dtype.kind == "O" and any(_is_absent(value) for value in values):
        raise DataError(f"{name} holds missing values (None or NaN); drop those rows")
    try:
        if values.dtype.kind not in "biufO" or any(isinstance(value, str) for value in values[:1]):
            raise TypeError(f"{values[0]!r}")
        targets: NDArray[np.float64] = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as problem:
        raise DataError(
            f"{name} has to hold numbers ({problem}). To predict classes, take BoostClassifier"
        ) from problem
    if not np.isfinite(targets).all():
        what = "NaN" if np.isnan(targets).any() else "infinity"
        raise DataError(f"Input {name} contains {what}. Every row needs a number: drop the others.")
    worst = float(targets[np.abs(targets).argmax()])
    if worst and not 1 / MOST_TARGET <= abs(worst) <= MOST_TARGET:
        raise DataError(
            f"the largest number in {name} is {worst:g}; between {1 / MOST_TARGET:g} and "
            f"{MOST_TARGET:g} their squares can be added up. Rescale them, or predict logarithms"
        )
    return targets


def _is_absent(label: Any) -> bool:
    """None, NaN, and pandas' NA, which answers neither yes nor no."""
    try:
        return label is None or bool(label != label)  # noqa: PLR0124
    except TypeError:
        return True


def two_classes(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int8]]:
    """Give the classes, and +1 for rows of the last one, -1 for the others."""
    classes, codes = np.unique(labels, return_inverse=True)
    if classes.size > 2:
        raise DataError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(labels)}: y holds {classes.size} classes."
        )
    return classes, np.where(codes == classes.size - 1, np.int8(1), np.int8(-1))


def read_weights(weights: Any, rows: int) -> NDArray[np.float64] | None:
    """Check weights: one per row, finite, not negative, not all zero; None if all are equal."""
    if weights is None:
        return None
    values = np.asarray(weights, dtype=np.float64)
    if values.ndim == 0:
        values = np.full(rows, float(values))
    if values.ndim != 1:
        raise DataError(f"Sample weights must be 1D array or scalar; got shape {values.shape}")
    if values.size != rows:
        raise DataError(f"X has {rows} rows but sample_weight has {values.size}")
    if not np.isfinite(values).all():
        raise DataError("sample_weight holds NaN or infinity; weights have to be finite")
    if (values < 0).any():
        worst = int(values.argmin())
        raise DataError(
            f"Negative values in sample_weight: row {worst} has {values[worst]}. A weight says how "
            "much a row counts; 0 leaves it out"
        )
    if not (values > 0).any():
        raise DataError("sample_weight is zero everywhere; at least one row has to count")
    if (values == values[0]).all():
        return None
    # Only ratios count; the largest becomes 1, and none that was above 0 vanishes.
    scaled: NDArray[np.float64] = values / values.max()
    np.maximum(scaled, np.finfo(np.float64).tiny, out=scaled, where=values > 0)
    return scaled


def at_least_one(name: str, value: Any) -> int:
    """Check a whole number that has to be 1 or more."""
    if not _is_whole(value) or value < 1:
        raise ParameterError(f"{name} is {value!r}; it must be a whole number, 1 or more")
    return int(value)


def whole(name: str, value: Any) -> int:
    """Check a whole number."""
    if not _is_whole(value):
        raise ParameterError(f"{name} is {value!r}; it must be a whole number")
    return int(value)


def number(name: str, value: Any) -> Any:
    """Check a number of any kind."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError(f"{name} is {value!r}; it must be a number")
    return value


def functions(name: str, value: Any) -> list[Callable[..., Any]]:
    """Check a sequence of functions, or None."""
    if value is None:
        return []
    parts: list[Any] = list(value) if isinstance(value, Iterable) else [None]
    if not all(callable(part) for part in parts):
        raise ParameterError(f"{name} is {value!r}; it must be a list of functions")
    return parts


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
