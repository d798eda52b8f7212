"""From scores to probabilities: SciPy's functions, or the same by CuPy for scores on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from pacboost.kernels.cuda.device import on_gpu


def expit(x: Any) -> Any:
    """Give 1/(1 + exp(-x)).

    >>> expit(np.array([0.0, 800.0])).tolist()
    [0.5, 1.0]
    """
    return 1.0 / (1.0 + np.exp(-x)) if on_gpu(x) else special.expit(x)


def log_expit(x: Any) -> Any:
    """Give the logarithm of ``expit``.

    >>> log_expit(np.array([0.0, -800.0])).round(3).tolist()
    [-0.693, -800.0]
    """
    return -np.logaddexp(-x, 0.0) if on_gpu(x) else special.log_expit(x)


def softmax(rows: Any) -> Any:
    """Give exp(x)/Σ exp(x) of every row.

    >>> softmax(np.zeros((1, 2))).tolist()
    [[0.5, 0.5]]
    """
    if not on_gpu(rows):
        return special.softmax(rows, axis=1)
    raised = np.exp(rows - rows.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def log_softmax(rows: Any) -> Any:
    """Give the logarithm of ``softmax``.

    >>> log_softmax(np.zeros((1, 2))).round(3).tolist()
    [[-0.693, -0.693]]
    """
    if not on_gpu(rows):
        return special.log_softmax(rows, axis=1)
    less = rows - rows.max(axis=1, keepdims=True)
    return less - np.log(np.exp(less).sum(axis=1, keepdims=True))


def two_columns(function: Any, scores: Any) -> Any:
    """Give a function of the negative scores, and beside it that of the scores.

    >>> two_columns(expit, np.zeros(1)).tolist()
    [[0.5, 0.5]]
    """
    return np.stack([function(-scores), function(scores)], axis=1)
