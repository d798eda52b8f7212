"""Which rows a vote gets wrong, and how well it ranks labels.

Ties count as mistakes, and so do labels that are no class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.estimators.inputs.examples import LabelledRows, label_rows
from pacboost.estimators.inputs.labels import read_labels
from pacboost.hypotheses.vote import Scores, Vote
from pacboost.kernels.threads import using
from pacboost.models import ranking
from pacboost.numerics.mistakes import wrong_answers, wrong_classes, wrong_margins
from pacboost.samples.sample import Signs
from pacboost.sources.table import Table


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


def judging(estimator: Any, X: Any, y: Any) -> tuple[Table, Callable[[Scores], NDArray[np.bool_]]]:
    """Read rows with labels; give them, and a function of their scores that marks mistakes."""
    table = estimator._open(X)
    several = estimator.several_labels_
    labels = read_labels(y, table.n_rows, several=several)
    if several:
        known = label_rows(table, labels, estimator.classes_, "y", several=True)
        return table, lambda scores: mistaken(scores, known)
    return table, lambda scores: wrong_answers(estimator._decide(scores), labels, scores)


def staged_errors(estimator: Any, X: Any, y: Any) -> list[float]:
    """Give the share of rows that the vote gets wrong after each round."""
    refuse_half(X, y)
    table, wrong = judging(estimator, X, y)
    with using(estimator.n_jobs):
        return [float(wrong(scores).mean()) for scores in estimator.model_.vote.staged(table)]


def refuse_half(X: Any, y: Any) -> None:
    """Raise if only one of rows and labels was given."""
    if (X is None) != (y is None):
        given, absent = ("X", "y") if y is None else ("y", "X")
        raise DataError(
            f"{given} was given without {absent}; give both, rows and their labels, or neither"
        )


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
