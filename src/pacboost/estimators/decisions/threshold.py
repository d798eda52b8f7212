"""Classifiers that say a class from a threshold on, or answer where confident, with a guarantee."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds import wording
from pacboost.bounds.answering import Answering
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.decision import ThresholdCurve, ThresholdDecision
from pacboost.bounds.family import Family
from pacboost.errors import FileError, NotCertified
from pacboost.estimators.fitted import explaining
from pacboost.estimators.inputs.estimator import (
    RemembersRows,
    ScoredClassifier,
    fits_rows,
    least_likely,
    takes_rows,
)
from pacboost.models.answers import AnswerList, answers, asked, confidence
from pacboost.models.file import format as model_file
from pacboost.models.model import Model
from pacboost.questions.inner_models import inner_models, remembers, snapshot
from pacboost.questions.scored_rows import class_place, score_of
from pacboost.samples.plain_rows import plain_rows
from pacboost.samples.sketch import Overlap, Sketch
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.table import Table

# What classifiers share that decide in a way of their own by what a fitted classifier says.


class Shell(ScoredClassifier, RemembersRows, BaseEstimator):  # type: ignore[misc]
    """A classifier whose work a fitted one does, in ``estimator_``."""

    estimator_: Any
    _repr_mimebundle_ = explaining.bundle

    @property
    def model_(self) -> Any:
        """The model of the estimator that does the work, if it is one of ours."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError("model_ is there after fit; this estimator is not fitted yet")
        return self.estimator_.model_

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


class WrappedClassifier(Shell):
    """A fitted classifier in ``estimator_``, and a rule that some rows have chosen.

    Rows of the fit, and those by which the rule was chosen, are remembered.
    """

    estimator: Any
    threshold: float
    sentence_: Any
    _option = "decision"
    """What a report calls that which is known of the threshold."""

    @fits_rows
    def fit(self, X: Any, y: Any) -> Self:
        """Fit a clone of the estimator; the threshold stays, and nothing is certified."""
        self.__dict__.pop("decision_", None)
        self._start(clone(self.estimator).fit(X, y))
        known = tuple(getattr(self.estimator_, "_sketches", ()))
        self._sketches = known or (Sketch.from_table(self._rows_to_compare(X)),)
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
        self._remember_choice(rows)
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

    def _remember_choice(self, rows: Any) -> None:
        """Remember the rows of the fit, and those by which the rule was chosen."""
        own: tuple[Sketch, ...] = tuple(getattr(self.estimator_, "_sketches", ()))
        if rows is not None:
            sketch = Sketch.from_table(self._rows_to_compare(rows))
            own = (*own, sketch if own else replace(sketch, complete=False))
        self._sketches = own

    @takes_rows
    def mistakes(self, X: Any, y: Any) -> NDArray[np.bool_]:
        """Return which rows are wrong, or not answered."""
        return np.asarray(self.predict(X) != np.asarray(y))

    @takes_rows
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the estimator."""
        return asked(self.estimator_, X, "predict_proba")

    @takes_rows
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of the estimator."""
        return asked(self.estimator_, X, "decision_function")

    @takes_rows
    def overlap(self, X: Any) -> Overlap | None:
        """Compare rows with those of the fit, and with those that chose the threshold."""
        table = self._rows_to_compare(X)
        found = [own.overlap(table) for own in self._sketches]
        for inner in inner_models(self.estimator_, X):
            seen = inner.model.overlap(inner.X)
            found += [] if seen is None else [seen]
        return least_likely(found)

    def forget_rows(self) -> None:
        """Drop the sketches of all rows."""
        self._sketches = ()
        if hasattr(self.estimator_, "forget_rows"):
            self.estimator_.forget_rows()

    @explains_input
    def save(self, path: str | Path, *, remember_rows: bool = True) -> None:
        """Write model, threshold and certificate to a file that ``pacboost.load`` reads.

        ``choose_threshold(load(path))`` answers again where some rows get no answer.
        """
        inner = getattr(self.estimator_, "estimator_", self.estimator_)
        kept = self._kept(getattr(inner, "model_", None))
        if kept is None:
            raise FileError(
                f"{path}: is not written, for {type(inner).__name__} has no model file that keeps "
                "it. Pickle it, if you trust who reads it"
            )
        model_file.save(kept, path, self._sketches if remember_rows else ())

    @abstractmethod
    def _kept(self, model: Any) -> Any:
        """Return the model with what is known of the threshold; None if it cannot be kept."""

    @takes_rows
    def report(
        self, path: str | Path | None = None, X: Any = None, y: Any = None, **options: Any
    ) -> Any:
        """Write the page of the estimator, which begins with what is guaranteed, or show it."""
        from pacboost.reports.page.document import Sentence

        head = wording.sentence(self.certificate_)
        said = Sentence(*head, self.sentence_.removeprefix(str(head)).strip())
        known = {"sentence": said, self._option: self.decision}
        return self.estimator_.report(path, X, y, **known | options)

    def _rows_to_compare(self, X: Any) -> Table:
        if remembers(self.estimator_):
            found: Table = self.estimator_._rows_to_compare(X)
            return found
        return plain_rows(X)

    def _repr_html_inner(self) -> str:
        promise = ""
        with suppress(NotCertified):
            promise = self.sentence_
        return explaining.html(self, promise)


class ThresholdClassifier(WrappedClassifier):
    """A classifier that says the positive class where its score is at least ``threshold``.

    ``pacboost.choose_threshold`` makes it, with a certificate. The score is the probability of the
    positive class, or for two classes without probabilities the decision. Other rows get the most
    probable of the other classes. ``fit`` fits a clone again; then nothing is certified.

    Attributes
    ----------
    threshold_ : the threshold
    certificate_ : what is guaranteed
    others_ : what is certified on the other side
    curve_ : recall, false alarms and precision at many thresholds, with bounds for all of them
    sentence_ : all of it in words
    """

    def __init__(self, estimator: Any, threshold: float = 0.5, positive: Any = None) -> None:
        self.estimator, self.threshold, self.positive = estimator, threshold, positive

    @classmethod
    def of(
        cls, estimator: Any, decision: ThresholdDecision, rows: Any = None
    ) -> ThresholdClassifier:
        """Make it of a fitted classifier; ``rows`` are those by which the threshold was chosen."""
        made = cls(estimator, decision.threshold, decision.positive)
        return made._decide(estimator, decision, rows)

    def _as_decided(self) -> bool:
        return super()._as_decided() and bool(self.positive == self.decision_.positive)

    @property
    def others_(self) -> Family:
        """What is certified on the other side."""
        others: Family = self.decision.others
        return others

    @property
    def curve_(self) -> ThresholdCurve:
        """What was seen and what is certified at many thresholds."""
        curve: ThresholdCurve = self.decision.curve
        return curve

    @property
    def sentence_(self) -> str:
        """What is guaranteed and what it costs, in words."""
        return str(self.decision.sentence)

    @takes_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the positive class from the threshold on, else the most probable other class."""
        check_is_fitted(self, "estimator_")
        label = self.classes_[-1] if self.positive is None else self.positive
        place = class_place(self.classes_, label)
        score = score_of(self.estimator_, X, place).astype(np.float64)
        others = np.delete(self.classes_, place)
        if others.size > 1:
            others = others[np.delete(self.predict_proba(X), place, axis=1).argmax(axis=1)]
        return np.asarray(np.where(score >= self.threshold, label, others))

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve: what was seen and what is guaranteed at every threshold; give the axes.

        Two axes may be given: shares by threshold, and recall by false alarms.
        """
        from pacboost.reports.plots import threshold_curves

        return threshold_curves(self.decision, ax)

    def _kept(self, model: Any) -> Any:
        if not isinstance(model, Model):
            return None
        model = replace(model, certificate=None, held_out=None, answering=None)
        return replace(model, decision=self.decision)


class AnsweringClassifier(WrappedClassifier):
    """Answer where the probability of the predicted class is at least ``threshold``.

    ``pacboost.choose_threshold`` with ``target_error`` or ``abstain_below`` makes it. ``predict``
    gives ``otherwise`` for rows that are not answered, so those count as mistakes wherever all rows
    are counted. ``fit`` fits a clone again; then nothing is certified.

    Attributes
    ----------
    threshold_ : the least confidence with which a row is answered
    certificate_ : the error among the answered that is guaranteed
    curve_ : the error among the answered at other thresholds, with bounds for all of them
    sentence_ : all of it in words
    """

    _option = "answering"

    def __init__(self, estimator: Any, threshold: float = 0.5, otherwise: Any = None) -> None:
        self.estimator, self.threshold, self.otherwise = estimator, threshold, otherwise

    @classmethod
    def of(cls, estimator: Any, found: Answering, rows: Any = None) -> AnsweringClassifier:
        """Make it of a fitted classifier; ``rows`` are those by which the threshold was chosen."""
        return cls(estimator, found.point.threshold)._decide(estimator, found, rows)

    @classmethod
    def uncertified(cls, estimator: Any, threshold: float) -> AnsweringClassifier:
        """Make it of a fitted classifier and a threshold, without any certificate."""
        made = cls(estimator, threshold)
        made._start(snapshot(estimator))
        made._remember_choice(None)
        return made

    def _as_decided(self) -> bool:
        return bool(self.threshold == self.decision_.point.threshold)

    @property
    def curve_(self) -> Answering:
        """The error among the answered at all thresholds that were looked at."""
        found: Answering = self.decision
        return found

    @property
    def sentence_(self) -> str:
        """What is guaranteed, and how many are answered, in words."""
        return f"{wording.sentence(self.certificate_)} {self.curve_.answers()}"

    @takes_rows
    def answer(self, X: Any) -> AnswerList:
        """Return a label with its confidence where it is large enough, else ``otherwise``."""
        check_is_fitted(self, "estimator_")
        decided = asked(self.estimator_, X)
        chances = asked(self.estimator_, X, "predict_proba")
        sure = confidence(decided, chances, self.classes_)
        return answers(decided, sure, self.threshold, self.otherwise)

    @takes_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every row that is answered, and ``otherwise`` for the others."""
        found = self.answer(X)
        labels = np.empty(len(found), dtype=object)
        labels[:] = [own.label for own in found]
        return labels

    def plot(self, ax: Any = None) -> Any:
        """Draw the error among the answered, seen and guaranteed, by the share that is answered."""
        from pacboost.reports.plots import answering_curve

        return answering_curve(self.curve_, ax)

    def _kept(self, model: Any) -> Any:
        if not isinstance(model, Model):
            return None
        return replace(model, answering=self.curve_, decision=None)
