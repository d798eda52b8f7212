"""What to certify: measures with their options, for ``of=`` of ``certify`` and ``certify_all``.

A measure whose options all have defaults may also be given by its name: ``of="recall"`` is
``of=measures.recall()``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from pacboost.errors import ParameterError

__all__ = [
    "MeasureSpec",
    "absolute_error",
    "auc",
    "balanced_error",
    "brier",
    "cost",
    "error",
    "f1",
    "false_negative_rate",
    "false_positive_rate",
    "jaccard",
    "large_errors",
    "log_loss",
    "precision",
    "recall",
    "top_k_error",
]

Costs = ArrayLike | Mapping[Any, float]


@dataclass(frozen=True, eq=False)
class MeasureSpec:
    """A quantity to certify; made by the functions of this module."""

    name: str
    positive: object = None
    """A class, or a list of classes with one claim each; None for the default."""
    top_k: int | None = None
    p_min: float | None = None
    clip: float | None = None
    larger_than: float | None = None
    costs: Costs | None = None


def error() -> MeasureSpec:
    """Share of examples that are predicted wrongly."""
    return MeasureSpec("error")


def recall(positive: object = None) -> MeasureSpec:
    """Share of the examples of a class that are predicted as this class.

    Parameters
    ----------
    positive : label or list of labels, default=None
        The class; ``certify_all`` makes a claim for each class of a list. None: the second of two
        classes, or each of several.
    """
    return MeasureSpec("recall", positive)


def precision(positive: object = None) -> MeasureSpec:
    """Share of the examples predicted as a class that are of this class; see ``recall``."""
    return MeasureSpec("precision", positive)


def false_negative_rate(positive: object = None) -> MeasureSpec:
    """Share of the examples of a class that are predicted as another one; see ``recall``."""
    return MeasureSpec("false_negative_rate", positive)


def false_positive_rate(positive: object = None) -> MeasureSpec:
    """Share of the examples of other classes that are predicted as this one; see ``recall``."""
    return MeasureSpec("false_positive_rate", positive)


def f1(positive: object = None) -> MeasureSpec:
    """F1 score of a class; see ``recall``."""
    return MeasureSpec("f1", positive)


def jaccard(positive: object = None) -> MeasureSpec:
    """Jaccard index of a class; see ``recall``."""
    return MeasureSpec("jaccard", positive)


def auc(positive: object = None) -> MeasureSpec:
    """Area under the ROC curve of the scores of a class; see ``recall``."""
    return MeasureSpec("auc", positive)


def balanced_error() -> MeasureSpec:
    """Mean of the error rates of all classes."""
    return MeasureSpec("balanced_error")


def top_k_error(k: int = 5) -> MeasureSpec:
    """Share of examples whose class is not among the k most probable ones."""
    return MeasureSpec("top_k_error", top_k=k)


def brier() -> MeasureSpec:
    """Mean squared difference between probabilities and the true class."""
    return MeasureSpec("brier")


def log_loss(p_min: float = 0.001) -> MeasureSpec:
    """Mean log loss; probabilities below ``p_min`` count as ``p_min``, as the loss is unbounded."""
    if not isinstance(p_min, float) or not 0 < p_min < 0.5:
        raise ParameterError(f"p_min is {p_min!r}; it lies strictly between 0 and 0.5")
    return MeasureSpec("log_loss", p_min=p_min)


def cost(costs: Costs) -> MeasureSpec:
    """Mean cost of the predictions.

    Parameters
    ----------
    costs : matrix or mapping
        A matrix with true classes down and predictions across, or {(true, predicted): cost}; a
        pair that a mapping does not name costs 0.
    """
    return MeasureSpec("cost", costs=costs)


def absolute_error(clip: float) -> MeasureSpec:
    """Mean absolute error of a regressor; errors above ``clip``, fixed beforehand, count as it."""
    return MeasureSpec("absolute_error", clip=_limit("clip", clip))


def large_errors(larger_than: float) -> MeasureSpec:
    """Share of examples for which a regressor is off by more than a limit, fixed beforehand."""
    return MeasureSpec("large_errors", larger_than=_limit("larger_than", larger_than))


def _limit(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ParameterError(
            f"{name} is {value!r}; it must be a finite number above 0, fixed before the rows are "
            "looked at",
            parameter=name,
        )
    return float(value)
