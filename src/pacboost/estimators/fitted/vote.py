"""What every fitted vote can do: predict, stage by stage if wanted, and show its grounds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.training import training_error
from pacboost.estimators.fitted.abstaining import AbstainingMixin
from pacboost.estimators.fitted.compressing import CompressingMixin
from pacboost.estimators.fitted.explaining import ExplainMixin
from pacboost.estimators.fitted.margins import MarginsMixin
from pacboost.estimators.fitted.quantised import mistaken
from pacboost.estimators.fitted.ranking import RankingMixin
from pacboost.estimators.fitted.reporting import ReportMixin
from pacboost.estimators.fitted.training_rows import SketchMixin
from pacboost.estimators.inputs.examples import label_rows
from pacboost.estimators.inputs.labels import read_labels
from pacboost.estimators.inputs.tables import open_table
from pacboost.hypotheses.function import ClassFunction, Function
from pacboost.hypotheses.hypothesis import Hypothesis, Valued
from pacboost.hypotheses.vote import Scores
from pacboost.kernels.threads import using
from pacboost.ledgers.ledger import Ledger
from pacboost.models.file import format as model_file
from pacboost.models.model import Model
from pacboost.numerics import markup
from pacboost.numerics.mistakes import wrong_answers
from pacboost.sources.table import Table


class VoteMixin(ReportMixin, SketchMixin):
    """What votes of classifiers and of regressors share: a ``model_`` that fit leaves."""

    model_: Model
    n_jobs: int | None

    def rules(self) -> list[str]:
        """Give every rule in words, with its vote, in the order of rounds."""
        check_is_fitted(self)
        return self.model_.words()

    def save(self, path: str | Path, *, remember_rows: bool = True) -> None:
        """Write the model to a file that ``pacboost.load`` reads; no code is stored in it.

        The file also keeps a sketch of the training rows, salted hashes of some of them, by which
        ``pacboost.certify`` refuses them later. ``remember_rows=False`` leaves it out.
        """
        check_is_fitted(self)
        model_file.save(self.model_, path, self._sketches if remember_rows else ())

    @property
    def ledger_(self) -> Ledger:
        """What the loop measured."""
        return self._fitted("ledger_").ledger

    @property
    def votes_(self) -> NDArray[np.float64]:
        """The vote of every rule; 1 where the cells of a rule hold what is added."""
        return self._fitted("votes_").vote.votes

    @property
    def estimators_(self) -> list[Any]:
        """The rules; for black boxes, the fitted classifiers themselves."""
        return [_inner(h) for h in self._fitted("estimators_").vote.hypotheses]

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each feature's share of the votes, or for trees of what their splits won."""
        return self._fitted("feature_importances_").importances()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _html_repr(self) -> str:
        """Show in a notebook what scikit-learn shows, and what is certified."""
        certificate = self.model_.certificate if hasattr(self, "model_") else None
        claim = "" if certificate is None else markup.bold(certificate.claim)
        return str(estimator_html_repr(self)) + claim

    def _fitted(self, name: str) -> Model:
        if not hasattr(self, "model_"):
            raise AttributeError(f"{name} is there after fit; this estimator is not fitted yet")
        return self.model_

    def _open(self, X: Any) -> Table:
        check_is_fitted(self)
        return open_table(self, X, reset=False)

    def _scores(self, X: Any) -> Scores:
        table = self._open(X)
        with using(self.n_jobs):
            return self.model_.vote.scores(table)


class VoteClassifier(
    ExplainMixin,
    MarginsMixin,
    RankingMixin,
    CompressingMixin,
    AbstainingMixin,
    VoteMixin,
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """A classifier whose fit leaves a ``model_`` and ``classes_``."""

    classes_: NDArray[Any]

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class each row is voted into; a tie goes to the first class.

        With several labels a row, give 1 for each label it is voted to have, else 0.
        """
        return self._decide(self._scores(X))

    def decision_function(self, X: Any) -> Scores:
        """Give the score F(x): for two classes above 0 means the second, else one score a class."""
        return self._scores(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Give the probability of each class, from the scores or from ``calibrate``."""
        scores = self._scores(X)
        return self.model_.probabilities(scores)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Give the logarithm of the probabilities, without taking it of 0."""
        scores = self._scores(X)
        return self.model_.log_probabilities(scores)

    def staged_decision_function(self, X: Any) -> Iterator[Scores]:
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
            yield self.model_.probabilities(scores)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Give the accuracy after each round."""
        for predicted in self.staged_predict(X):
            right = predicted == np.asarray(y)
            right = right.all(axis=1) if right.ndim == 2 else right
            yield float(np.average(right, weights=sample_weight))

    def mistakes(self, X: Any, y: Any) -> NDArray[np.bool_]:
        """Tell which rows the vote gets wrong; ties count as wrong, and so do unknown labels."""
        return self._judged(X, y)[1]

    def _judged(self, X: Any, y: Any) -> tuple[Scores, NDArray[np.bool_]]:
        """Give the scores of rows, and which of them are wrong."""
        table = self._open(X)
        labels = read_labels(y, table.n_rows, several=self.several_labels_)
        with using(self.n_jobs):
            scores = self.model_.vote.scores(table)
        if self.several_labels_:
            known = label_rows(table, labels, self.classes_, "y", several=True)
            return scores, mistaken(scores, known)
        return scores, wrong_answers(self._decide(scores), labels, scores)

    @property
    def several_labels_(self) -> bool:
        """Whether a row may have several labels."""
        return bool(getattr(self, "_several_labels", False))

    @property
    def certificate_(self) -> Certificate:
        """What is certified: the training error, or with ``certify`` the error on new examples."""
        model = self._fitted("certificate_")
        return training_error(model.ledger) if model.certificate is None else model.certificate

    @property
    def estimator_weights_(self) -> NDArray[np.float64]:
        """Twice the votes, as scikit-learn counts them."""
        return 2 * self._fitted("estimator_weights_").vote.votes

    @property
    def estimator_errors_(self) -> NDArray[np.float64]:
        """The weighted error of every rule in its round."""
        return np.array([e.error for e in self._fitted("estimator_errors_").ledger.rounds])

    def _decide(self, scores: Scores) -> NDArray[Any]:
        if self.several_labels_:
            return (scores.reshape(len(scores), -1) > 0).astype(np.int64)
        if scores.ndim == 2:
            named: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
            return named
        second = (scores > 0) & (self.classes_.size == 2)
        decided: NDArray[Any] = self.classes_[second.astype(np.intp)]
        return decided


def _inner(hypothesis: Hypothesis) -> Any:
    rule = hypothesis.rule if isinstance(hypothesis, Valued) else hypothesis
    return rule.inner if isinstance(rule, Function | ClassFunction) else hypothesis
