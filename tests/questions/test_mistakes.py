"""Labels that a model can never get right are named, and not counted as mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import pacboost
from pacboost import AdaBoostClassifier, certify
from pacboost.errors import DataError

X = np.random.default_rng(0).normal(size=(200, 2))
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("kind", [AdaBoostClassifier, LogisticRegression])
def test_labels_of_another_type_are_refused(kind: type) -> None:
    model = kind().fit(X[:100], Y[:100])
    with pytest.raises(DataError, match=r"y holds '[01]', and the classes are 0, 1"):
        certify(model, X[100:], Y[100:].astype(str))
    assert certify(model, X[100:], Y[100:].astype(float)).value < 0.2
    assert certify(model, X[100:], Y[100:] > 0).value < 0.2


def test_some_labels_may_be_unknown() -> None:
    model = AdaBoostClassifier().fit(X[:100], Y[:100])
    labels = np.where(np.arange(100) < 30, 7, Y[100:])
    assert int(certify(model, X[100:], labels).inputs["k"]) >= 30


def test_a_compressed_vote_forgets_what_was_counted_for_the_vote_before() -> None:
    model = AdaBoostClassifier(n_estimators=5, certify="holdout", random_state=0).fit(X, Y)
    assert model.model_.held_out is not None
    assert pacboost.theory.compress(model, X, Y).model_.held_out is None
