"""What classifiers share that decide in a way of their own by what a fitted classifier says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from pacboost.bounds.certificate import Certificate
from pacboost.errors import NotCertified
from pacboost.estimators.fitted.decisions.plain_rows import plain_rows
from pacboost.kernels.cuda.device import in_host_memory
from pacboost.questions.wrappers import inner_models, remembers, snapshot
from pacboost.samples.overlap import Overlap
from pacboost.samples.sketch import Sketch
from pacboost.sources.table import Table


class WrappedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier in ``estimator_``, and a rule that some rows have chosen.

    Rows of the fit, and those by which the rule was chosen, are remembered.
    """

    estimator: Any
    threshold: float
    remembers_rows: ClassVar[bool] = True
    _sketches: tuple[Sketch, ...] = ()

    def fit(self, X: Any, y: Any) -> Self:
        """Fit a clone of the estimator; the threshold stays, and nothing is certified."""
        self.__dict__.pop("decision_", None)
        self._start(clone(self.estimator).fit(X, y))
        known = tuple(getattr(self.estimator_, "_sketches", ()))
        self._sketches = known or (Sketch.of(self._rows_to_compare(X)),)
        return self

    def _start(self, fitted: Any) -> None:
        self.estimator_, self.classes_ = fitted, np.asarray(fitted.classes_)
        for name in ("n_features_in_", "feature_names_in_", "levels_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))

    def _decide(self, estimator: Any, decision: Any, rows: Any) -> Self:
        """Take over a fitted classifier, what is known of the threshold, and what rows chose it."""
        self._start(snapshot(estimator))
        self.decision_ = decision
        self._remember(rows)
        return self

    @property
    def decision(self) -> Any:
        """Everything that is known of the threshold."""
        if "decision_" not in self.__dict__:
            raise NotCertified(
                "nothing is certified for this threshold; choose it by pacboost.choose_threshold"
            )
        if not self._as_decided():
            raise NotCertified(
                f"the parameters have changed (threshold={self.threshold!r}) since the threshold "
                "was chosen, and nothing is certified of these; choose it by "
                "pacboost.choose_threshold with rows that it has not seen"
            )
        return self.decision_

    def _as_decided(self) -> bool:
        """Whether the threshold is the one that was chosen."""
        return bool(self.threshold == self.decision_.threshold)

    @property
    def threshold_(self) -> float:
        """The threshold."""
        return float(self.threshold)

    @property
    def certificate_(self) -> Certificate:
        """What is guaranteed."""
        found: Certificate = self.decision.certificate
        return found

    def _remember(self, rows: Any) -> None:
        """Remember the rows of the fit, and those by which the rule was chosen."""
        own: tuple[Sketch, ...] = tuple(getattr(self.estimator_, "_sketches", ()))
        if rows is not None:
            sketch = Sketch.of(self._rows_to_compare(rows))
            own = (*own, sketch if own else replace(sketch, complete=False))
        self._sketches = own

    @property
    def model_(self) -> Any:
        """The model of the estimator, if it is one of ours."""
        return self.estimator_.model_

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Give the probabilities of the estimator."""
        found: NDArray[np.float64] = in_host_memory(self.estimator_.predict_proba(X))
        return found

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Give the scores of the estimator."""
        found: NDArray[np.float64] = in_host_memory(self.estimator_.decision_function(X))
        return found

    def certify_sets(self, X: Any, y: Any, **options: Any) -> Any:
        """Calibrate prediction sets of the estimator by fresh rows, as ``pacboost.sets`` does."""
        return self.estimator_.certify_sets(X, y, **options)

    def predict_set(self, X: Any, by: Any = None) -> NDArray[np.bool_]:
        """Tell which classes the set of every row holds; sets do not depend on a threshold."""
        found: NDArray[np.bool_] = self.estimator_.predict_set(X, by)
        return found

    @property
    def sets_(self) -> Any:
        """How sets are made, and what is certified of them; there after ``certify_sets``."""
        return self.estimator_.sets_

    def overlap(self, X: Any) -> Overlap | None:
        """Compare rows with those of the fit, and with those that chose the threshold."""
        table = self._rows_to_compare(X)
        found = [own.overlap(table) for own in self._sketches]
        for inner in inner_models(self.estimator_, X):
            seen = inner.model.overlap(inner.X)
            found += [] if seen is None else [seen]
        return min(found, key=lambda own: (not own.suspicious, own.chances.one), default=None)

    def forget_rows(self) -> None:
        """Drop the sketches of all rows."""
        self._sketches = ()
        if hasattr(self.estimator_, "forget_rows"):
            self.estimator_.forget_rows()

    def _rows_to_compare(self, X: Any) -> Table:
        if remembers(self.estimator_):
            found: Table = self.estimator_._rows_to_compare(X)
            return found
        return plain_rows(X)

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
