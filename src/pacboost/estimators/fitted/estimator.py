"""What all estimators share: columns and rows of the fit, nested parameters, files and pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pacboost.estimators.fitted.notebooks import DOC_PAGE, as_html, page_of, shown
from pacboost.estimators.fitted.predicting import read_rows
from pacboost.estimators.fitting.nested import nested, set_nested
from pacboost.estimators.inputs.rows import takes_rows
from pacboost.fit.ask import RunRecord
from pacboost.kernels.threads import using
from pacboost.models.model import Model
from pacboost.models.schema import ColumnOptions, Schema
from pacboost.samples.overlap import Overlap, least_likely
from pacboost.samples.sketch import Sketch
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.levels import Levels
from pacboost.sources.table import Table

if TYPE_CHECKING:
    from pacboost.bounds.answering import Answering
    from pacboost.bounds.certificate import Certificate
    from pacboost.bounds.decision import ThresholdDecision
    from pacboost.bounds.family import Family
    from pacboost.reports.page.document import Sentence

Method = TypeVar("Method", bound=Callable[..., Any])


def offered_if(flag: str) -> Callable[[Method], Method]:
    """Offer a method only if a flag of the class is set; ``hasattr`` is False elsewhere."""
    decorate: Callable[[Method], Method] = available_if(lambda estimator: getattr(estimator, flag))
    return decorate


class Estimator(BaseEstimator):  # type: ignore[misc]
    """Base class of estimators, which read rows by the schema of their fit.

    An estimator holds sketches of its training rows, which pickles and model files keep.
    """

    _leaves_model: ClassVar[bool] = True
    """Whether a fit leaves a vote or a forest in ``model_``, which files and pages need."""
    _keeps_sparse: ClassVar[bool] = False
    """Whether sparse rows stay sparse while they are learned from."""
    _nested: ClassVar[tuple[str, ...]] = ()
    """The parameters into which ``get_params`` and ``set_params`` reach: booster and learner."""
    _reads_partitions: ClassVar[bool] = False
    """Whether Dask collections are read block by block; other estimators need all rows at once."""
    _remembers_rows: ClassVar[bool] = True
    """Tells ``pacboost.certify`` that ``overlap`` compares rows with those of the fit."""
    _doc_link_module, _doc_link_template = "pacboost", DOC_PAGE  # for scikit-learn's diagrams
    _doc_link_url_param_generator = page_of

    n_jobs: int | None
    device: str = "cpu"
    model_: Model

    notes_: tuple[str, ...] = ()
    """What the fit warned of: how columns were read, which rows were left out, and the like."""
    _schema: Schema
    """Where no model holds the schema."""
    _sketches: tuple[Sketch, ...] = ()
    _equal_rows = "draws"
    """The ``copies`` of the last fit."""
    _record: RunRecord
    """What ``warm_start`` continues."""

    @property
    def schema_(self) -> Schema:
        """The schema of the rows: their columns, names and levels, or the words of texts."""
        return self._fitted("schema_").schema if self._leaves_model else self._schema

    @property
    def n_features_in_(self) -> int:
        """The number of columns that were given; a date is one of them, whatever its parts."""
        names = self.schema_.given_names
        return self.schema_.n_columns if names is None else len(names)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the columns that were given, if they have names."""
        names = self.schema_.given_names
        if names is None:
            raise AttributeError("feature_names_in_ is missing: the columns of X had no names")
        return np.array(names, dtype=object)

    @property
    def levels_(self) -> Levels:
        """The levels of categorical columns; words have none."""
        return self.schema_.levels

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each feature's share of the votes or, for trees, of the gains of splits.

        What a derived column gains is halved between the two that it is made of.
        """
        return self._fitted("feature_importances_").given_importances()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters, with those of booster and learner if they are objects."""
        parameters: dict[str, Any] = super().get_params(deep=deep)
        return parameters | nested(self) if deep else parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of booster and learner as ``booster__name``."""
        inner = {key for key in params if key.startswith(tuple(f"{n}__" for n in self._nested))}
        super().set_params(**{key: params[key] for key in params.keys() - inner})
        set_nested(self, {key: params[key] for key in params if key in inner})
        return self

    @offered_if("_leaves_model")
    @takes_rows
    def apply(self, X: object) -> NDArray[np.integer]:
        """Return the leaf that every row falls into, for every rule: (rows, rules).

        Leaves are numbered from 0 in each rule; a constant has one leaf, a stump has two. Of a
        forest the number is the place of a node in its tree.
        """
        table = self._open(X)
        with using(self.n_jobs):
            leaves: NDArray[np.integer] = self.model_.vote.cells(table)
        return leaves

    @offered_if("_leaves_model")
    @explains_input
    def save(self, path: str | Path, *, remember_rows: bool = True) -> None:
        """Write the model to a file that ``pacboost.load`` reads; no code is stored in it.

        The file also keeps a sketch of the training rows, salted hashes of some of them, by which
        ``pacboost.certify`` refuses them later. ``remember_rows=False`` leaves it out.
        """
        check_is_fitted(self)
        from pacboost.models.file.format import save

        save(self.model_, path, self._sketches if remember_rows else ())

    @offered_if("_leaves_model")
    @takes_rows
    def report(
        self,
        path: str | Path | None = None,
        X: object = None,
        y: object = None,
        *,
        title: str | None = None,
        sentence: str | Sentence | None = None,
        certified: Certificate | Family | list[Any] | tuple[Any, ...] = (),
        decision: ThresholdDecision | None = None,
        answering: Answering | None = None,
    ) -> Any:
        """Write a report as one HTML file that works offline in any browser.

        Without rows the page shows the model and its record: the certificates, and of a vote the
        error and its bound round by round, rules, shapes, the hardest training rows. With labelled
        rows, best those that the fit has not seen, it adds margins, calibration, the confusion
        matrix and the hardest of these rows. ``title`` replaces the name of the method,
        ``sentence`` the sentence of the certificate. ``certified`` holds one or more results of
        ``pacboost.certify`` on further rows, which are listed with all other claims; ``decision``
        is what a threshold guarantees, and ``answering`` the bounds on confident answers. Returns
        the path of the file; without a path, the page itself, which a notebook shows.
        """
        from pacboost.estimators.fitted.reporting import page_about
        from pacboost.reports.page.document import written

        check_is_fitted(self)
        page = page_about(
            self, X, y, title=title, sentence=sentence, certified=certified, decision=decision,
            answering=answering,
        )  # fmt: skip
        return written(page, path)

    @takes_rows
    def overlap(self, X: object) -> Overlap | None:
        """Compare rows with the rows of the fit; None if there are no sketches of those."""
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

    def _column_options(self) -> ColumnOptions:
        """Return the options for the columns, before any row is seen."""
        categorical = getattr(self, "categorical_features", None)
        return ColumnOptions(type(self).__name__, categorical, keeps_sparse=self._keeps_sparse)

    def _open(self, X: object) -> Table:
        return read_rows(self, X)

    def _features(self, X: object) -> object:
        """Return the columns of X that are features."""
        return X

    def _rows_to_compare(self, X: object) -> Table:
        """Read rows in the form in which they are hashed."""
        return self.schema_.remembered(self._features(X))

    def _remember(self, *tables: Table) -> None:
        self._sketches = tuple(map(Sketch.from_table, tables))

    def _fitted(self, name: str) -> Model:
        if not self._leaves_model:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if not hasattr(self, "model_"):
            raise AttributeError(f"{name} is available after fit; this estimator is not fitted yet")
        return self.model_

    def _claim(self) -> str:
        """Return the claim, which notebooks show above scikit-learn's diagram."""
        return str(getattr(self, "sentence_", "")) if self.__sklearn_is_fitted__() else ""

    def _repr_html_inner(self) -> str:
        return as_html(self, self._claim())

    def _repr_mimebundle_(self, **_options: object) -> dict[str, str]:
        return shown(self, self._claim())

    def __sklearn_is_fitted__(self) -> bool:
        if self._leaves_model:
            return hasattr(self, "model_")
        return any(name.endswith("_") for name in vars(self))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._leaves_model:
            inner = getattr(self, "learner", getattr(self, "estimator", None))
            # a boosted estimator of scikit-learn gets the rows as they came, missing values
            # included
            foreign = isinstance(inner, BaseEstimator)
            tags.input_tags.allow_nan = not foreign or get_tags(inner).input_tags.allow_nan
            tags.input_tags.sparse = True
        return tags
