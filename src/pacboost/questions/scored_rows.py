"""Held-out rows with a model's predictions: events to count and losses to average."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, NotCertified, ParameterError, invalid
from pacboost.measures import Costs, MeasureSpec
from pacboost.models.answers import asked
from pacboost.numerics.same_bits import log, row_totals


def cost_matrix(costs: Costs, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Read costs: a matrix (true, predicted), or a mapping {(true, predicted): cost}."""
    number = classes.size
    if isinstance(costs, Mapping):
        places = {name: place for place, name in enumerate(classes.tolist())}
        matrix = np.zeros((number, number))
        for pair, cost in costs.items():
            if not isinstance(pair, tuple) or len(pair) != 2 or not set(pair) <= set(places):
                raise ParameterError(
                    f"costs name {pair!r}; keys are pairs (true class, predicted class) of "
                    f"{', '.join(map(repr, places))}",
                    parameter="cost",
                )
            matrix[places[pair[0]], places[pair[1]]] = cost
    else:
        matrix = np.asarray(costs, dtype=np.float64)
    if matrix.shape != (number, number) or not ((matrix >= 0) & (matrix < math.inf)).all():
        raise ParameterError(
            f"costs have shape {matrix.shape}; for {number} classes they are {number} by {number} "
            "finite numbers, 0 or more, true classes down and predictions across",
            parameter="cost",
        )
    if matrix.max() <= 0:
        raise ParameterError("all costs are 0; at least one has to be larger", parameter="cost")
    return matrix


Mask = NDArray[np.bool_]
Doubles = NDArray[np.float64]
SUM_SLACK = 1e-4
"""How far the probabilities of a row may be from a sum of 1; some models give 32-bit floats."""


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Labels and predictions of held-out rows.

    ``doubtful`` marks ties of a vote, and rows that may not be new: they count in the way that
    makes a claim weaker.
    """

    model: Any
    X: Any
    labels: NDArray[Any]
    said: NDArray[Any]
    doubtful: Mask

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.labels.size)

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The classes that the model knows; if it knows none, those of labels and predictions."""
        if hasattr(self.model, "classes_"):
            return np.asarray(self.model.classes_)
        return np.unique(np.concatenate([self.labels, self.said]))

    @cached_property
    def chances(self) -> Doubles:
        """The probability of each class, (rows, classes)."""
        if not hasattr(self.model, "predict_proba"):
            raise NotCertified(
                f"{type(self.model).__name__} has no predict_proba, so it gives no probabilities; "
                "certify what it predicts (error, recall, precision, f1), or calibrate it first"
            )
        chances = np.asarray(self._said_chances, dtype=np.float64)
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
    def _said_chances(self) -> NDArray[Any]:
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
        kind = np.result_type(self._said_chances, np.float16)  # 1 and 0 may be whole numbers
        return np.ascontiguousarray(checked[:, place], dtype=kind)

    def event(self, measure: MeasureSpec, label: object = None) -> tuple[Mask, Mask]:
        """Return the rows among which a rate is counted, and the rows that it counts."""
        name, every = measure.name, np.ones(self.size, dtype=np.bool_)
        if name == "error":
            return every, np.asarray(self.said != self.labels)
        if name == "top_k_error":
            return every, self._outside_top(measure.top_k)
        if name == "large_errors":
            return every, self._residuals > float(measure.larger_than or 0)
        is_class, is_predicted = self.labels == label, self.said == label
        if name in ("recall", "false_negative_rate"):
            return is_class, is_class & (is_predicted if name == "recall" else ~is_predicted)
        if name == "false_positive_rate":
            # No answer is never the right one, so it counts against negatives, too.
            unanswered = np.array([answer is None for answer in self.said.tolist()])
            return ~is_class, ~is_class & (is_predicted | unanswered)
        inside = is_predicted if name == "precision" else is_class | is_predicted
        return inside | self.doubtful, is_class & is_predicted

    def losses(self, measure: MeasureSpec) -> tuple[Doubles, float]:
        """Return each row's loss as a share of the largest possible loss, and that loss."""
        if measure.name == "brier":
            return self._brier()
        if measure.p_min is not None:
            scale = math.log(1 / measure.p_min)
            losses = 0.0 - log(self._own_chances)  # a negation makes -0.0 of a certain answer
            return np.minimum(losses, scale) / scale, scale
        if measure.costs is not None:
            return self._costs(measure.costs)
        if measure.clip is not None:
            return np.minimum(self._residuals, measure.clip) / measure.clip, measure.clip
        _, wrong = self.event(measure)
        return wrong.astype(np.float64), 1.0

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """The place of each label among the classes; -1 if it is none of them."""
        names = {name: place for place, name in enumerate(self.classes.tolist())}
        return np.array([names.get(label, -1) for label in self.labels.tolist()], dtype=np.intp)

    @property
    def _own_chances(self) -> Doubles:
        """The probability of the true class; 0 for labels that the model does not know."""
        chances = self.chances[np.arange(self.size), np.maximum(self.places, 0)]
        return np.where(self.places >= 0, chances, 0.0)

    @cached_property
    def _residuals(self) -> Doubles:
        residuals = np.abs(np.asarray(self.said, np.float64) - np.asarray(self.labels, np.float64))
        if not np.isfinite(residuals).all():
            raise DataError("a label or a prediction is missing or not finite; drop those rows")
        return residuals

    def _brier(self) -> tuple[Doubles, float]:
        """Return the Brier score of each row; with more than two classes it is at most 2."""
        if self.classes.size <= 2:
            return (1 - self._own_chances) ** 2, 1.0
        indicators = np.zeros_like(self.chances)
        is_known = self.places >= 0
        indicators[np.flatnonzero(is_known), self.places[is_known]] = 1.0
        squares = row_totals((self.chances - indicators) ** 2)
        return np.where(is_known, np.minimum(squares, 2.0), 2.0) / 2, 2.0

    def _outside_top(self, top_k: int | None) -> Mask:
        """Return which rows' true class is not among the k most probable; ties count against it."""
        max_k = self.classes.size - 1
        if not isinstance(top_k, int) or isinstance(top_k, bool) or not 1 <= top_k <= max_k:
            allowed = f"is a whole number from 1 to {max_k}, with {self.classes.size} classes"
            raise invalid("top_k", top_k, allowed)
        before = (self.chances >= self._own_chances[:, None]).sum(axis=1) - 1
        return np.asarray((before >= top_k) | (self.places < 0))

    def _costs(self, costs: Costs) -> tuple[Doubles, float]:
        matrix = cost_matrix(costs, self.classes)
        names = {name: place for place, name in enumerate(self.classes.tolist())}
        predicted = np.array([names.get(one, -1) for one in self.said.tolist()], dtype=np.intp)
        scale = float(matrix.max())  # also of a label that is not known, and of no answer
        costs_of_rows = matrix[np.maximum(self.places, 0), predicted]
        return np.where((self.places >= 0) & (predicted >= 0), costs_of_rows, scale) / scale, scale


def class_place(classes: NDArray[Any], label: object) -> int:
    """Return the place of a label among the classes, or raise."""
    places = [place for place, name in enumerate(classes.tolist()) if name == label]
    if len(places) != 1:
        names = ", ".join(repr(name) for name in classes.tolist()[:20])
        raise ParameterError(
            f"positive is {label!r}; the classes are {names}", parameter="positive"
        )
    return places[0]


def score_of(model: object, X: object, place: int) -> NDArray[Any]:
    """Return the score of a class: its probability, or for models without, their decision."""
    if hasattr(model, "predict_proba"):
        return asked(model, X, "predict_proba")[:, place]
    scores = asked(model, X, "decision_function")
    if scores.ndim == 2:
        return scores[:, place]
    return scores if place else -scores
