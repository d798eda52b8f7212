"""Which rows a vote gets wrong: the definition that every certificate of an error rests on.

A tie is a mistake, and so is a score that is not a number, because then nothing was decided. A
theorem about the error of a vote then also holds for whatever ``predict`` answers on a tie.
``kernels/measure.py`` has the same definition as loops over rows, for the training error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Scores = NDArray[Any]
Marked = NDArray[np.bool_]


def wrong_margins(margins: ArrayLike) -> Marked:
    """Mark the margins y·F(x) that are not above 0.

    >>> wrong_margins([0.5, 0.0, -0.5, float("nan")]).tolist()
    [False, True, True, True]
    """
    return np.logical_not(np.asarray(margins) > 0)


def wrong_classes(scores: Scores, labels: NDArray[np.integer]) -> Marked:
    """Mark the rows (rows, classes) whose class does not score above every other class.

    >>> wrong_classes(np.array([[1.0, 2.0], [2.0, 2.0], [2.0, 1.0]]), np.array([1, 1, 1])).tolist()
    [False, True, True]
    """
    return wrong_answers(scores.argmax(axis=1), labels, scores)


def wrong_answers(answers: NDArray[Any], truth: NDArray[Any], scores: Scores) -> Marked:
    """Mark the rows whose answer is not the truth, or whose scores are tied."""
    return np.asarray((answers != truth) | tied(scores))


def tied(scores: Scores) -> Marked:
    """Mark the rows on which scores decide nothing: (rows,) for two classes, or (rows, classes).

    >>> tied(np.array([0.0, 0.1])).tolist(), tied(np.array([[3, 3, 1], [3, 2, 2]])).tolist()
    ([True, False], [True, False])
    """
    if scores.ndim == 1:
        return np.asarray((scores == 0) | np.isnan(scores))
    lower = scores < scores.max(axis=1, keepdims=True)
    return np.asarray(lower.sum(axis=1) < scores.shape[1] - 1)
