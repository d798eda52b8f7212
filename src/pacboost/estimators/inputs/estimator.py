"""What every estimator does with its rows: take them in any form, and remember those of the fit.

Methods that take rows are marked ``@takes_rows``, and those that fit ``@fits_rows``. Both check
the arguments, collect lazy frames, and name the first odd cell if the method fails.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from copy import copy
from functools import wraps
from itertools import accumulate
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from pacboost import __version__
from pacboost.errors import DataTypeError
from pacboost.estimators.inputs.parameters import plain_parameters
from pacboost.models.schema import ColumnOptions, Schema
from pacboost.samples.sketch import Overlap, Sketch
from pacboost.sources.explained_errors import checked_by_scikit_learn, explains_input
from pacboost.sources.levels import Levels
from pacboost.sources.optional import is_collection, need
from pacboost.sources.table import Table

Method = TypeVar("Method", bound=Callable[..., Any])


def takes_rows(method: Method) -> Method:
    """Let a method take rows in any form; predictions for Dask collections are not computed yet."""
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
        with plain_parameters(self):
            if is_collection(first) and not self._reads_partitions:
                args, named = need("dask", "dask").compute((args, named))[0]
            return explaining(self, *args, **named)

    return call  # type: ignore[return-value]


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
    return pandas.DataFrame(answers, index=rows.index, columns=[str(name) for name in classes])


class ScoredClassifier(ClassifierMixin):  # type: ignore[misc]
    """A classifier whose ``score`` takes rows in any form."""

    @takes_rows
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, the share of rows that are right."""
        with checked_by_scikit_learn():
            return float(super().score(X, y, sample_weight))


DOC_PAGE = f"https://pacboost.readthedocs.io/en/v{__version__}/api/{{page}}.html"


def page_of(estimator: Any) -> dict[str, str]:
    """Name the page of an estimator's class: by the first module on the way to it that holds it."""
    kind = type(estimator)
    modules = accumulate(kind.__module__.split("."), "{}.{}".format)
    home = next(name for name in modules if hasattr(sys.modules[name], kind.__name__))
    return {"page": f"{home}.{kind.__name__}"}


class RemembersRows:
    """An estimator that reads rows by the schema of its fit, and remembers those of the fit.

    It holds sketches of them, which pickles and model files keep.
    """

    _remembers_rows: ClassVar[bool] = True
    """Tells ``pacboost.certify`` that ``overlap`` compares rows with those of the fit."""
    _sketches: tuple[Sketch, ...] = ()
    _doc_link_module, _doc_link_template = "pacboost", DOC_PAGE  # for scikit-learn's diagrams
    _doc_link_url_param_generator = page_of
    _reads_partitions = False
    """Whether Dask collections are read block by block; other estimators need all rows at once."""

    _schema: Schema
    """Where no model holds the schema."""

    @property
    def schema_(self) -> Schema:
        """The number of columns, their names and levels, or the words of texts."""
        return self._schema

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return self.schema_.n_columns

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the columns, if they have names."""
        names = self.schema_.feature_names
        if names is None:
            raise AttributeError("feature_names_in_ is missing: the columns of X had no names")
        return np.array(names, dtype=object)

    @property
    def levels_(self) -> Levels:
        """The levels of categorical columns; words have none."""
        return self.schema_.levels

    def _column_options(self) -> ColumnOptions:
        """Say what is asked of the columns before any row is seen."""
        return ColumnOptions(type(self).__name__, getattr(self, "categorical_features", None))

    @takes_rows
    def overlap(self, X: Any) -> Overlap | None:
        """Compare rows with those that the fit has used; None if it remembers none."""
        check_is_fitted(self)
        if not self._sketches:
            return None
        table = self._rows_to_compare(X)
        return least_likely(sketch.overlap(table) for sketch in self._sketches)

    def forget_rows(self) -> None:
        """Drop the sketch of the training rows, for example before the model is pickled.

        Certificates by other rows then begin with "If these rows are new".
        """
        self._sketches = ()

    def _rows_to_compare(self, X: Any) -> Table:
        """Read rows in the form in which they are hashed."""
        return self.schema_.remembered(X)

    def _remember(self, *tables: Table) -> None:
        """Keep sketches of tables."""
        self._sketches = tuple(map(Sketch.from_table, tables))


def least_likely(overlaps: Iterable[Overlap]) -> Overlap | None:
    """Return the overlap that chance explains least; None if there is none."""
    return min(overlaps, key=lambda overlap: overlap.p_value, default=None)
