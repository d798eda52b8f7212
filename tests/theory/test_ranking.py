"""Ranking by fitted votes: several labels, one of many classes, two classes, a single one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import hamming_loss, label_ranking_loss

import pacboost
from pacboost import AdaBoostClassifier, BoostClassifier
from pacboost.errors import DataError, OneClassWarning

X, Y = load_iris(return_X_y=True)


def test_several_labels() -> None:
    labels = np.column_stack([Y == 1, Y > 0, X[:, 0] > 6]).astype(int)
    model = AdaBoostClassifier(n_estimators=6).fit(X[::2], labels[::2])
    found, scores = pacboost.theory.ranking(model, X, labels), model.decision_function(X)
    assert found.hamming_loss == pytest.approx(hamming_loss(labels, model.predict(X)))
    assert found.ranking_loss == pytest.approx(label_ranking_loss(labels, scores))
    assert (found.rows, found.labels) == (150, 3)


@pytest.mark.parametrize("classes", [2, 3])
def test_one_label_a_row(classes: int) -> None:
    names = np.array(["setosa", "versicolor", "virginica"])[np.minimum(Y, classes - 1)]
    model = BoostClassifier(n_estimators=2).fit(X[::3], names[::3])
    found = pacboost.theory.ranking(model, X, names)
    assert found.one_error == model.mistakes(X, names).mean() > 0
    errors = (model.predict(X) != names).mean()
    assert found.hamming_loss == pytest.approx(2 * errors / classes)
    assert found.labels == classes


def test_one_class() -> None:
    with pytest.warns(OneClassWarning):
        model = AdaBoostClassifier().fit(X, np.zeros(150))
    assert pacboost.theory.ranking(model, X, np.zeros(150)).average_precision == 1


def test_labels_that_fit_has_not_seen_are_refused() -> None:
    model = BoostClassifier(n_estimators=2).fit(X, Y)
    with pytest.raises(DataError):
        pacboost.theory.ranking(model, X, Y + 1)
