"""A threshold that was chosen for a class, as exported programs compare with it."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.certificate import Certificate
from pacboost.errors import ParameterError
from pacboost.models.model import Model

LARGEST = 1e200
"""No score is larger."""


@dataclass(frozen=True)
class Cut:
    """Say the class at ``place`` where what is compared is on its side of ``at``.

    With a score for two classes that is the score, at least ``at`` for the second class and at most
    ``at`` for the first: scores are exact in every program, and probabilities need not be, to their
    last digit. Otherwise it is the probability of the class, at least ``at``.
    """

    place: int
    at: float


def chosen_cut(model: Any) -> tuple[float, int, Certificate | None] | None:
    """Give threshold, place of the class and certificate of a fitted classifier, if it has them."""
    if getattr(model, "threshold_", None) is None:
        return None
    if not hasattr(model, "positive"):
        raise ParameterError(
            f"{type(model).__name__} cannot be exported: programs answer every row. Export its "
            "estimator_, and compare the probability of its answers with threshold_ yourself"
        )
    while "threshold" not in vars(model):  # of a search that ended in a threshold
        model = model.estimator_
    classes: NDArray[Any] = np.asarray(model.classes_)
    place = classes.size - 1
    if model.positive is not None:
        place = classes.tolist().index(model.positive)
    decision = vars(model).get("decision_")
    certified = decision is not None and model._as_decided()  # no other threshold was set since
    return model.threshold_, place, decision.certificate if certified else None


def cut_of_score(model: Model, threshold: float, place: int) -> Cut:
    """Turn a threshold of the probability of one of two classes into one of the score.

    The probability of the second class rises with the score, so that the smallest score that
    reaches the threshold is found by halving the floats; the largest, for the first class.
    """
    side = 1.0 if place == 1 else -1.0

    def reaches(number: int) -> bool:
        score = np.array([side * _float(number)])
        return bool(model.probabilities(score)[0, place] >= threshold)

    low, high = _number(-LARGEST), _number(LARGEST)
    if reaches(low):
        return Cut(place, -side * LARGEST)
    if not reaches(high):
        raise ValueError("no score reaches the threshold")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return Cut(place, side * _float(high))


def _number(value: float) -> int:
    """Number the floats in their order.

    >>> _number(1.0) - _number(math.nextafter(1.0, 0)), _float(_number(-2.5))
    (1, -2.5)
    """
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return int(bits) if bits >= 0 else -int(bits & 0x7FFF_FFFF_FFFF_FFFF)


def _float(number: int) -> float:
    (value,) = struct.unpack("<d", struct.pack("<q", abs(number)))
    return math.copysign(value, number)
