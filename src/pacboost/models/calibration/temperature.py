"""One number for all classes: how steeply scores turn into probabilities.

With many classes a curve for each has few rows of its own class to learn from, and heights that
are fitted apart need not fit together. Here all classes share one slope, learned from all rows:
probabilities are softmax(slope·F), so rows keep their order of classes (Guo, Pleiss, Sun and
Weinberger 2017, "temperature").
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacboost.models.calibration.curves import Doubles
from pacboost.numerics.same_bits import row_totals, softmax

MOST_STEPS = 100
PRECISION = 1e-12


def fit_slope(scores: Doubles, classes: NDArray[np.int64], weights: Doubles) -> float:
    """Find the slope of least cross-entropy, 0 or more; scores are (rows, classes).

    To the rows comes one more, any of them, whose label is each class with equal chance; so the
    slope is finite even where every row is right.

    >>> scores = np.array([[2.0, 0, 0], [0, 2, 0], [0, 0, 2], [2, 0, 0]])
    >>> slope = fit_slope(scores, np.array([0, 1, 2, 1]), np.ones(4))
    >>> softmax(slope * scores[:1]).round(2).tolist()
    [[0.67, 0.17, 0.17]]
    """
    rows = np.arange(classes.size)
    unknown = weights / math.fsum(weights)
    own = weights * scores[rows, classes] + unknown * row_totals(scores) / scores.shape[1]
    mass, slope = weights + unknown, 0.0
    for _ in range(MOST_STEPS):
        chances = softmax(slope * scores)
        mean = row_totals(chances * scores)
        spread = row_totals(chances * np.square(scores - mean[:, None]))
        fall, bend = math.fsum(own - mass * mean), math.fsum(mass * spread)
        step = fall / bend if bend > 0 else 0.0
        step = min(max(step, -slope / 2), 2 * slope + 1 / (1 + float(np.abs(scores).max())))
        slope += step
        if abs(step) <= PRECISION * slope:
            break
    return slope
