"""Held-out rows with the predictions of any fitted model, which is asked for scores once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.scored_rows import Mask, ScoredRows, class_place
from pacboost.errors import DataError, NotCertified
from pacboost.models.answers import asked


@dataclass(frozen=True, eq=False)
class RowsOfModel(ScoredRows):
    """Labels and predictions of held-out rows, and the model that gives scores."""

    model: Any
    X: Any
    labels: NDArray[Any]
    predictions: NDArray[Any]
    doubtful: Mask

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The classes that the model knows; if it knows none, those of labels and predictions."""
        if hasattr(self.model, "classes_"):
            return np.asarray(self.model.classes_)
        return np.unique(np.concatenate([self.labels, self.predictions]))

    @cached_property
    def model_chances(self) -> NDArray[Any]:
        """The probabilities that the model gives, of any type; raises if it gives none."""
        if not hasattr(self.model, "predict_proba"):
            raise NotCertified(
                f"{type(self.model).__name__} has no predict_proba, so it gives no probabilities; "
                "certify what it predicts (error, recall, precision, f1), or calibrate it first"
            )
        return asked(self.model, self.X, "predict_proba")

    def score(self, label: object) -> NDArray[Any]:
        """Return the score that ranks rows for a class."""
        place = class_place(self.classes, label)
        if not hasattr(self.model, "predict_proba") and hasattr(self.model, "decision_function"):
            scores = score_of(self.model, self.X, place)
            if scores.shape != (self.size,) or np.isnan(scores).any():
                raise DataError(f"decision_function gave shape {scores.shape}, or missing numbers")
            return scores
        checked = self.chances
        kind = np.result_type(self.model_chances, np.float16)  # 1 and 0 may be whole numbers
        return np.ascontiguousarray(checked[:, place], dtype=kind)


def score_of(model: object, X: object, place: int) -> NDArray[Any]:
    """Return the score of a class: its probability, or for models without, their decision."""
    if hasattr(model, "predict_proba"):
        return asked(model, X, "predict_proba")[:, place]
    scores = asked(model, X, "decision_function")
    if scores.ndim == 2:
        return scores[:, place]
    return scores if place else -scores
