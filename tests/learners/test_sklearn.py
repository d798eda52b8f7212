"""Black boxes fitted on bags: counts as weights, or rows repeated."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from pacboost.learners.sklearn import fit_bag


def test_counts_are_weights_where_they_are_taken() -> None:
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(40, 3)), generator.normal(size=40)
    counts = generator.integers(1, 5, size=40)
    found = fit_bag(Ridge(), X, y, counts, 0)
    repeated = Ridge().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert found.coef_ == pytest.approx(repeated.coef_)


def test_rows_are_repeated_elsewhere() -> None:
    X, y = np.array([[0.0], [1.0], [1.1]]), np.array([1, 0, 0])
    heavy = fit_bag(KNeighborsClassifier(3), X, y, np.array([3, 1, 1]), 0)
    assert heavy.predict([[0.9]]).tolist() == [0]
    assert heavy.predict([[0.4]]).tolist() == [1]


def test_every_random_state_gets_its_own_seed() -> None:
    model = make_pipeline(StandardScaler(), DecisionTreeRegressor(max_features=1))
    X = np.random.default_rng(1).normal(size=(50, 4))
    one, same, other = (fit_bag(model, X, X[:, 0], np.ones(50, int), s) for s in (1, 1, 2))
    state = "decisiontreeregressor__random_state"
    assert one.get_params()[state] == same.get_params()[state] != other.get_params()[state]
    assert model.get_params()[state] is None
