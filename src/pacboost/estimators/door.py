"""The door: what users hand in becomes a table, signs and weights, or an error that helps."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import assert_all_finite, column_or_1d, validate_data

from pacboost.errors import DataError, ParameterError
from pacboost.learners.function import FunctionLearner
from pacboost.learners.learner import Learner
from pacboost.learners.sklearn import SklearnLearner
from pacboost.learners.stump import StumpLearner
from pacboost.sources.arrays import ArrayTable, SparseTable
from pacboost.sources.dataframe import FrameTable, is_frame
from pacboost.sources.table import Table


def open_table(estimator: Any, X: Any, *, reset: bool) -> Table:
    """Take X as it comes; ``reset`` is true in fit, where its width and names are learned."""
    if isinstance(X, Table):
        return _open_own(estimator, X, reset=reset)
    if is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        table: Table = FrameTable(X)
        if table.n_rows == 0:
            raise DataError("the data frame has no rows; at least one is needed")
        return table
    array = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=["csc", "csr"],
        dtype="numeric",
        ensure_all_finite="allow-nan",
    )
    if sparse.issparse(array):
        return SparseTable(array)
    if array.dtype.kind not in "fiub":
        raise DataError(f"X holds {array.dtype}; numbers are needed. Encode text as numbers first.")
    return ArrayTable(array)


def _open_own(estimator: Any, table: Table, *, reset: bool) -> Table:
    """Check a table of ours as scikit-learn would check an array."""
    if reset:
        estimator.n_features_in_ = table.n_columns
        if table.names is not None:
            estimator.feature_names_in_ = np.array(table.names, dtype=object)
    elif table.n_columns != estimator.n_features_in_:
        raise DataError(
            f"X has {table.n_columns} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    return table


def read_labels(y: Any, rows: int) -> NDArray[Any]:
    """Check labels: one per row, none missing."""
    if y is None:
        raise DataError("this classifier requires y to be passed, but the target y is None")
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    if labels.shape[0] != rows:
        raise DataError(f"X has {rows} rows but y has {labels.shape[0]}; they must be as many")
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    elif labels.dtype.kind == "O" and any(v is None or v != v for v in labels):  # noqa: PLR0124
        raise DataError("y holds missing labels (None or NaN); drop those rows")
    check_classification_targets(labels)
    return labels


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
    return None if (values == values[0]).all() else values


def as_learner(estimator: Any) -> Learner:
    """Take None (stumps), a learner of ours, a scikit-learn classifier, or a plain function."""
    if estimator is None:
        return StumpLearner()
    if isinstance(estimator, Learner):
        return estimator
    if hasattr(estimator, "fit") and not inspect.isclass(estimator):
        return SklearnLearner(estimator)
    if callable(estimator) and not inspect.isclass(estimator):
        return FunctionLearner(estimator)
    raise ParameterError(
        f"estimator is {estimator!r}; it may be None for stumps, a learner of pacboost, a "
        "scikit-learn classifier (an object, not a class), or a function (X, y, weights)"
    )


def at_least_one(name: str, value: Any) -> int:
    """Check a whole number that has to be 1 or more."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ParameterError(f"{name} is {value!r}; it must be a whole number, 1 or more")
    return int(value)
