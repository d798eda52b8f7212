"""Methods that take rows in any form are marked ``@takes_rows``, and those that fit ``@fits_rows``.

Both check the arguments, collect lazy frames, and name the first odd cell if the method fails. For
Dask collections predictions are lazy Dask collections: every partition is predicted where it lies,
by the model as it was when ``predict`` was called.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_regressor

from pacboost.errors import DataTypeError
from pacboost.estimators.inputs.gathering import BY_BLOCKS, FEWER_ROWS, gathered
from pacboost.estimators.inputs.parameters import checked_parameters
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.optional import is_collection, need

Method = TypeVar("Method", bound=Callable[..., Any])


def takes_rows(method: Method) -> Method:
    """Let a method take rows in any form; predictions for Dask collections are lazy."""
    explaining = explains_input(method)

    @wraps(method)
    def call(self: Any, *args: Any, **named: Any) -> Any:
        first = args[0] if args else named.get("X")
        if is_collection(first):
            return lazily(self, method.__name__, first)
        return explaining(self, *args, **named)

    return call  # type: ignore[return-value]


def fits_rows(method: Method) -> Method:
    """Let a method fit to rows in any form; the parameters are plain Python values meanwhile."""
    explaining = explains_input(method)

    @wraps(method)
    def call(self: Any, *args: Any, **named: Any) -> Any:
        first = args[0] if args else named.get("X")
        with checked_parameters(self):
            if is_collection(first) and not self._reads_partitions:
                advice = FEWER_ROWS if is_regressor(self) else BY_BLOCKS
                args, named = gathered((args, named), type(self).__name__, advice)
            return explaining(self, *args, **named)

    return call  # type: ignore[return-value]


PREDICTIONS = ("predict", "predict_proba", "decision_function")
"""Methods of which every row's answer depends on the row alone."""


def lazily(model: BaseEstimator, method: str, X: Any) -> Any:
    """Return lazy predictions for a Dask DataFrame or a Dask Array."""
    if method not in PREDICTIONS:
        raise DataTypeError(
            f"{method} takes rows in memory, and a Dask {type(X).__name__} came. Compute it first, "
            f"or a part of it; {', '.join(PREDICTIONS)} take Dask collections."
        )
    model = copy(model)  # a later fit of the same estimator has no part in it
    if hasattr(X, "map_partitions"):
        example = _of_frame(X._meta_nonempty, model, method)
        return X.map_partitions(_of_frame, model, method, meta=example.iloc[:0])
    if X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    answers = np.asarray(getattr(model, method)(np.zeros((1, X.shape[1]))))
    if answers.ndim == 1:
        return X.map_blocks(_of_array, model, method, drop_axis=1, dtype=answers.dtype)
    widths = (X.chunks[0], (answers.shape[1],))
    return X.map_blocks(_of_array, model, method, chunks=widths, dtype=answers.dtype)


def _of_array(rows: NDArray[Any], model: BaseEstimator, method: str) -> NDArray[Any]:
    return np.asarray(getattr(model, method)(rows))


def _of_frame(rows: Any, model: BaseEstimator, method: str) -> Any:
    """Predict a partition; answers keep its index."""
    pandas = need("pandas")
    classes = model.classes_
    if len(rows):
        answers = np.asarray(getattr(model, method)(rows))
    else:  # a filter may have left nothing of a partition
        two = method == "decision_function" and classes.size == 2
        shape = (0,) if method == "predict" or two else (0, classes.size)
        answers = np.empty(shape, dtype=classes.dtype if method == "predict" else np.float64)
    if answers.ndim == 1:
        return pandas.Series(answers, index=rows.index)
    return pandas.DataFrame(answers, index=rows.index, columns=[str(name) for name in classes])
