"""Answers with their confidence, and abstention where the confidence is too low."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError

Doubles = NDArray[np.float64]


class Answer(NamedTuple):
    """The answer for one row: ``label`` is None if the confidence is too low.

    >>> print(Answer("lost card", 0.93, "lost card"))
    lost card (confidence 0.93)
    >>> print(Answer(None, 0.31, "top-up"))
    no answer (confidence 0.31; a guess: top-up)
    """

    label: Any
    confidence: float
    guess: Any
    """The prediction, whether it is answered or not."""

    def __str__(self) -> str:
        if self.label is None:
            return f"no answer (confidence {self.confidence:.2f}; a guess: {self.guess})"
        return f"{self.label} (confidence {self.confidence:.2f})"


def confidence(decided: NDArray[Any], probabilities: Doubles, classes: NDArray[Any]) -> Doubles:
    """Give the probability of what was decided.

    For one label per row that is the probability of the predicted class. For several labels it is
    the product, over all labels, of the probability of the prediction for the label: the
    probability that all are right, if labels were independent given the row.

    >>> confidence(np.array(["b", "a"]), np.array([[0.2, 0.8], [0.6, 0.4]]), np.array(["a", "b"]))
    array([0.8, 0.6])
    """
    if decided.ndim == 2:
        said = np.where(decided > 0, probabilities, 1 - probabilities)
        return np.asarray(said.prod(axis=1))
    if probabilities.shape != (decided.size, classes.size):
        raise DataError(
            f"predict_proba gave shape {probabilities.shape} for {decided.size} rows and "
            f"{classes.size} classes"
        )
    order = np.argsort(classes)
    named = order[np.searchsorted(classes, decided, sorter=order)]
    return np.minimum(probabilities[np.arange(decided.size), named], 1.0)


def answers(decided: NDArray[Any], sure: Doubles, threshold: float, otherwise: Any) -> list[Answer]:
    """Answer the rows whose confidence reaches the threshold, and the others with ``otherwise``."""
    return [
        Answer(guess if own >= threshold else otherwise, own, guess)
        for guess, own in zip(decided.tolist(), sure.tolist(), strict=True)
    ]
