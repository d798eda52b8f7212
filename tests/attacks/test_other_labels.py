"""Labels of another type are never right: each question refuses them, and object arrays of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import pacboost
from pacboost.errors import DataError
from pacboost.questions.selective import certify_answers

QUESTIONS: dict[str, Callable[..., Any]] = {
    "certify": pacboost.certify,
    "error from below": lambda *given: pacboost.certify(*given, end="lower"),
    "recall": lambda *given: pacboost.certify(*given, of="recall"),
    "groups": lambda model, X, y: pacboost.certify_all(model, X, y, by=X[:, 1] > 0),
    "sets": pacboost.sets,
    "choose_threshold": lambda *given: pacboost.choose_threshold(*given, recall=0.8),
    "target_error": lambda *given: pacboost.choose_threshold(*given, target_error=0.3),
    "certify_answers": certify_answers,
    "compare_models": lambda model, *rows: pacboost.compare_models(model, model, *rows),
    "monitor": lambda model, *rows: pacboost.Monitor(model, error=0.1).update(*rows),
}
X = np.random.default_rng(0).normal(size=(600, 3))
Y = (X[:, 0] > 0).astype(int)


class Bare:
    """A model without classes."""

    def predict(self, X: Any) -> Any:
        return (X[:, 0] > 0).astype(int)


def some_text(labels: Any) -> Any:
    mixed = labels.astype(object)
    mixed[::2] = mixed[::2].astype(str)
    return mixed


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(
    "change",
    [
        lambda labels: labels.astype(str),
        lambda labels: labels.astype(str).astype(object),
        some_text,
        lambda labels: labels.astype("S1"),
    ],
    ids=["text", "objects", "some text", "bytes"],
)
@pytest.mark.parametrize("kind", [pacboost.AdaBoostClassifier, LogisticRegression])
def test_labels_of_another_type_are_refused(kind: Any, change: Any, question: str) -> None:
    model = kind().fit(X[:200], Y[:200])
    with pytest.raises(DataError, match="type that they had in the fit"):
        QUESTIONS[question](model, X[200:], change(Y[200:]))


@pytest.mark.parametrize("question", ["certify", "recall", "compare_models", "monitor"])
def test_labels_of_another_type_than_predictions_are_refused(question: str) -> None:
    with pytest.raises(DataError, match="type that they had in the fit"):
        QUESTIONS[question](Bare(), X, Y.astype(str).astype(object))


@pytest.mark.parametrize("question", QUESTIONS)
def test_numbers_in_object_arrays_are_labels_like_others(question: str) -> None:
    model = LogisticRegression().fit(X[:200], Y[:200])
    QUESTIONS[question](model, X[200:], Y[200:].astype(object))
