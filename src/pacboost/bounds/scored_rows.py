"""Held-out rows with a model's predictions, as measures see them: labels, answers, scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, ParameterError
from pacboost.numerics.same_bits import row_totals

Mask = NDArray[np.bool_]
Doubles = NDArray[np.float64]
SUM_SLACK = 1e-4
"""How far the probabilities of a row may be from a sum of 1; some models give 32-bit floats."""


class ScoredRows(ABC):
    """Labels and predictions of held-out rows.

    ``doubtful`` marks ties of a vote, and rows that may not be new: they count in the way that
    makes a claim weaker.
    """

    labels: NDArray[Any]
    predictions: NDArray[Any]
    doubtful: Mask

    @property
    @abstractmethod
    def classes(self) -> NDArray[Any]:
        """The classes that the model knows; if it knows none, those of labels and predictions."""

    @property
    @abstractmethod
    def model_chances(self) -> NDArray[Any]:
        """The probabilities that the model gives, of any type; raises if it gives none."""

    @abstractmethod
    def score(self, label: object) -> NDArray[Any]:
        """Return the score that ranks rows for a class."""

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.labels.size)

    @cached_property
    def chances(self) -> Doubles:
        """The probability of each class, (rows, classes)."""
        chances = np.asarray(self.model_chances, dtype=np.float64)
        if chances.shape != (self.size, self.classes.size):
            raise DataError(
                f"predict_proba gave shape {chances.shape} for {self.size} rows and "
                f"{self.classes.size} classes"
            )
        in_range = ((chances >= 0) & (chances <= 1)).all()
        if not in_range or not (abs(row_totals(chances) - 1) <= SUM_SLACK).all():
            raise DataError(
                "predict_proba gave numbers that are missing, not between 0 and 1, or do not sum "
                "to 1 in a row"
            )
        return chances

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """The place of each label among the classes; -1 if it is none of them."""
        return self.places_of(self.labels)

    def places_of(self, labels: NDArray[Any]) -> NDArray[np.intp]:
        """Return the place of each label or prediction among the classes; -1 if it is none."""
        names = {name: place for place, name in enumerate(self.classes.tolist())}
        return np.array([names.get(label, -1) for label in labels.tolist()], dtype=np.intp)

    @cached_property
    def true_chances(self) -> Doubles:
        """The probability of the true class; 0 for labels that the model does not know."""
        chances = self.chances[np.arange(self.size), np.maximum(self.places, 0)]
        return np.where(self.places >= 0, chances, 0.0)

    @cached_property
    def residuals(self) -> Doubles:
        """The absolute error of each row, of a model that predicts numbers."""
        predictions = np.asarray(self.predictions, np.float64)
        residuals = np.abs(predictions - np.asarray(self.labels, np.float64))
        if not np.isfinite(residuals).all():
            raise DataError("a label or a prediction is missing or not finite; drop those rows")
        return residuals


def class_place(classes: NDArray[Any], label: object) -> int:
    """Return the place of a label among the classes, or raise."""
    places = [place for place, name in enumerate(classes.tolist()) if name == label]
    if len(places) != 1:
        names = ", ".join(repr(name) for name in classes.tolist()[:20])
        raise ParameterError(
            f"positive is {label!r}; the classes are {names}", parameter="positive"
        )
    return places[0]
