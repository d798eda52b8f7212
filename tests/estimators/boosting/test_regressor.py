"""Boosted trees for numbers: the API of scikit-learn, exact runs, and its accuracy."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

import pacboost
from pacboost import AdaBoostClassifier, BoostClassifier, BoostRegressor
from pacboost.bounds.training import product_bound
from pacboost.errors import DataError, DenseWarning, NotCertified, PacboostError, ParameterError
from pacboost.learners import Tree
from pacboost.models.file.format import model_bytes
from tests.data import real_data
from tests.estimators.checks import every_check

Numbers = NDArray[np.float64]
LOSSES = pytest.mark.parametrize("loss", ["square", "absolute"])


def world(rows: int = 400, seed: int = 0) -> tuple[Numbers, Numbers]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 4))
    return X, 10 * np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + generator.normal(size=rows)


@pytest.mark.filterwarnings("ignore::pacboost.errors.DenseWarning")
@every_check(
    BoostRegressor(n_estimators=20),
    BoostRegressor("absolute", n_estimators=20),
    BoostRegressor(min_leaf_rows=1, n_estimators=10),
)
def test_passes_scikit_learns_own_check(
    estimator: BoostRegressor, check: Callable[[BoostRegressor], None]
) -> None:
    check(estimator)


@LOSSES
def test_learns_and_shows_its_grounds(loss: str) -> None:
    X, y = world()
    model = BoostRegressor(loss, n_estimators=150).fit(X, y)
    assert model.score(X, y) == r2_score(y, model.predict(X)) > 0.9
    assert model.feature_importances_[:2].sum() > 0.6
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert len(model.rules()) == len(model.ledger_) == 150
    assert model.rules()[0].startswith("always +")
    assert model.ledger_.potential == loss
    stages = list(model.staged_predict(X))
    assert np.array_equal(stages[-1], model.predict(X))
    measure = mean_squared_error if loss == "square" else mean_absolute_error
    recorded = [entry.training_error for entry in model.ledger_.rounds]
    np.testing.assert_allclose([measure(y, stage) for stage in stages], recorded, rtol=1e-9)
    np.testing.assert_allclose(model.ledger_.columns()["bound"], recorded, rtol=1e-9)
    assert all(b <= a * (1 + 1e-12) for a, b in pairwise(recorded))


def test_certifies_nothing(tmp_path: Path) -> None:
    X, y = world()
    model = BoostRegressor(n_estimators=3).fit(X, y)
    assert model.model_.certificate is None
    assert not hasattr(model, "certificate_")
    with pytest.raises(NotCertified, match="'square' is regression"):
        product_bound(model.ledger_)
    with pytest.raises(NotCertified, match="predicts numbers"):
        pacboost.certify(model, X, y)
    model.save(tmp_path / "model.json")
    checks = {check.name: check.holds for check in pacboost.verify(tmp_path / "model.json")}
    assert checks == {"rounds": True, "bound": False}


@LOSSES
def test_doubling_and_turning_targets_doubles_and_turns_predictions(loss: str) -> None:
    X, y = world()
    model = BoostRegressor(loss, n_estimators=20).fit(X, y)
    for factor in (2.0**70, 2.0**-70):
        other = BoostRegressor(loss, n_estimators=20).fit(X, factor * y)
        assert np.array_equal(other.predict(X), factor * model.predict(X))
    turned = BoostRegressor(loss, n_estimators=20).fit(X, -y)
    assert np.array_equal(turned.predict(X), -model.predict(X))


def test_far_from_zero_is_as_good_as_near() -> None:
    X, y = world()
    near = BoostRegressor(n_estimators=50).fit(X, y).predict(X)
    far = BoostRegressor(n_estimators=50).fit(X, y + 2.0**30).predict(X) - 2.0**30
    np.testing.assert_allclose(near, far, atol=1e-3)


@LOSSES
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_monotone_constraints_hold(loss: str, scale: float) -> None:
    generator = np.random.default_rng(0)
    X = generator.uniform(size=(500, 2))
    y = (X[:, 0] + np.sin(20 * X[:, 0]) + X[:, 1] + 0.3 * generator.normal(size=500)) * scale
    model = BoostRegressor(loss, n_estimators=60, monotone_constraints={0: 1}).fit(X, y)
    grid = np.column_stack([np.linspace(0, 1, 300), np.full(300, 0.5)])
    assert (np.diff(model.predict(grid)) >= 0).all()
    assert model.score(X, y) > 0.2
    stages = list(model.staged_predict(X))
    assert np.array_equal(stages[-1], model.predict(X))


@LOSSES
@pytest.mark.parametrize(
    "options",
    [{}, {"subsample": 0.5, "max_features": 0.5, "random_state": 3}, {"learning_rate": 1.0}],
)
def test_going_on_ends_as_one_long_run(loss: str, options: dict[str, Any]) -> None:
    X, y = world()
    weights = np.random.default_rng(1).uniform(0.1, 3, size=y.size)
    model = BoostRegressor(loss, n_estimators=7, warm_start=True, **options)
    model.fit(X, y, sample_weight=weights)
    model.set_params(n_estimators=20).fit(X, y, sample_weight=weights)
    whole = BoostRegressor(loss, n_estimators=20, **options).fit(X, y, sample_weight=weights)
    assert len(whole.ledger_) == 20
    assert model_bytes(model.model_) == model_bytes(whole.model_)


@LOSSES
def test_going_on_with_other_data_is_refused(loss: str) -> None:
    X, y = world()
    model = BoostRegressor(loss, n_estimators=5, warm_start=True).fit(X, y)
    for targets in (y + 1, np.zeros(y.size)):
        with pytest.raises(ParameterError, match="not trained on these rows"):
            model.set_params(n_estimators=8).fit(X, targets)
    with pytest.raises(ParameterError, match="one record cannot hold both"):
        model.set_params(loss="absolute" if loss == "square" else "square").fit(X, y)


@LOSSES
def test_model_file_gives_the_regressor_back(loss: str, tmp_path: Path) -> None:
    X, y = world()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = BoostRegressor(loss, n_estimators=6).fit(frame, y)
    model.save(tmp_path / "model.json")
    back = pacboost.load(tmp_path / "model.json")
    assert type(back) is BoostRegressor
    assert back.loss == loss
    assert np.array_equal(back.predict(frame), model.predict(frame))
    assert model_bytes(back.model_) == model_bytes(model.model_)
    assert back.rules() == model.rules()
    back.set_params(n_estimators=12, warm_start=True).fit(frame, y)
    whole = BoostRegressor(loss, n_estimators=12).fit(frame, y)
    assert model_bytes(back.model_) == model_bytes(whole.model_)


def test_model_files_of_classifiers_give_their_own_kind_back(tmp_path: Path) -> None:
    X, y = world()
    for model in (
        AdaBoostClassifier(n_estimators=3),
        BoostClassifier(n_estimators=3),
        BoostClassifier("adaboost", n_estimators=3),
        BoostClassifier("gentle", "stump", n_estimators=3),
    ):
        model.fit(X, y > 0)
        model.save(tmp_path / "model.json")
        back = pacboost.load(tmp_path / "model.json")
        assert type(back) is type(model)
        assert np.array_equal(back.decision_function(X), model.decision_function(X))


def test_early_stopping_keeps_the_best_round() -> None:
    X, y = world(600)
    X_val, y_val = world(600, seed=1)
    for metric, measure in (("loss", mean_squared_error), ("absolute", mean_absolute_error)):
        model = BoostRegressor(n_estimators=400, learning_rate=0.5, eval_metric=metric)
        model.fit(X, y, X_val=X_val, y_val=y_val)
        kept = len(model.ledger_)
        assert 1 < kept < 400
        assert model.ledger_.metric == ("square" if metric == "loss" else metric)
        found = measure(y_val, model.predict(X_val))
        assert model.ledger_.rounds[-1].validation == pytest.approx(found, rel=1e-9)


@LOSSES
@pytest.mark.parametrize("value", [0.0, 0.1, -3.0, 1e50, 1e-50])
def test_constant_targets_are_predicted(loss: str, value: float) -> None:
    X, _ = world(50)
    model = BoostRegressor(loss).fit(X, np.full(50, value))
    np.testing.assert_allclose(model.predict(X), value, rtol=1e-14)
    assert len(model.ledger_) <= 1


def test_a_perfect_fit_ends_the_run() -> None:
    X = np.arange(20.0)[:, None]
    model = BoostRegressor(n_estimators=50, learning_rate=1.0, min_leaf_rows=0).fit(X, X[:, 0])
    assert np.array_equal(model.predict(X), X[:, 0])
    assert model.ledger_.stopped == "every target is met"
    assert model.ledger_.rounds[-1].training_error == 0
    assert len(model.ledger_.columns()["bound"]) == len(model.ledger_) < 50
    model.set_params(warm_start=True).fit(X, X[:, 0])
    assert np.array_equal(model.predict(X), X[:, 0])


BAD: list[tuple[Any, str]] = [
    ([1.0, np.nan, 2.0, 3.0], "Input y contains NaN"),
    ([1.0, np.inf, 2.0, 3.0], "Input y contains infinity"),
    (["a", "b", "c", "d"], "has to hold numbers"),
    (np.array(["a", 1, 2, 3], dtype=object), "has to hold numbers"),
    (np.array([None, 1, 2, 3], dtype=object), "holds missing values"),
    (pd.Series([1, None, 2, 3], dtype="Int64"), "Input y contains NaN"),
    (np.array([1j, 2, 3, 4]), "Complex data not supported"),
    (pd.date_range("2020", periods=4), "has to hold numbers"),
    ([1.0, 2.0, 3.0], "X has 4 rows but y has 3"),
    (np.ones((4, 2)), "one number a row"),
    (None, "requires y to be passed"),
    ([1e200, 1, 2, 3], "Rescale them"),
    ([1e-200, 0, 0, 0], "Rescale them"),
    ([10**400, 1, 2, 3], "has to hold numbers"),
]


@pytest.mark.parametrize(("y", "complaint"), BAD)
def test_bad_targets_are_refused_with_a_reason(y: Any, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        BoostRegressor().fit(np.arange(8.0).reshape(4, 2), y)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"loss": "hubr"}, "loss is 'hubr'; it may be 'squared_error', 'absolute_error'"),
        ({"loss": None}, "loss is None"),
        ({"loss": "absolute", "l2": 1.0}, "Absolute has no parameter 'l2'"),
        ({"learning_rate": 2.0}, "learning_rate is 2.0"),
        ({"learning_rate": "fast"}, "learning_rate is 'fast'; it must be a number"),
        ({"n_estimators": 0}, "n_estimators is 0"),
        ({"subsample": 0.0}, "subsample is 0.0"),
        ({"max_leaves": 1}, "max_leaves is 1"),
        ({"eval_metric": "log_loss"}, "eval_metric is 'log_loss'; it may be loss, squared_error"),
        ({"eval_metric": 3}, "eval_metric is 3"),
        ({"early_stopping": "never"}, "early_stopping is 'never'"),
        ({"monotone_constraints": [1]}, "monotone_constraints holds 1 numbers for 4"),
        ({"max_bins": 1000}, "max_bins to 255 or less"),
    ],
)
def test_bad_parameters_are_refused_with_a_reason(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(PacboostError, match=complaint):
        BoostRegressor(**options).fit(*world())


def test_a_booster_of_regression_is_refused_by_the_classifier() -> None:
    from pacboost.boosters.regression import Square

    X, y = world(50)
    with pytest.raises(ParameterError, match="square is for regression"):
        BoostClassifier(booster=Square()).fit(X, y > 0)


SETS = [
    ("california_housing", "medianHouseValue", ()),
    ("bike_sharing", "cnt", ("instant", "dteday", "casual", "registered")),
    ("abalone", "Class_Rings", ()),
    ("concrete", "strength", ()),
]


@pytest.mark.slow
@LOSSES
@pytest.mark.parametrize(("name", "target", "left_out"), SETS)
def test_as_accurate_as_scikit_learn(
    name: str, target: str, left_out: tuple[str, ...], loss: str
) -> None:
    data = real_data(name, target, categories=True)
    kept = [j for j, column in enumerate(data.table.names or ()) if column not in left_out]
    X, X_new, y, y_new = train_test_split(
        data.table.rows()[:, kept], data.labels.astype(np.float64), random_state=0
    )
    model = BoostRegressor(loss, random_state=0).fit(X, y)
    reference = HistGradientBoostingRegressor(
        loss=f"{loss}d_error" if loss == "square" else f"{loss}_error",
        max_iter=300,
        early_stopping=True,
        n_iter_no_change=20,
        random_state=0,
    ).fit(X, y)
    if loss == "square":
        ours, theirs = (
            np.sqrt(mean_squared_error(y_new, m.predict(X_new))) for m in (model, reference)
        )
    else:
        ours, theirs = (mean_absolute_error(y_new, m.predict(X_new)) for m in (model, reference))
    assert ours <= 1.05 * theirs


# Regressors of scikit-learn as learners.


@pytest.mark.filterwarnings("ignore::pacboost.errors.DenseWarning")
@every_check(BoostRegressor(learner=Ridge(), n_estimators=30))
def test_with_a_learner_of_scikit_learn_passes_its_checks(
    estimator: BoostRegressor, check: Callable[[BoostRegressor], None]
) -> None:
    check(estimator)


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
    large = BoostRegressor(loss, learner=learner, n_estimators=2, min_leaf_rows=160).fit(X, y)
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
    half = BoostRegressor(learner=Ridge(), n_estimators=9).fit(X, y, weights)
    assert half.score(X[200:], y[200:]) > half.score(X[:200], y[:200])


def test_learners_get_sparse_rows_as_they_came_if_they_take_them() -> None:
    X, y = world()
    dense = BoostRegressor(learner=Ridge(), n_estimators=5).fit(X, y).predict(X)
    stored = BoostRegressor(learner=Ridge(), n_estimators=5).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(stored.predict(sparse.csr_array(X)), dense, atol=1e-6)
    with pytest.warns(DenseWarning):
        BoostRegressor(learner=IsotonicRegression(), n_estimators=3).fit(
            sparse.csr_array(X[:, :1]), y
        )


@pytest.mark.parametrize("learner", ["stump", Ridge, LogisticRegression(), 3])
def test_what_is_no_regressor_is_refused(learner: Any) -> None:
    with pytest.raises(ParameterError, match=r"learner is .*; it may be None or 'tree'"):
        BoostRegressor(learner=learner).fit(*world())
    with pytest.raises(ParameterError, match="no parameter 'max_depth'"):
        BoostRegressor(learner=Ridge(), max_depth=3).fit(*world())
    X, y = world()
    same = BoostRegressor(learner=Tree(max_leaves=4), n_estimators=5).fit(X, y)
    assert np.array_equal(
        same.predict(X), BoostRegressor(max_leaves=4, n_estimators=5).fit(X, y).predict(X)
    )
