"""A fitted classifier of any library, and a decision beside it that was certified by rows."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from pacboost.bounds import wording
from pacboost.bounds.answering import Answering
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.decision import ThresholdDecision
from pacboost.errors import FileError, NotCertified
from pacboost.estimators.fitted.classifier import MistakesAndPredictions
from pacboost.estimators.fitted.estimator import Estimator
from pacboost.estimators.fitted.predicting import accuracy
from pacboost.estimators.inputs.rows import fits_rows, takes_rows
from pacboost.models.answers import asked
from pacboost.models.file.format import save
from pacboost.models.model import Model
from pacboost.models.schema import Schema
from pacboost.questions.inner_models import inner_models, remembers, snapshot
from pacboost.samples.overlap import Overlap, least_likely
from pacboost.samples.plain_rows import plain_rows
from pacboost.samples.sketch import Sketch
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.table import Table

if TYPE_CHECKING:
    pass


Decision = ThresholdDecision | Answering


class WrappedClassifier(ClassifierMixin, Estimator):  # type: ignore[misc]
    """A fitted classifier, ``estimator_``, and a threshold that was chosen by rows.

    Both the rows of the fit and the rows that chose the threshold are remembered.
    """

    _leaves_model = False
    estimator: Any
    estimator_: Any
    threshold: float
    decision_: Any = None
    """The certified choice of the threshold, None after ``fit``."""
    _option = "decision"
    """The argument of ``report`` that takes the decision."""

    @property
    def model_(self) -> Any:  # type: ignore[override]
        """The model of ``estimator_``, if it is an estimator of pacboost."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError("model_ is available after fit; this estimator is not fitted yet")
        return self.estimator_.model_

    @property
    def schema_(self) -> Schema:
        """The schema of ``estimator_``, if it is an estimator of pacboost."""
        return self.estimator_.schema_  # type: ignore[no-any-return]

    @property
    def n_features_in_(self) -> int:
        """The number of columns that ``estimator_`` was fitted on."""
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the columns that ``estimator_`` was fitted on."""
        return np.asarray(self.estimator_.feature_names_in_, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    @property
    def sentence_(self) -> str:
        """The guarantee and its price, in words."""
        return f"{wording.sentence(self.certificate_)} {self._details}"

    @property
    @abstractmethod
    def _details(self) -> str:
        """The part of ``sentence_`` after the certificate."""

    @property
    @abstractmethod
    def _is_as_chosen(self) -> bool:
        """True if the parameters have not changed since the decision."""

    @fits_rows
    def fit(self, X: object, y: object) -> Self:
        """Fit a clone of the estimator; the threshold stays, and nothing is certified."""
        self._start(clone(self.estimator).fit(X, y))
        sketches = tuple(getattr(self.estimator_, "_sketches", ()))
        # classifiers of other libraries remember no rows
        self._sketches = sketches or (Sketch.from_table(self._rows_to_compare(X)),)
        return self

    def _start(self, fitted: BaseEstimator, decision: Decision | None = None) -> None:
        self.estimator_, self.classes_ = fitted, np.asarray(fitted.classes_)
        self.decision_ = decision

    def _decided(
        self, estimator: BaseEstimator, decision: Decision | None, rows: object = None
    ) -> Self:
        """Set the classifier and the decision, and remember the rows that chose the threshold."""
        self._start(snapshot(estimator), decision)
        sketches: tuple[Sketch, ...] = tuple(getattr(self.estimator_, "_sketches", ()))
        if rows is not None:
            sketch = Sketch.from_table(self._rows_to_compare(rows))
            # the rows of its fit are unknown, so that the claim may not say that rows are new
            sketches = (*sketches, sketch if sketches else replace(sketch, complete=False))
        self._sketches = sketches
        return self

    @property
    def decision(self) -> Any:
        """The certified choice of the threshold."""
        if self.decision_ is None:
            raise NotCertified(
                "nothing is certified for this threshold; choose it by pacboost.choose_threshold"
            )
        # ``set_params`` may have changed the threshold at any time
        if not self._is_as_chosen:
            raise NotCertified(
                f"the parameters have changed (threshold={self.threshold!r}) since the threshold "
                "was chosen, so nothing is certified; choose it again by pacboost.choose_threshold "
                "with new rows"
            )
        return self.decision_

    @property
    def threshold_(self) -> float:
        """The threshold."""
        return float(self.threshold)

    @property
    def certificate_(self) -> Certificate:
        """The certificate of the threshold."""
        certificate: Certificate = self.decision.certificate
        return certificate

    @takes_rows
    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return the accuracy, the share of rows that are right."""
        return accuracy(self, X, y, sample_weight)

    @takes_rows
    def mistakes(self, X: object, y: object) -> NDArray[np.bool_]:
        """Return which rows are wrong, or not answered."""
        return self._mistakes_and_predictions(X, y)[0]

    def _mistakes_and_predictions(self, X: object, y: object) -> MistakesAndPredictions:
        predictions = self.predict(X)
        return np.asarray(predictions != np.asarray(y)), predictions

    @takes_rows
    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """Return the probabilities of the estimator."""
        return asked(self.estimator_, X, "predict_proba")

    @takes_rows
    def decision_function(self, X: object) -> NDArray[np.float64]:
        """Return the scores of the estimator."""
        return asked(self.estimator_, X, "decision_function")

    @takes_rows
    def overlap(self, X: object) -> Overlap | None:
        """Compare rows with those of the fit, and with those that chose the threshold."""
        table = self._rows_to_compare(X)
        overlaps = [sketch.overlap(table) for sketch in self._sketches]
        # steps of a pipeline change rows on their way to the model that remembers them
        for inner in inner_models(self.estimator_, X):
            overlap = inner.model.overlap(inner.X)
            overlaps += [] if overlap is None else [overlap]
        return least_likely(overlaps)

    def forget_rows(self) -> None:
        """Drop the sketches of all rows."""
        self._sketches = ()
        if hasattr(self.estimator_, "forget_rows"):
            self.estimator_.forget_rows()

    @explains_input
    def save(self, path: str | Path, *, remember_rows: bool = True) -> None:
        """Write model, threshold and certificate to a file that ``pacboost.load`` reads.

        ``choose_threshold(load(path))`` restores a threshold on the confidence.
        """
        inner = getattr(self.estimator_, "estimator_", self.estimator_)
        model = getattr(inner, "model_", None)
        if not isinstance(model, Model):
            raise FileError(
                f"{path}: is not written, because {type(inner).__name__} has no model file that "
                "keeps it. Pickle it, if those who load it trust you"
            )
        # other certificates speak of predictions without the threshold
        model = self._with_decision(model)
        save(model, path, self._sketches if remember_rows else ())

    @abstractmethod
    def _with_decision(self, model: Model) -> Model:
        """Return the model with the decision, for a file."""

    @takes_rows
    def report(
        self, path: str | Path | None = None, X: object = None, y: object = None, **options: Any
    ) -> Any:
        """Write the report of the estimator, which begins with the guarantee, or show it."""
        from pacboost.reports.page.document import Sentence

        sentence = Sentence(*wording.sentence(self.certificate_), self._details)
        content = {"sentence": sentence, self._option: self.decision}
        return self.estimator_.report(path, X, y, **content | options)

    def _rows_to_compare(self, X: Any) -> Table:
        if remembers(self.estimator_):
            table: Table = self.estimator_._rows_to_compare(X)
            return table
        return plain_rows(X)

    def _claim(self) -> str:
        with suppress(NotCertified):
            return self.sentence_
        return ""
