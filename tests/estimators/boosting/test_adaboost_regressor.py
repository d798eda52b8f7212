"""AdaBoost.R2: scikit-learn's numbers, and a bound that holds."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_diabetes, make_regression
from sklearn.ensemble import AdaBoostRegressor as Theirs
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

import pacboost
from pacboost import AdaBoostRegressor
from pacboost.bounds.training import R2_LOSSES, median_misses
from tests.grids import one_in

X, Y = make_regression(150, 5, noise=5.0, random_state=0)
HALF = np.random.default_rng(1).integers(0, 3, Y.size).astype(float)
RUNS: list[dict[str, Any]] = [
    *({"loss": loss} for loss in R2_LOSSES),
    {"learning_rate": 0.3},
    {"learning_rate": 40.0, "loss": "exponential"},
    {"estimator": DecisionTreeRegressor(max_depth=9)},
    {"estimator": LinearRegression()},
    {"estimator": RandomForestRegressor(3)},
    {"estimator": SVR()},
    {"estimator": KNeighborsRegressor(1)},
]


@one_in(3)
@pytest.mark.parametrize("options", RUNS, ids=str)
@pytest.mark.parametrize("weights", [None, HALF], ids=["plain", "weighted"])
def test_scikit_learns_numbers_and_a_bound_that_holds(
    options: dict[str, Any], weights: NDArray[Any] | None
) -> None:
    ours = AdaBoostRegressor(n_estimators=20, random_state=3, **options).fit(X, Y, weights)
    if ours.learning_rate <= 1:  # larger rates leave theirs without any weight
        theirs = Theirs(n_estimators=20, random_state=3, **options).fit(X, Y, weights)
        assert len(ours) == len(theirs)
        assert np.array_equal(ours.predict(X), theirs.predict(X))
        np.testing.assert_allclose(
            ours.estimator_weights_, theirs.estimator_weights_[: len(ours)], rtol=1e-12
        )
        for one, other in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
            assert np.array_equal(one, other)
    missed = np.abs(ours.predict(X) - Y)
    for tolerance in np.linspace(0, 1.5, 40) * np.abs(Y).max():
        share = np.average(missed > tolerance, weights=weights)
        assert share <= ours.training_bound(tolerance)
    assert ours.training_bound(10 * np.abs(Y).max()) == 0


def test_the_bound_is_below_1_where_rounds_err_little_and_its_twin_fails() -> None:
    """The twin takes the threshold of classes, 1/2, though the median is no vote on the loss."""
    tree = DecisionTreeRegressor(max_depth=9)
    model = AdaBoostRegressor(tree, n_estimators=30, random_state=0).fit(X, Y, HALF)
    tolerances = np.linspace(0, 1, 50) * model._largest.max()
    bounds = [model.training_bound(tolerance) for tolerance in tolerances]
    assert bounds == sorted(bounds, reverse=True)
    assert any(0 < bound < 0.5 for bound in bounds)
    shares = [np.average(np.abs(model.predict(X) - Y) > one, weights=HALF) for one in tolerances]
    twin = np.exp(model._log_masses.sum() + model.estimator_weights_.sum() / 2)
    assert shares[0] > twin
    errors = model.estimator_errors_
    assert twin <= np.prod(2 * np.sqrt(errors * (1 - errors))) * (1 + 1e-9)  # as for AdaBoost


@pytest.mark.parametrize("loss", R2_LOSSES)
def test_the_bound_holds_for_any_rules_and_votes(loss: str) -> None:
    """Random rules with random votes: the theorem asks nothing of either."""
    generator = np.random.default_rng(5)
    some = 0
    for _ in range(200):
        rounds, rows = int(generator.integers(1, 12)), int(generator.integers(1, 30))
        spread = generator.choice([0.01, 0.2, 1.0], size=(rounds, 1))
        errors = spread * generator.standard_cauchy((rounds, rows))
        votes, log_masses = generator.uniform(0, 3, rounds), np.zeros(rounds)
        weights = np.full(rows, 1 / rows)
        for k in range(rounds):
            losses = R2_LOSSES[loss](np.abs(errors[k]) / np.abs(errors[k]).max())
            weights = weights * np.exp(-votes[k] * (1 - losses))
            log_masses[k] = np.log(weights.sum())
            weights /= weights.sum()
        order = np.argsort(errors, axis=0)
        summed = np.cumsum(votes[order], axis=0)
        place = (summed >= summed[-1] / 2).argmax(axis=0)
        median = np.take_along_axis(errors, order, axis=0)[place, np.arange(rows)]
        for tolerance in np.quantile(np.abs(errors), [0, 0.3, 0.6, 0.8, 0.9, 0.95, 1]):
            largest = np.abs(errors).max(axis=1)
            bound = median_misses(tolerance, votes, log_masses, largest, loss=loss)
            assert np.mean(np.abs(median) > tolerance) <= bound
            some += 0 < bound < 1
    assert some


def test_a_perfect_rule_ends_it_and_a_useless_one_is_kept_alone() -> None:
    perfect = AdaBoostRegressor(DecisionTreeRegressor(), random_state=0).fit(X[:4], [1, 1, 1, 1])
    assert len(perfect) == 1
    assert perfect.estimator_weights_.tolist() == [1.0]
    assert perfect.training_bound(0) == 0
    assert perfect.feature_importances_.shape == (5,)
    useless = AdaBoostRegressor(LinearRegression(), random_state=0).fit([[0.0]] * 4, [0, 0, 1, 1])
    assert len(useless) == 1
    assert useless.estimator_weights_.tolist() == [0.0]
    assert useless.training_bound(0) == 1
    assert np.isfinite(useless.predict([[0.0]])).all()


def test_importances_are_those_of_scikit_learn_or_absent() -> None:
    ours = AdaBoostRegressor(n_estimators=5, random_state=0).fit(X, Y)
    theirs = Theirs(n_estimators=5, random_state=0).fit(X, Y)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)
    assert not hasattr(AdaBoostRegressor(SVR(), n_estimators=2).fit(X, Y), "feature_importances_")


def test_rows_in_every_form() -> None:
    plain = AdaBoostRegressor(n_estimators=4, random_state=0).fit(X, Y)
    frame = pd.DataFrame(X, columns=list("abcde"))
    framed = AdaBoostRegressor(n_estimators=4, random_state=0).fit(frame, Y)
    assert framed.feature_names_in_.tolist() == list("abcde")
    assert np.array_equal(framed.predict(frame), plain.predict(X))
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        stored = AdaBoostRegressor(SVR(), n_estimators=4, random_state=0).fit(kind(X), Y)
        dense = AdaBoostRegressor(SVR(), n_estimators=4, random_state=0).fit(X, Y)
        np.testing.assert_allclose(stored.predict(kind(X)), dense.predict(X))
    again = pickle.loads(pickle.dumps(plain))
    assert np.array_equal(again.predict(X), plain.predict(X))


def test_rows_of_the_fit_are_remembered_and_intervals_take_new_ones() -> None:
    rows, numbers = load_diabetes(return_X_y=True)
    model = AdaBoostRegressor(n_estimators=10, random_state=0).fit(rows[:200], numbers[:200])
    seen, new = model.overlap(rows[:200]), model.overlap(rows[200:])
    assert seen is not None
    assert new is not None
    assert seen.suspicious
    assert not new.suspicious
    made = pacboost.intervals(model, rows[200:], numbers[200:], coverage=0.8)
    low, high = made.predict_interval(rows[200:]).T
    assert np.mean((low <= numbers[200:]) & (numbers[200:] <= high)) >= 0.8
