"""Regressors of scikit-learn as learners of BoostRegressor."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from pacboost import BoostRegressor
from pacboost.errors import DenseWarning, PacboostError, ParameterError
from pacboost.learners import Tree
from pacboost.models.file.format import model_bytes
from tests.grids import each_value

Numbers = NDArray[np.float64]


def world(rows: int = 400, seed: int = 0) -> tuple[Numbers, Numbers]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 4))
    return X, 10 * np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + generator.normal(size=rows)


def test_small_trees_of_scikit_learn_are_boosted_as_it_boosts_them() -> None:
    X, y = world()
    ours = BoostRegressor(
        learner=DecisionTreeRegressor(max_depth=3), n_estimators=31, random_state=0
    ).fit(X, y)
    theirs = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-8)
    assert ours.rules()[0].startswith("always")
    assert ours.feature_importances_.sum() == pytest.approx(1)
    assert isinstance(ours.estimators_[1], DecisionTreeRegressor)
    assert "DecisionTreeRegressor ≤" in str(ours.explain(X[0], top=40))
    with pytest.raises(PacboostError, match="black boxes"):
        model_bytes(ours.model_)


@each_value
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "poisson"])
@pytest.mark.parametrize("learner", [LinearRegression(), KNeighborsRegressor(40), SVR()], ids=str)
def test_every_loss_falls_with_any_regressor(loss: str, learner: Any) -> None:
    X, _ = world()
    y = np.exp(X[:, 0] + X[:, 1] / 2)
    model = BoostRegressor(loss, learner=learner, n_estimators=20, random_state=0).fit(X, y)
    errors = [entry.training_error for entry in model.ledger_.rounds]
    assert errors[-1] < 0.6 * errors[0]
    assert len({*model.predict(X)}) > 31
    few = BoostRegressor(loss, learner=learner, n_estimators=2, max_leaves=4, random_state=0)
    assert 2 <= len({*few.fit(X, y).predict(X)}) <= 4
    large = BoostRegressor(
        loss, learner=learner, n_estimators=2, min_leaf_rows=160, random_state=0
    ).fit(X, y)
    assert len({*large.predict(X)}) == 2


def test_a_learner_of_scikit_learn_is_no_second_class_one() -> None:
    X, y = world()
    tree = DecisionTreeRegressor(max_depth=2)
    options: dict[str, Any] = {"learner": tree, "subsample": 0.5, "random_state": 0}
    whole = BoostRegressor(n_estimators=12, **options).fit(X, y)
    parts = BoostRegressor(n_estimators=5, warm_start=True, **options).fit(X, y)
    parts.set_params(n_estimators=12).fit(X, y)
    assert np.array_equal(whole.predict(X), parts.predict(X))
    stopped = BoostRegressor(n_estimators=500, **options)
    stopped.set_params(learner__max_depth=9, early_stopping=5).fit(
        X, y, X_val=X[:90], y_val=-y[:90]
    )
    assert len(stopped.ledger_) < 20
    assert tree.max_depth == 9
    assert (
        pickle.loads(pickle.dumps(whole)).predict(X[:9]).tolist() == whole.predict(X[:9]).tolist()
    )
    weights = np.repeat([0.0, 1.0], 200)
    half = BoostRegressor(learner=Ridge(), n_estimators=9, random_state=0).fit(X, y, weights)
    assert half.score(X[200:], y[200:]) > half.score(X[:200], y[:200])


def test_learners_get_sparse_rows_as_they_came_if_they_take_them() -> None:
    X, y = world()
    dense = BoostRegressor(learner=Ridge(), n_estimators=5, random_state=0).fit(X, y).predict(X)
    stored = BoostRegressor(learner=Ridge(), n_estimators=5, random_state=0).fit(
        sparse.csr_array(X), y
    )
    np.testing.assert_allclose(stored.predict(sparse.csr_array(X)), dense, atol=1e-6)
    with pytest.warns(DenseWarning):
        BoostRegressor(learner=IsotonicRegression(), n_estimators=3, random_state=0).fit(
            sparse.csr_array(X[:, :1]), y
        )


@pytest.mark.parametrize("learner", ["stump", Ridge, LogisticRegression(), 3])
def test_what_is_no_regressor_is_refused(learner: Any) -> None:
    with pytest.raises(ParameterError, match=r"learner is .* 'tree'"):
        BoostRegressor(learner=learner, random_state=0).fit(*world())
    with pytest.raises(ParameterError, match="no parameter 'max_depth'"):
        BoostRegressor(learner=Ridge(), max_depth=3, random_state=0).fit(*world())
    X, y = world()
    options: dict[str, Any] = {"n_estimators": 5, "random_state": 0}
    usual: dict[str, Any] = {"max_leaves": 4, "min_leaf_rows": 20, "max_features": 1.0}
    same = BoostRegressor(learner=Tree(max_leaves=4), **options).fit(X, y)
    assert np.array_equal(same.predict(X), BoostRegressor(**usual, **options).fit(X, y).predict(X))
