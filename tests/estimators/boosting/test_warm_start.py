"""Going on from an earlier fit: only where the record stays true."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from pacboost import AdaBoostClassifier
from pacboost.errors import ParameterError
from pacboost.models.file.format import model_bytes
from tests.worlds import noisy


def test_a_changed_learning_rate_withholds_the_textbook_forms() -> None:
    X, y = noisy(300, 3, seed=1)
    model = AdaBoostClassifier(n_estimators=10, learning_rate=0.1, warm_start=True).fit(X, y)
    model.set_params(n_estimators=12, learning_rate=1.0).fit(X, y)
    assert not model.ledger_.plain_votes
    assert model.ledger_.columns()["bound_edges"] == [None] * 12
    assert model.ledger_.rounds[-1].training_error <= model.certificate_.value


def test_another_learner_is_refused() -> None:
    X, y = noisy(300, 3, seed=1)
    tree = DecisionTreeClassifier(max_depth=3)
    model = AdaBoostClassifier(tree, n_estimators=5, warm_start=True).fit(X, y)
    with pytest.raises(
        ParameterError, match="SklearnLearner, these would be of adaboost with Stump"
    ):
        model.set_params(estimator=None, n_estimators=8).fit(X, y)


def test_other_bins_are_refused() -> None:
    X, y = noisy(300, 3, seed=1)
    model = AdaBoostClassifier(n_estimators=5, warm_start=True).fit(X, y)
    with pytest.raises(ParameterError, match="bins are not those of the last fit"):
        model.set_params(max_bins=8, n_estimators=8).fit(X, y)


def test_a_draw_of_one_class_gives_a_constant_rule() -> None:
    X, _ = noisy(300, 3, seed=2)
    y = (np.arange(300) < 20).astype(int)
    for learner, resample in ((LogisticRegression(), 5), (KNeighborsClassifier(5), False)):
        labels = y if resample else (np.arange(300) < 1).astype(int)
        model = AdaBoostClassifier(learner, n_estimators=4, resample=resample, random_state=2)
        model.fit(X, labels)
        again = pickle.loads(pickle.dumps(model))
        assert (again.predict(X) == model.predict(X)).all()


def test_a_metric_that_is_not_a_number_is_named() -> None:
    X, y = noisy(300, 3, seed=1)

    def broken(signs: np.ndarray, scores: np.ndarray) -> float:
        return math.nan

    model = AdaBoostClassifier(early_stopping=True, eval_metric=broken, random_state=0)
    with pytest.raises(ParameterError, match="broken gave nan in round 1"):
        model.fit(X, y)


def test_a_rule_without_mistakes_does_not_excuse_other_labels() -> None:
    """Its vote is so large that rounding would excuse anything; the training error does not."""
    generator = np.random.default_rng(0)
    X = generator.integers(0, 10, (300, 2)).astype(float)
    model = AdaBoostClassifier(n_estimators=1, warm_start=True, random_state=0)
    model.fit(X, (X[:, 0] > 4).astype(int))
    with pytest.raises(ParameterError, match="not trained on these rows, labels"):
        model.fit(X, generator.integers(0, 2, 300))


@pytest.mark.parametrize("before", [{}, {"certify": "holdout", "random_state": 1}])
def test_held_out_rows_may_not_have_been_learned_from(before: dict[str, Any]) -> None:
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(300, 3)), generator.integers(0, 2, 300)
    model = AdaBoostClassifier(DecisionTreeClassifier(), n_estimators=1, random_state=0)
    model.set_params(**before).fit(X, y)
    model.set_params(warm_start=True, certify="holdout", random_state=0)
    with pytest.raises(ParameterError, match=r"the same rows learned from|spent all of delta"):
        model.fit(X, y)


def test_the_same_rows_held_out_may_be_held_out_again() -> None:
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(300, 3)), generator.integers(0, 2, 300)
    model = AdaBoostClassifier(
        n_estimators=3, random_state=0, certify="holdout", warm_start=True
    ).fit(X, y)
    model.set_params(n_estimators=6).fit(X, y)
    whole = AdaBoostClassifier(n_estimators=6, random_state=0, certify="holdout").fit(X, y)
    parts = [replace(m.model_, certificate=None, answering=None) for m in (model, whole)]
    assert model_bytes(parts[0]) == model_bytes(parts[1])
    inputs = model.certificate_.inputs, whole.certificate_.inputs
    assert inputs[0] == {**inputs[1], "look": 2}
