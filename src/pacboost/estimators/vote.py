"""What every fitted vote can do: predict, stage by stage if wanted, and show its grounds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds.certificate import Certificate
from pacboost.estimators import door
from pacboost.estimators.sketching import SketchMixin
from pacboost.hypotheses.function import Function
from pacboost.kernels.threads import using
from pacboost.ledgers.ledger import Ledger
from pacboost.models import format as model_file
from pacboost.models.model import Model
from pacboost.sources.table import Table


class VoteClassifier(SketchMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose fit leaves a ``model_`` and ``classes_``."""

    model_: Model
    classes_: NDArray[Any]
    n_jobs: int | None

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class each row is voted into; a tie goes to the first class."""
        return self._decide(self.decision_function(X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Give the score F(x), the sum of signed votes; above 0 means the second class."""
        table = self._open(X)
        with using(self.n_jobs):
            return self.model_.vote.scores(table)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Give 1/(1 + exp(-2F)) for the second class (Friedman, Hastie and Tibshirani 2000)."""
        return self._probabilities(self.decision_function(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Give the logarithm of the probabilities, without taking it of 0."""
        scores = self.decision_function(X)
        if self.classes_.size == 1:
            return np.zeros((scores.size, 1))
        return -np.logaddexp(0.0, np.column_stack([2 * scores, -2 * scores]))

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Give the score after each round."""
        table = self._open(X)
        for scores in self.model_.vote.staged(table):
            yield scores.copy()

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Give the predictions after each round."""
        for scores in self.staged_decision_function(X):
            yield self._decide(scores)

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Give the probabilities after each round."""
        for scores in self.staged_decision_function(X):
            yield self._probabilities(scores)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Give the accuracy after each round."""
        for predicted in self.staged_predict(X):
            yield float(np.average(predicted == np.asarray(y), weights=sample_weight))

    def mistakes(self, X: Any, y: Any) -> NDArray[np.bool_]:
        """Tell which rows the vote gets wrong; ties count as wrong."""
        table = self._open(X)
        labels = door.read_labels(y, table.n_rows)
        with using(self.n_jobs):
            scores = self.model_.vote.scores(table)
        wrong: NDArray[np.bool_] = (self._decide(scores) != labels) | (scores == 0)
        return wrong

    def rules(self) -> list[str]:
        """Give every rule in words, with its vote, in the order of rounds."""
        check_is_fitted(self)
        return self.model_.words()

    def save(self, path: str | Path) -> None:
        """Write the model to a file that ``pacboost.load`` reads; no code is stored in it."""
        check_is_fitted(self)
        model_file.save(self.model_, path)

    @property
    def ledger_(self) -> Ledger:
        """What the loop measured."""
        return self._fitted("ledger_").ledger

    @property
    def certificate_(self) -> Certificate:
        """What is certified: the training error, or with ``certify`` the error on new examples."""
        return self._fitted("certificate_").certificate

    @property
    def votes_(self) -> NDArray[np.float64]:
        """The vote of every rule."""
        return self._fitted("votes_").vote.votes

    @property
    def estimators_(self) -> list[Any]:
        """The rules; for black boxes, the fitted classifiers themselves."""
        hypotheses = self._fitted("estimators_").vote.hypotheses
        return [h.inner if isinstance(h, Function) else h for h in hypotheses]

    @property
    def estimator_weights_(self) -> NDArray[np.float64]:
        """Twice the votes, as scikit-learn counts them."""
        return 2 * self._fitted("estimator_weights_").vote.votes

    @property
    def estimator_errors_(self) -> NDArray[np.float64]:
        """The weighted error of every rule in its round."""
        return np.array([e.error for e in self._fitted("estimator_errors_").ledger.rounds])

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each feature's share of the votes."""
        return self._fitted("feature_importances_").importances()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _fitted(self, name: str) -> Model:
        if not hasattr(self, "model_"):
            raise AttributeError(f"{name} is there after fit; this estimator is not fitted yet")
        return self.model_

    def _open(self, X: Any) -> Table:
        check_is_fitted(self)
        return door.open_table(self, X, reset=False)

    def _decide(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        second = (scores > 0) & (self.classes_.size == 2)
        decided: NDArray[Any] = self.classes_[second.astype(np.intp)]
        return decided

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.classes_.size == 1:
            return np.ones((scores.size, 1))
        return np.column_stack([expit(-2 * scores), expit(2 * scores)])
