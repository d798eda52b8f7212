"""Fitted classifiers with a certified threshold: on one class, or on the confidence of answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds.answering import Answering
from pacboost.bounds.decision import ThresholdCurve, ThresholdDecision, reached
from pacboost.bounds.family import Family
from pacboost.bounds.scored_rows import class_place
from pacboost.estimators.decisions.wrapped import WrappedClassifier
from pacboost.estimators.inputs.rows import takes_rows
from pacboost.models.answers import AnswerList, answers, asked, confidence
from pacboost.models.model import Model
from pacboost.questions.scored_rows import score_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ThresholdClassifier(WrappedClassifier):
    """Predict the positive class if its score is at least ``threshold``.

    ``pacboost.choose_threshold`` makes it, with a certificate. The score is the probability of the
    positive class, or for two classes without probabilities the decision. Other rows get the most
    probable of the other classes. ``fit`` fits a clone again; then nothing is certified.

    Attributes
    ----------
    threshold_ : the threshold
    certificate_ : the certificate of the rate that was asked for
    others_ : certificates of the other rates
    curve_ : recall, false alarms and precision at many thresholds, with bounds for all of them
    sentence_ : all of it in words
    """

    def __init__(
        self, estimator: BaseEstimator, threshold: float = 0.5, positive: object = None
    ) -> None:
        self.estimator, self.threshold, self.positive = estimator, threshold, positive

    @classmethod
    def of(
        cls, estimator: BaseEstimator, decision: ThresholdDecision, rows: object = None
    ) -> ThresholdClassifier:
        """Wrap a fitted classifier; ``rows`` are those that chose the threshold."""
        wrapped = cls(estimator, decision.threshold, decision.positive)
        return wrapped._decided(estimator, decision, rows)

    @property
    def _is_as_chosen(self) -> bool:
        decision: ThresholdDecision = self.decision_
        chosen = decision.threshold, decision.positive
        return bool((self.threshold, self.positive) == chosen)

    @property
    def others_(self) -> Family:
        """Certificates of the other rates."""
        others: Family = self.decision.others
        return others

    @property
    def curve_(self) -> ThresholdCurve:
        """Rates at many thresholds, observed and certified."""
        curve: ThresholdCurve = self.decision.curve
        return curve

    @property
    def _details(self) -> str:
        return str(self.decision.details)

    @takes_rows
    def predict(self, X: object) -> NDArray[Any]:
        """Return the positive class from the threshold on, else the most probable other class."""
        check_is_fitted(self, "estimator_")
        label: Any = self.classes_[-1] if self.positive is None else self.positive
        place = class_place(self.classes_, label)
        score = score_of(self.estimator_, X, place).astype(np.float64)
        # two classes need no probabilities, which some classifiers lack
        chances = self.predict_proba(X) if self.classes_.size > 2 else None
        return chosen(self.threshold, self.classes_, place, score, chances)

    def plot(self, ax: Axes | NDArray[Any] | None = None) -> Any:
        """Draw observed and certified rates at every threshold, and return the axes.

        ``ax`` may be two axes: shares by threshold, and recall by false alarms.
        """
        from pacboost.reports.plots import threshold_curves

        return threshold_curves(self.decision, ax)

    def _with_decision(self, model: Model) -> Model:
        return with_threshold(model, self.decision)


def with_threshold(model: Model, decision: ThresholdDecision) -> Model:
    """Return a model with a threshold; other certificates speak of predictions without it."""
    return replace(model, certificate=None, held_out=None, answering=None, decision=decision)


def from_threshold(
    decision: ThresholdDecision, classes: NDArray[Any], chances: NDArray[np.float64]
) -> NDArray[Any]:
    """Return the positive class from the threshold on, else the most probable other class."""
    place = class_place(classes, decision.positive)
    return chosen(decision.threshold, classes, place, chances[:, place], chances)


def chosen(
    threshold: float, classes: NDArray[Any], place: int, score: NDArray[np.float64],
    chances: NDArray[np.float64] | None,
) -> NDArray[Any]:  # fmt: skip
    """Return the class at a place where its score reaches the threshold, else the best other.

    ``chances`` of all classes rank the others; two classes need none.
    """
    others = np.delete(classes, place)
    if chances is not None and others.size > 1:
        others = others[np.delete(chances, place, axis=1).argmax(axis=1)]
    return np.asarray(np.where(reached(score, threshold), classes[place], others))


class AnsweringClassifier(WrappedClassifier):
    """Answer if the probability of the predicted class is at least ``threshold``.

    ``pacboost.choose_threshold`` with ``target_error`` or ``abstain_below`` makes it. ``predict``
    gives ``otherwise`` for rows without an answer, so they count as mistakes if all rows are
    counted. ``fit`` fits a clone again; then nothing is certified.

    Attributes
    ----------
    threshold_ : the least confidence with which a row is answered
    certificate_ : the bound on the error among the answered
    curve_ : the error among the answered at other thresholds, with bounds for all of them
    sentence_ : all of it in words
    """

    _option = "answering"

    def __init__(
        self, estimator: BaseEstimator, threshold: float = 0.5, otherwise: object = None
    ) -> None:
        self.estimator, self.threshold, self.otherwise = estimator, threshold, otherwise

    @classmethod
    def of(
        cls, estimator: BaseEstimator, answering: Answering, rows: object = None
    ) -> AnsweringClassifier:
        """Wrap a fitted classifier; ``rows`` are those that chose the threshold."""
        return cls(estimator, answering.point.threshold)._decided(estimator, answering, rows)

    @classmethod
    def uncertified(cls, estimator: BaseEstimator, threshold: float) -> AnsweringClassifier:
        """Wrap a fitted classifier with a threshold, without any certificate."""
        return cls(estimator, threshold)._decided(estimator, None)

    @property
    def _is_as_chosen(self) -> bool:
        return bool(self.threshold == self.decision_.point.threshold)

    @property
    def curve_(self) -> Answering:
        """The error among answered rows at all thresholds that were compared."""
        answering: Answering = self.decision
        return answering

    @property
    def _details(self) -> str:
        return self.curve_.answers()

    @takes_rows
    def answer(self, X: object) -> AnswerList:
        """Return a label with its confidence if that is large enough, else ``otherwise``."""
        check_is_fitted(self, "estimator_")
        predicted = asked(self.estimator_, X)
        probabilities = asked(self.estimator_, X, "predict_proba")
        confidences = confidence(predicted, probabilities, self.classes_)
        return answers(predicted, confidences, self.threshold, self.otherwise)

    @takes_rows
    def predict(self, X: object) -> NDArray[Any]:
        """Return the class of every row that is answered, and ``otherwise`` for the others."""
        given_answers = self.answer(X)
        # made of the list, an array would turn numbers beside a text into text
        labels = np.empty(len(given_answers), dtype=object)
        labels[:] = [answer.label for answer in given_answers]
        return labels

    def plot(self, ax: Axes | None = None) -> Any:
        """Draw the observed and certified error among answered rows by their share."""
        from pacboost.reports.plots import answering_curve

        return answering_curve(self.curve_, ax)

    def _with_decision(self, model: Model) -> Model:
        return replace(model, answering=self.curve_, decision=None)
