"""Leaves of rows, and importances by gain, cover and count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from pacboost import AdaBoostClassifier, BoostClassifier, BoostRegressor
from pacboost.errors import ParameterError

X = np.random.default_rng(0).normal(size=(500, 4))
SCORE = X[:, 0] + 0.3 * X[:, 1]
MODELS: list[Any] = [
    BoostClassifier(n_estimators=6, random_state=0),
    BoostRegressor(n_estimators=6, random_state=0),
    AdaBoostClassifier(n_estimators=6),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_leaves_lead_to_the_scores(model: Any) -> None:
    model.fit(X, SCORE if isinstance(model, BoostRegressor) else SCORE > 0)
    leaves = model.apply(X[:50])
    assert leaves.shape == (50, 6)
    vote = model.model_.vote
    scores = sum(
        share * rule.values[leaves[:, number], 0]
        for number, (rule, share) in enumerate(zip(vote.hypotheses, vote.votes, strict=True))
    )
    np.testing.assert_allclose(scores, vote.scores(model._open(X[:50])), atol=1e-9)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_importances_are_counted_by_hand(model: Any) -> None:
    model.fit(X, SCORE if isinstance(model, BoostRegressor) else SCORE > 0)
    np.testing.assert_array_equal(model.importances(), model.feature_importances_)
    counts, covers = np.zeros(4), np.zeros(4)
    for rule in model.estimators_:
        if isinstance(model, AdaBoostClassifier):
            counts[rule.feature] += 1
            covers[rule.feature] += 1
            continue
        for split, feature in enumerate(rule.feature):
            counts[feature] += 1
            covers[feature] += rule.cover[split] / rule.cover[0]
    np.testing.assert_allclose(model.importances("count"), counts / counts.sum())
    np.testing.assert_allclose(model.importances(by="cover"), covers / covers.sum())
    with pytest.raises(ParameterError, match=r"by is 'split'.*'gain'"):
        model.importances("split")


def test_black_boxes_have_no_splits() -> None:
    model = AdaBoostClassifier(LogisticRegression(), n_estimators=2).fit(X, SCORE > 0.5)
    assert model.apply(X).shape == (500, len(model.ledger_))
    with pytest.raises(AttributeError, match="list the features"):
        model.importances("count")


def test_losses_have_the_names_of_scikit_learn() -> None:
    for name, other in (("square", "squared_error"), ("absolute", "absolute_error")):
        ours = BoostRegressor(name, n_estimators=5, early_stopping=True, random_state=0)
        theirs = BoostRegressor(other, n_estimators=5, early_stopping=True, random_state=0)
        assert np.array_equal(ours.fit(X, SCORE).predict(X), theirs.fit(X, SCORE).predict(X))
        assert theirs.ledger_.metric == name
        metric = BoostRegressor(
            eval_metric=other, n_estimators=5, early_stopping=True, random_state=0
        )
        assert metric.fit(X, SCORE).ledger_.metric == name
    with pytest.raises(ParameterError, match="'squared_error', 'absolute_error'"):
        BoostRegressor("log", random_state=0).fit(X, SCORE)
