"""How well scores fit signs: the measures by which validation rows may stop a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from pacboost.errors import ParameterError

Measure = Callable[[NDArray[np.int8], NDArray[np.float64]], float]


@dataclass(frozen=True)
class Metric:
    """A measure of (signs, scores), and whether more of it is better."""

    name: str
    measure: Measure
    more_is_better: bool = False


def error(signs: NDArray[np.int8], scores: NDArray[np.float64]) -> float:
    """Share of rows on which the vote errs or ties.

    >>> round(error(np.array([1, -1, 1], dtype=np.int8), np.array([0.5, -0.1, 0.0])), 4)
    0.3333
    """
    return float(np.mean(signs * scores <= 0))


def exponential_loss(signs: NDArray[np.int8], scores: NDArray[np.float64]) -> float:
    """Mean of exp(-y F), AdaBoost's own potential."""
    return float(np.mean(np.exp(-signs * scores)))


def log_loss(signs: NDArray[np.int8], scores: NDArray[np.float64]) -> float:
    """Mean of ln(1 + exp(-2 y F)): the log loss of the probabilities 1/(1 + exp(-2F))."""
    return float(np.mean(np.logaddexp(0.0, -2 * signs * scores)))


def auc(signs: NDArray[np.int8], scores: NDArray[np.float64]) -> float:
    """Chance that a positive row scores above a negative one, ties counting half.

    >>> auc(np.array([1, 1, -1], dtype=np.int8), np.array([2.0, 1.0, 1.0]))
    0.75
    """
    positive = int(np.count_nonzero(signs > 0))
    negative = signs.size - positive
    if positive == 0 or negative == 0:
        raise ParameterError("the validation rows hold one class only; auc needs both")
    ranks = float(rankdata(scores)[signs > 0].sum())
    return (ranks - positive * (positive + 1) / 2) / (positive * negative)


METRICS = {
    "error": Metric("error", error),
    "exponential_loss": Metric("exponential_loss", exponential_loss),
    "log_loss": Metric("log_loss", log_loss),
    "auc": Metric("auc", auc, more_is_better=True),
}


def metric(choice: str | Measure) -> Metric:
    """Look a metric up by name, or take a function of (signs, scores) of which less is better."""
    if callable(choice):
        return Metric(getattr(choice, "__name__", "metric"), choice)
    if not isinstance(choice, str) or choice not in METRICS:
        raise ParameterError(
            f"eval_metric is {choice!r}; it may be {', '.join(METRICS)}, or a function of "
            "(signs, scores) that gets smaller as the fit gets better"
        )
    return METRICS[choice]
