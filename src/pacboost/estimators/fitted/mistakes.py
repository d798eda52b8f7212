"""Which rows a vote gets wrong, and how well it ranks labels.

Ties count as mistakes, and so do labels that are no class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.estimators.inputs.examples import LabelledRows
from pacboost.hypotheses.vote import Scores, Vote
from pacboost.models import ranking
from pacboost.numerics.mistakes import wrong_classes, wrong_margins
from pacboost.samples.sample import Signs


def wrong_rows(vote: Vote, examples: LabelledRows) -> int:
    """Count the mistakes of a vote, ties included."""
    return int(np.count_nonzero(mistaken(vote.scores(examples.table), examples)))


def mistaken(scores: Scores, examples: LabelledRows) -> NDArray[np.bool_]:
    """Tell which rows the vote gets wrong, ties included; of several labels, if any is wrong."""
    rows = examples.n_rows
    scores = scores.reshape(rows, -1)
    if examples.labels is None:
        return np.asarray(wrong_margins(scores * examples.signs).any(axis=1))
    return wrong_classes(scores, examples.labels)


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
