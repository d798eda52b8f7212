"""Bagged regressors: averages, trees of ours beside scikit-learn's, and going on."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pacboost.errors import ParameterError
from pacboost.estimators.bagging.bagging import BaggingRegressor
from pacboost.learners.tree import Tree
from pacboost.theory.learners import Rectangle
from tests.estimators.checks import every_check

Table = NDArray[np.float64]


@every_check(BaggingRegressor(n_estimators=10), BaggingRegressor("tree", 10))
@pytest.mark.filterwarnings("ignore::pacboost.errors.DenseWarning")
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def waves(rows: int, seed: int) -> tuple[Table, Table]:
    generator = np.random.default_rng(seed)
    X = generator.uniform(size=(rows, 3))
    return X, 10 * np.sin(6 * X[:, 0]) + 5 * X[:, 1] + generator.normal(size=rows)


@pytest.mark.parametrize("learner", [DecisionTreeRegressor(), "stump", None, LinearRegression()])
def test_the_prediction_is_the_average(learner: Any) -> None:
    X, y = waves(300, 1)
    model = BaggingRegressor(learner, 8, random_state=0).fit(X, y)
    alone = [copy(model) for _ in range(8)]
    for own, member in zip(alone, model._members, strict=True):
        own._members = [member]
    said = [own.predict(X) for own in alone]
    if hasattr(model.estimators_[0], "predict"):
        assert np.array_equal(said, [member.predict(X) for member in model.estimators_])
    assert np.std(said, axis=0).max() > 0
    assert model.predict(X) == pytest.approx(np.mean(said, axis=0))
    again = BaggingRegressor(learner, 8, random_state=0, n_jobs=1).fit(X, y)
    assert np.array_equal(model.predict(X), again.predict(X))


def test_out_of_bag_prediction() -> None:
    X, y = waves(200, 2)
    model = BaggingRegressor(DecisionTreeRegressor(), 7, random_state=0).fit(X, y)
    sums, counts = np.zeros(200), np.zeros(200)
    for b, member in enumerate(model.estimators_):
        outside = model._bags.bag(b).outside
        sums[outside] += member.predict(X[outside])
        counts[outside] += 1
    seen = counts > 0
    assert model.oob_prediction_[seen] == pytest.approx(sums[seen] / counts[seen])
    assert np.isnan(model.oob_prediction_[~seen]).all()
    assert model.oob_score_ == pytest.approx(r2_score(y[seen], sums[seen] / counts[seen]))


def test_own_trees_beside_those_of_scikit_learn() -> None:
    X, y = waves(4_000, 3)
    own = BaggingRegressor(Tree(max_leaves=60, min_leaf_rows=5), 20, random_state=0)
    other = BaggingRegressor(
        DecisionTreeRegressor(max_leaf_nodes=60, min_samples_leaf=5), 20, random_state=0
    )
    errors = [
        np.mean((model.fit(X[:2_000], y[:2_000]).predict(X[2_000:]) - y[2_000:]) ** 2)
        for model in (own, other)
    ]
    assert errors[0] < 1.05 * errors[1]


def test_leaves_of_own_trees_say_the_mean_of_their_bag() -> None:
    """Also where targets are far from 0 and lie close together."""
    X, y = waves(500, 4)
    y = 1e6 + 1e-3 * y
    model = BaggingRegressor(Tree(max_leaves=6), 1, random_state=0).fit(X, y)
    counts, said = model._bags.bag(0).counts, model.predict(X)
    for value in np.unique(said):
        own = said == value
        assert value == pytest.approx(np.average(y[own], weights=counts[own]), abs=1e-8)
    assert np.unique(said).size == 6


def test_going_on_ends_where_one_fit_does() -> None:
    X, y = waves(300, 5)
    whole = BaggingRegressor(n_estimators=9, random_state=0).fit(X, y)
    part = BaggingRegressor(n_estimators=4, random_state=0, warm_start=True).fit(X, y)
    part.set_params(n_estimators=9).fit(X, y)
    assert np.array_equal(whole.predict(X), part.predict(X))
    assert np.array_equal(whole.oob_prediction_, part.oob_prediction_, equal_nan=True)


def test_going_on_is_refused_with_another_learner_or_other_targets() -> None:
    X, y = waves(100, 5)
    model = BaggingRegressor(None, 5, random_state=0, warm_start=True).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ParameterError, match="estimator has changed"):
        model.set_params(estimator="stump", n_estimators=10).fit(X, y)
    with pytest.raises(ParameterError, match="y has changed"):
        model.set_params(estimator=None).fit(X, y + 1)
    assert np.array_equal(model.predict(X), before)


def test_settles() -> None:
    X, y = waves(500, 6)
    model = BaggingRegressor(n_estimators=400, settle=20, random_state=0).fit(X, y)
    assert 20 < len(model.estimators_) < 400


def test_equal_targets() -> None:
    X, _ = waves(60, 7)
    assert (BaggingRegressor("tree", 3).fit(X, np.full(60, 3.0)).predict(X) == 3).all()


def test_bad_learners() -> None:
    X, y = waves(60, 8)
    with pytest.raises(ParameterError, match="names classes"):
        BaggingRegressor(DecisionTreeClassifier(), 3).fit(X, y)
    with pytest.raises(ParameterError, match="to predict numbers take"):
        BaggingRegressor(Rectangle(), 3).fit(X, y)
