"""How well a vote ranks labels: for several labels a row, and for one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.vote import Scores
from pacboost.models import ranking
from pacboost.samples.sample import Signs


def rank(
    scores: Scores, decided: NDArray[Any], signs: Signs, classes: NDArray[Any]
) -> ranking.Ranking:
    """Measure how well scores rank the labels of rows, whose ``signs`` are known."""
    right = signs > 0
    scores = scores.reshape(len(signs), -1)
    if classes.size == 2 and decided.ndim == 1:  # one score speaks for the second class
        scores, right = np.hstack([-scores, scores]), np.hstack([~right, right])
    said = decided > 0 if decided.ndim == 2 else decided[:, None] == classes
    return ranking.ranking(scores, right, said)
