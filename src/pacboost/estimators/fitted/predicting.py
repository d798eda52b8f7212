"""How fitted classifiers answer: rows are read, the vote scores them, and scores become answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.estimators.fitted.explaining import judging
from pacboost.estimators.inputs.estimator import takes_rows
from pacboost.hypotheses.vote import Scores
from pacboost.kernels.runtime.threads import using
from pacboost.models.answers import asked
from pacboost.numerics.memory import in_host_memory
from pacboost.sources.explained_errors import checked_by_scikit_learn

Doubles = NDArray[np.float64]


@takes_rows
def predict(self: Any, X: Any) -> NDArray[Any]:
    """Return the class each row is voted into; a tie goes to the first class.

    With several labels a row, give 1 for each label it is voted to have, else 0.
    """
    return self._answered(X, lambda _, scores: self._decide(scores))  # type: ignore[no-any-return]


@takes_rows
def predict_proba(self: Any, X: Any) -> Doubles:
    """Return the probability of each class, from the scores or from ``calibrate``.

    Of a forest these are the mean shares of classes in the leaves that a row falls into; with a
    certificate out of bag, where every tree has one vote, the shares of the votes. Where a row may
    have several labels, the share of a label is that of the sets that hold it.
    """
    return self._answered(X, lambda model, scores: model.probabilities(scores))  # type: ignore[no-any-return]


@takes_rows
def predict_log_proba(self: Any, X: Any) -> Doubles:
    """Return the logarithm of the probabilities, without taking it of 0 where there is a score."""
    return self._answered(X, lambda model, scores: model.log_probabilities(scores))  # type: ignore[no-any-return]


def several_labels(self: Any) -> bool:
    """Whether a row may have several labels."""
    return bool(self._several_labels)


@takes_rows
def decision_function(self: Any, X: Any) -> Scores:
    """Return score F(x): for two classes above 0 means the second, else one score a class."""
    return self._answered(X, lambda _, scores: scores)  # type: ignore[no-any-return]


@takes_rows
def score(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Return the accuracy, the share of rows that are right."""
    from sklearn.metrics import accuracy_score

    answers = asked(self, X)
    with checked_by_scikit_learn():
        return float(accuracy_score(y, answers, sample_weight=sample_weight))


@takes_rows
def mistakes(self: Any, X: Any, y: Any) -> NDArray[np.bool_]:
    """Return which rows the vote gets wrong; ties count as wrong, and so do unknown labels."""
    return self._judged(X, y)[1]  # type: ignore[no-any-return]


def decide(self: Any, scores: Scores) -> Any:
    """Return the classes that scores stand for."""
    if self.several_labels_:
        return (scores.reshape(len(scores), -1) > 0).astype(np.int64)
    second = (scores > 0) & (self.classes_.size == 2)
    places = scores.argmax(axis=1) if scores.ndim == 2 else second.astype(np.intp)
    if self.classes_.dtype.kind in "biuf":  # numbers stay where the scores are
        return np.asarray(self.classes_, like=places)[places]
    return self.classes_[in_host_memory(places)]


def judged(self: Any, X: Any, y: Any) -> tuple[Scores, NDArray[np.bool_]]:
    """Return the scores of rows, and which are wrong."""
    table, wrong = judging(self, X, y)
    with using(self.n_jobs):
        scores = self.model_.vote.scores(table)
    return scores, wrong(scores)
