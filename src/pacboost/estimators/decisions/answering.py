"""A classifier that answers only where it is confident enough, with what is guaranteed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds.answering import Answering
from pacboost.bounds.wording import sentence
from pacboost.errors import FileError
from pacboost.estimators.decisions.threshold import WrappedClassifier
from pacboost.kernels.cuda.device import in_host_memory
from pacboost.models.answers import AnswerList, answers, confidence
from pacboost.models.file import format as model_file
from pacboost.models.model import Model
from pacboost.questions.new_rows import snapshot


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
        made._remember(None)
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
        return f"{sentence(self.certificate_)} {self.curve_.answers()}"

    def answer(self, X: Any) -> AnswerList:
        """Return a label with its confidence where it is large enough, else ``otherwise``."""
        check_is_fitted(self, "estimator_")
        decided = np.asarray(in_host_memory(self.estimator_.predict(X)))
        chances = np.asarray(in_host_memory(self.estimator_.predict_proba(X)))
        sure = confidence(decided, chances, self.classes_)
        return answers(decided, sure, self.threshold, self.otherwise)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every row that is answered, and ``otherwise`` for the others."""
        found = self.answer(X)
        labels = np.empty(len(found), dtype=object)
        labels[:] = [own.label for own in found]
        return labels

    def mistakes(self, X: Any, y: Any) -> NDArray[np.bool_]:
        """Return which rows are wrong or not answered."""
        return np.asarray(self.predict(X) != np.asarray(y))

    def plot(self, ax: Any = None) -> Any:
        """Draw the error among the answered, seen and guaranteed, by the share that is answered."""
        from pacboost.reports.text import answering_curve

        return answering_curve(self.curve_, ax)

    def save(self, path: str | Path, *, remember_rows: bool = True) -> None:
        """Write model and certificate to a file; ``choose_threshold(load(path))`` answers again."""
        inner = getattr(self.estimator_, "estimator_", self.estimator_)
        model = getattr(inner, "model_", None)
        if not isinstance(model, Model):
            raise FileError(
                f"{path}: is not written, for {type(inner).__name__} has no model file that keeps "
                "answers. Pickle it, if you trust who reads it"
            )
        seen = self._sketches if remember_rows else ()
        model_file.save(replace(model, answering=self.curve_, decision=None), path, seen)

    def report(self, path: str | Path, X: Any = None, y: Any = None, **options: Any) -> Path:
        """Write the page of the estimator, which begins with what is guaranteed."""
        from pacboost.reports.page.sentence import Sentence

        said = Sentence(*sentence(self.certificate_), self.curve_.answers())
        written: Path = self.estimator_.report(
            path, X, y, **{"sentence": said, "answering": self.curve_, **options}
        )
        return written
