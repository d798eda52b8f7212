"""What every public method of an estimator does with its input.

Lazy frames are accepted wherever frames are, and collected first. Where another library raises
because of the input, the error becomes one of pacboost that says where the input is odd.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataTypeError
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.optional import collected, need
from pacboost.sources.oracles.choose import is_collection

# Predictions for Dask collections: Dask in, Dask out, and nothing is computed before it is asked.
#
# Every partition is predicted where it lies, by the model as it was when ``predict`` was called.

PREDICTIONS = ("predict", "predict_proba", "decision_function")
"""Methods of which every row's answer depends on the row alone."""


def lazily(model: Any, method: str, X: Any) -> Any:
    """Return predictions for a Dask DataFrame or a Dask Array as one that is not computed yet."""
    if method not in PREDICTIONS:
        raise DataTypeError(
            f"{method} takes rows in memory, and a Dask {type(X).__name__} came. Compute it first, "
            f"or a part of it; {', '.join(PREDICTIONS)} take Dask collections."
        )
    own = copy(model)  # a later fit of the same estimator has no part in it
    if hasattr(X, "map_partitions"):
        example = _of_frame(X._meta_nonempty, own, method)
        return X.map_partitions(_of_frame, own, method, meta=example.iloc[:0])
    if X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    answers = np.asarray(getattr(own, method)(np.zeros((1, X.shape[1]))))
    if answers.ndim == 1:
        return X.map_blocks(_of_array, own, method, drop_axis=1, dtype=answers.dtype)
    widths = (X.chunks[0], (answers.shape[1],))
    return X.map_blocks(_of_array, own, method, chunks=widths, dtype=answers.dtype)


def gathered(given: Any) -> Any:
    """Compute the Dask collections among arguments: most estimators need all rows in one memory."""
    return need("dask", "dask").compute(given)[0]


def _of_array(rows: NDArray[Any], model: Any, method: str) -> NDArray[Any]:
    return np.asarray(getattr(model, method)(rows))


def _of_frame(rows: Any, model: Any, method: str) -> Any:
    """Predict a partition; answers keep the index of its rows."""
    pandas = need("pandas", "frames")
    classes = model.classes_
    if len(rows):
        answers = np.asarray(getattr(model, method)(rows))
    else:  # a filter may have left nothing of a partition
        two = method == "decision_function" and classes.size == 2
        shape = (0,) if method == "predict" or two else (0, classes.size)
        answers = np.empty(shape, dtype=classes.dtype if method == "predict" else np.float64)
    if answers.ndim == 1:
        return pandas.Series(answers, index=rows.index)
    return pandas.DataFrame(answers, index=rows.index, columns=[str(own) for own in classes])


Kind = TypeVar("Kind")

INHERITED = ("score",)
"""Methods that scikit-learn's classes give to estimators, and that take rows."""


def collects_lazy_frames(kind: type[Kind]) -> type[Kind]:
    """Have public methods of a class, and of all that derive from it, take polars LazyFrames.

    Each is collected once in a call.
    """

    def of_subclass(cls: Any, /, **options: Any) -> None:
        super(kind, cls).__init_subclass__(**options)
        _wrap_methods(cls)

    kind._reads_partitions = False  # type: ignore[attr-defined]
    kind.__init_subclass__ = classmethod(of_subclass)  # type: ignore[assignment]
    _wrap_methods(kind)
    return kind


def _wrap_methods(kind: type) -> None:
    inherited = {name: getattr(kind, name, None) for name in INHERITED}
    methods = {n: own for n, own in inherited.items() if not hasattr(own, "__wrapped__")}
    for name, method in {**methods, **vars(kind)}.items():
        takes_rows = isinstance(method, FunctionType) and method.__code__.co_argcount > 1
        if takes_rows and not name.startswith("_"):
            setattr(kind, name, _collecting(method))


def _collecting(method: Callable[..., Any]) -> Callable[..., Any]:
    method = explains_input(method)

    @wraps(method)
    def collecting(self: Any, *given: Any, **named: Any) -> Any:
        first = given[0] if given else named.get("X")
        if is_collection(first) and not method.__name__.startswith("fit"):
            return lazily(self, method.__name__, first)
        if is_collection(first) and not self._reads_partitions:
            given, named = gathered((given, named))
        rows = [collected(value) for value in given]
        return method(self, *rows, **{name: collected(value) for name, value in named.items()})

    return collecting
