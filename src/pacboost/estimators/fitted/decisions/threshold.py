"""A classifier that says a class where its score reaches a threshold, with what is guaranteed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds import wording
from pacboost.bounds.decision import ThresholdCurve, ThresholdDecision
from pacboost.bounds.family import Family
from pacboost.errors import FileError
from pacboost.estimators.fitted.decisions.calibrated import covering_model
from pacboost.estimators.fitted.decisions.wrapped import WrappedClassifier
from pacboost.models.file import forest_format
from pacboost.models.file import format as model_file
from pacboost.models.model import Model
from pacboost.questions.scored_rows import class_place, score_of


class ThresholdClassifier(WrappedClassifier):
    """Say the positive class where its score is at least ``threshold``.

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

    @property
    def decision(self) -> ThresholdDecision:
        """Everything that is known of the threshold."""
        found: ThresholdDecision = super().decision
        return found

    def _as_decided(self) -> bool:
        return super()._as_decided() and bool(self.positive == self.decision_.positive)

    @property
    def others_(self) -> Family:
        """What is certified on the other side."""
        return self.decision.others

    @property
    def curve_(self) -> ThresholdCurve:
        """What was seen and what is certified at many thresholds."""
        return self.decision.curve

    @property
    def sentence_(self) -> str:
        """What is guaranteed and what it costs, in words."""
        return self.decision.sentence

    def predict(self, X: Any) -> NDArray[Any]:
        """Say the positive class from the threshold on, else the most probable other class."""
        check_is_fitted(self, "estimator_")
        label = self.classes_[-1] if self.positive is None else self.positive
        place = class_place(self.classes_, label)
        score = score_of(self.estimator_, X, place).astype(np.float64)
        return np.asarray(np.where(score >= self.threshold, label, self._others(X, place)))

    def _others(self, X: Any, place: int) -> Any:
        rest = np.delete(self.classes_, place)
        if rest.size == 1:
            return rest[0]
        chances = np.delete(self.predict_proba(X), place, axis=1)
        return rest[chances.argmax(axis=1)]

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve: what was seen and what is guaranteed at every threshold; give the axes.

        Two axes may be given: shares by threshold, and recall by false alarms.
        """
        from pacboost.reports.threshold import threshold_curves

        return threshold_curves(self.decision, ax)

    def mistakes(self, X: Any, y: Any) -> NDArray[np.bool_]:
        """Tell which rows are wrong with this threshold."""
        return np.asarray(self.predict(X) != np.asarray(y))

    def save(self, path: str | Path, *, remember_rows: bool = True) -> None:
        """Write model, threshold and certificate to a file that ``pacboost.load`` reads."""
        inner = getattr(self.estimator_, "estimator_", self.estimator_)
        model = covering_model(inner) if hasattr(inner, "model_") else None
        seen = self._sketches if remember_rows else ()
        if isinstance(model, Model):
            whole = replace(model, certificate=None, answering=None, held_out=None)
            model_file.save(replace(whole, decision=self.decision), path, seen)
        elif isinstance(model, forest_format.ForestModel):
            forest = replace(model, certificate=None, held_out=None, decision=self.decision)
            forest_format.save(forest, path, seen)
        else:
            raise FileError(
                f"{path}: is not written, for {type(inner).__name__} has no model file. Pickle it, "
                "if you trust who reads it"
            )

    def report(self, path: str | Path, X: Any = None, y: Any = None, **options: Any) -> Path:
        """Write the page of the estimator, which begins with what is guaranteed."""
        from pacboost.reports.page.sentence import Sentence

        head = wording.sentence(self.certificate_)
        said = Sentence(*head, self.sentence_.removeprefix(str(head)).strip())
        written: Path = self.estimator_.report(
            path, X, y, **{"sentence": said, "decision": self.decision, **options}
        )
        return written
