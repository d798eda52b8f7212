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
from pacboost.samples.sample import Signs


def wrong_rows(vote: Vote, examples: LabelledRows) -> int:
    """Count the mistakes of a vote, ties included."""
    return int(np.count_nonzero(mistaken(vote.scores(examples.table), examples)))


def mistaken(scores: Scores, examples: LabelledRows) -> NDArray[np.bool_]:
    """Tell which rows the vote gets wrong, ties included; of several labels, if any is wrong."""
    rows = examples.n_rows
    scores = scores.reshape(rows, -1)
    if examples.labels is None:
        return np.asarray((scores * examples.signs <= 0).any(axis=1))
    own = scores[np.arange(rows), examples.labels]
    return np.asarray((scores >= own[:, None]).sum(axis=1) > 1)


def wrong_or_tied(
    scores: NDArray[Any], decided: NDArray[Any], labels: NDArray[Any]
) -> NDArray[np.bool_]:
    """Tell which rows were decided against their label or by a tie; unknown labels are wrong.

    >>> scores = np.array([[3, 1], [2, 2], [0, 1]])
    >>> wrong_or_tied(scores, np.array(["a", "a", "b"]), np.array(["a", "a", "x"])).tolist()
    [False, True, True]
    """
    if scores.ndim == 1:
        tied = scores == 0
    else:
        tied = (scores == scores.max(axis=1, keepdims=True)).sum(axis=1) > 1
    return np.asarray((decided != labels) | tied)


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
