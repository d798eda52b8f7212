"""The losses of BoostRegressor beyond squares: as accurate as scikit-learn's, exact, repeatable."""

from __future__ import annotations

import pickle
from functools import cache, partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.metrics import (
    mean_absolute_error,
    mean_gamma_deviance,
    mean_pinball_loss,
    mean_poisson_deviance,
    mean_squared_error,
    r2_score,
)
from sklearn.model_selection import train_test_split

import pacboost
from pacboost import BoostClassifier, BoostRegressor, FilterBoostClassifier, TextBoostClassifier
from pacboost.boosters.regression import Quantile
from pacboost.bounds.training import product_bound
from pacboost.errors import DataError, NotCertified, PacboostError, ParameterError
from pacboost.models.file.format import model_bytes
from tests.data import real_data

threadpool_limits: Any = import_module("threadpoolctl").threadpool_limits
Numbers = NDArray[np.float64]
OPTIONS: dict[str, dict[str, Any]] = {
    "squared_error": {},
    "absolute_error": {},
    "huber": {"alpha": 0.8},
    "quantile": {"quantile": 0.8},
    "poisson": {},
    "gamma": {},
}
LOSSES = pytest.mark.parametrize("loss", OPTIONS)
PLAIN = pytest.mark.parametrize("loss", ["square", "absolute"])
THREE = [1.0, 2.0, 3.0]
MEASURES: dict[str, Any] = {
    "squared_error": mean_squared_error,
    "absolute_error": mean_absolute_error,
    "huber": mean_absolute_error,
    "quantile": partial(mean_pinball_loss, alpha=0.8),
    "poisson": mean_poisson_deviance,
    "gamma": mean_gamma_deviance,
}


@cache
def world(loss: str, rows: int = 400, seed: int = 0) -> tuple[Numbers, Numbers]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 4))
    score = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1]
    if loss == "poisson":
        return X, generator.poisson(np.exp(score)).astype(np.float64)
    if loss == "gamma":
        return X, generator.gamma(2.0, np.exp(score) / 2)
    return X, 3 * score + generator.standard_t(3, size=rows)


def regressor(loss: str, **options: Any) -> BoostRegressor:
    return BoostRegressor(loss, **OPTIONS[loss], **{"random_state": 0} | options)


EXACT: dict[str, Any] = {
    "subsample": 1.0, "max_features": 1.0, "early_stopping": False, "learning_rate": 0.1,
}  # fmt: skip
"""All rows and columns in every round, so that nothing is drawn."""


@pytest.mark.thinned(3)
@LOSSES
def test_as_accurate_as_scikit_learn(loss: str) -> None:
    X, y = world(loss, 3_000)
    train, test = slice(0, 1_500), slice(1_500, None)
    model = regressor(loss, n_estimators=60, early_stopping=False).fit(X[train], y[train])
    if loss == "huber":
        peer: Any = GradientBoostingRegressor(
            loss="huber", alpha=0.8, n_estimators=60, max_depth=None, max_leaf_nodes=31,
            min_samples_leaf=20,
        )  # fmt: skip
    else:
        peer = HistGradientBoostingRegressor(
            loss=loss, max_iter=60, early_stopping=False, **OPTIONS[loss]
        )
    with threadpool_limits(1):
        peer.fit(X[train], y[train])
    ours, theirs = (MEASURES[loss](y[test], own.predict(X[test])) for own in (model, peer))
    assert ours <= 1.03 * theirs


class Means(Quantile):
    """A broken twin: leaves hold means, which are no quantiles."""

    def best(self, state: Any, sums: Any, cells: Any, *, shrunk: bool) -> Any:
        mass = np.bincount(cells, minlength=len(sums.pulls))
        return (np.bincount(cells, state.residuals, len(sums.pulls)) / np.maximum(mass, 1))[:, None]


def shares_below(model: BoostRegressor, X: Numbers, y: Numbers) -> float:
    return float((y <= model.predict(X)).mean())


def test_quantiles_have_their_share_of_new_targets_below(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = world("squared_error", 4_000)
    train, test = slice(0, 1_500), slice(1_500, None)
    for share in (0.1, 0.5, 0.9):
        model = BoostRegressor("quantile", quantile=share, random_state=0).fit(X[train], y[train])
        assert abs(shares_below(model, X[test], y[test]) - share) < 0.05
    monkeypatch.setattr("pacboost.estimators.boosting.regressor.as_loss", lambda name: Means())
    broken = BoostRegressor("quantile", quantile=0.9, random_state=0).fit(X[train], y[train])
    assert abs(shares_below(broken, X[test], y[test]) - 0.9) > 0.1


@LOSSES
def test_a_weight_is_a_number_of_rows(loss: str) -> None:
    X, y = world(loss, 200)
    weights = np.random.default_rng(1).integers(0, 4, size=200)
    options: dict[str, Any] = EXACT | {"n_estimators": 8, "min_leaf_rows": 0, "max_leaves": 8}
    weighted = regressor(loss, **options).fit(X, y, sample_weight=weights)
    repeated = regressor(loss, **options).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6, atol=1e-6)


@LOSSES
def test_same_bytes_for_any_number_of_threads(loss: str) -> None:
    X, y = world(loss, 70_000)
    weights = np.random.default_rng(1).uniform(0.1, 3, size=y.size)
    options: dict[str, Any] = {"n_estimators": 3, "early_stopping": False}
    models = [
        regressor(loss, n_jobs=n_jobs, **options).fit(X, y, sample_weight=weights)
        for n_jobs in (1, 2, 3)
    ]
    assert len({model_bytes(model.model_) for model in models}) == 1


@LOSSES
def test_stops_early_by_its_own_loss(loss: str) -> None:
    X, y = world(loss, 1_000)
    train, held = slice(0, 500), slice(500, None)
    model = regressor(loss, n_estimators=300, early_stopping=10, learning_rate=0.5)
    model.fit(X[train], y[train], X_val=X[held], y_val=y[held])
    assert model.ledger_.metric == {"squared_error": "square", "absolute_error": "absolute"}.get(
        loss, loss
    )
    assert len(model.ledger_) < 300
    recorded = [float(entry.validation or 0.0) for entry in model.ledger_.rounds]
    assert min(recorded) == recorded[-1]
    if loss != "huber":
        expected = MEASURES[loss](y[held], model.predict(X[held]))
        assert recorded[-1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("metric", ["squared_error", "absolute_error", "huber", "gamma", "own"])
def test_other_metrics_see_predictions_not_their_logarithms(metric: str) -> None:
    X, y = world("poisson", 300)
    y = y + 1.0

    def own(targets: Numbers, predictions: Numbers) -> float:
        return float(np.abs(targets - predictions).max())

    chosen: Any = own if metric == "own" else metric
    model = BoostRegressor(
        "poisson", n_estimators=5, eval_metric=chosen, early_stopping=False, random_state=0
    )
    model.fit(X, y, X_val=X, y_val=y)
    measures = {**MEASURES, "own": own}
    if metric != "huber":
        expected = measures[metric](y, model.predict(X))
        assert model.ledger_.rounds[-1].validation == pytest.approx(expected, rel=1e-9)


@LOSSES
def test_monotone_constraints_hold(loss: str) -> None:
    X, y = world(loss)
    model = regressor(loss, n_estimators=30, monotone_constraints={0: 1}).fit(X, y)
    grid = np.column_stack([np.linspace(-2, 2, 100), np.zeros((100, 3))])
    assert (np.diff(model.predict(grid)) >= 0).all()


@pytest.mark.parametrize(
    ("options", "targets", "said"),
    [
        ({"loss": "poisson"}, [1.0, -2.0, 3.0], r"y holds -2, but the loss 'poisson' predicts"),
        ({"loss": "poisson"}, [0.0, 0.0, 0.0], "all targets are 0"),
        ({"loss": "gamma"}, [1.0, 0.0, 3.0], "y holds 0, but the loss 'gamma' predicts"),
        ({"loss": "quantile"}, THREE, "quantile is None"),
        ({"loss": "quantile", "quantile": 1.5}, THREE, "quantile is 1.5"),
        ({"loss": "quantile", "quantile": "high"}, THREE, "quantile is 'high'"),
        ({"quantile": 0.9}, THREE, "quantile belongs to"),
        ({"loss": "huber", "alpha": 2}, THREE, "alpha is 2"),
        ({"loss": "huber", "l2": 2.0}, THREE, "Huber has no parameter 'l2'"),
        ({"loss": "poisson", "learning_rate": 3.0}, THREE, "learning_rate is 3.0"),
        ({"eval_metric": "gamma", "early_stopping": True}, THREE, "above 0"),
        ({"eval_metric": "quantile", "early_stopping": True}, THREE, "belongs to loss"),
        ({"loss": "hubr"}, THREE, r"'hubr' \(did you mean 'huber'\?\); it may be 'squared_error'"),
        ({"loss": None}, THREE, "loss is None"),
        ({"loss": "absolute", "l2": 1.0}, THREE, "Absolute has no parameter 'l2'"),
        ({"learning_rate": 2.0}, THREE, "learning_rate is 2.0"),
        ({"learning_rate": "fast"}, THREE, "learning_rate is 'fast'; it must be a number"),
        ({"n_estimators": 0}, THREE, "n_estimators is 0"),
        ({"subsample": 0.0}, THREE, "subsample is 0.0"),
        ({"max_leaves": 1}, THREE, "max_leaves is 1"),
        ({"eval_metric": "log_loss"}, THREE, "'log_loss'; it may be loss, squared_error"),
        ({"eval_metric": 3}, THREE, "eval_metric is 3"),
        ({"early_stopping": "never"}, THREE, "early_stopping is 'never'"),
        ({"monotone_constraints": [1, 1]}, THREE, "monotone_constraints holds 2 numbers for 1"),
        ({"max_bins": 1000}, THREE, "max_bins to 255 or less"),
    ],
)
def test_bad_input_is_refused_with_a_reason(
    options: dict[str, Any], targets: list[float], said: str
) -> None:
    with pytest.raises(PacboostError, match=said):
        BoostRegressor(**options).fit(np.arange(900.0)[:, None], np.tile(targets, 300))


def test_bad_validation_targets_are_refused() -> None:
    X, y = world("gamma", 50)
    with pytest.raises(DataError, match="y_val holds -"):
        BoostRegressor("gamma", random_state=0).fit(X, y, X_val=X, y_val=-y)


@pytest.mark.parametrize("loss", ["quantile", "gamma", "function"])
def test_every_loss_explains_itself_after_loading_too(loss: str, tmp_path: Path) -> None:
    def square(y: Numbers, score: Numbers) -> tuple[Numbers, Numbers]:
        return score - y, np.ones(y.size)

    X, y = world("gamma")
    model = BoostRegressor(square, random_state=0) if loss == "function" else regressor(loss)
    model.set_params(n_estimators=12).fit(X, y).save(tmp_path / "model.pacb")
    for own in (model, pacboost.load(tmp_path / "model.pacb")):
        assert own.explain(X[0]) is not None
        drops = own.permutation_importances(X, y, repeats=2, random_state=0)
        assert drops.mean[0] > max(drops.mean[2:])
        axes = pacboost.plots.rounds(own, X, y)
        lines = {line.get_label(): np.asarray(line.get_ydata()) for line in axes.lines}
        np.testing.assert_allclose(lines["test loss"], lines["training loss"], rtol=1e-9)
        values = own.shap_values(X[:5])
        total = np.asarray(values.values).sum(axis=1) + values.base_values
        scores = own.predict(X[:5])
        np.testing.assert_allclose(total, np.log(scores) if loss == "gamma" else scores, rtol=1e-6)


@LOSSES
def test_learns_and_shows_its_grounds(loss: str) -> None:
    X, y = world(loss)
    model = regressor(loss, n_estimators=60, **EXACT).fit(X, y)
    assert model.score(X, y) == r2_score(y, model.predict(X)) > 0.4
    assert model.feature_importances_[:2].sum() > 0.6
    assert len(model.rules()) == len(model.ledger_) == 60
    assert model.rules()[0].startswith("always ")
    stages = list(model.staged_predict(X))
    assert np.array_equal(stages[-1], model.predict(X))
    recorded = [entry.training_error for entry in model.ledger_.rounds]
    np.testing.assert_allclose(model.ledger_.columns()["bound"], recorded, rtol=1e-9)
    if loss in ("poisson", "gamma"):
        assert (model.predict(X) > 0).all()
        np.testing.assert_allclose(stages[0], y.mean(), rtol=1e-9)
    if loss != "huber":
        measured = [MEASURES[loss](y, stage) for stage in stages]
        np.testing.assert_allclose(measured, recorded, rtol=1e-9)
        assert all(b <= a * (1 + 1e-12) for a, b in pairwise(recorded))


def test_certifies_nothing(tmp_path: Path) -> None:
    X, y = world("squared_error")
    model = BoostRegressor(n_estimators=3, random_state=0).fit(X, y)
    assert model.model_.certificate is None
    assert not hasattr(model, "certificate_")
    with pytest.raises(NotCertified, match="'square' is regression"):
        product_bound(model.ledger_)
    with pytest.raises(NotCertified, match="predicts numbers"):
        pacboost.certify(model, X, y)
    model.save(tmp_path / "model.json")
    checks = {check.name: check.holds for check in pacboost.verify(tmp_path / "model.json")}
    assert checks == {"rounds": True, "bound": False}


@PLAIN
def test_doubling_and_turning_targets_doubles_and_turns_predictions(loss: str) -> None:
    X, y = world("squared_error")
    model = BoostRegressor(loss, n_estimators=20, random_state=0).fit(X, y)
    for factor in (2.0**70, 2.0**-70):
        other = BoostRegressor(loss, n_estimators=20, random_state=0).fit(X, factor * y)
        assert np.array_equal(other.predict(X), factor * model.predict(X))
    turned = BoostRegressor(loss, n_estimators=20, random_state=0).fit(X, -y)
    assert np.array_equal(turned.predict(X), -model.predict(X))


def test_far_from_zero_is_as_good_as_near() -> None:
    X, y = world("squared_error")
    near = BoostRegressor(n_estimators=50, **EXACT).fit(X, y).predict(X)
    far = BoostRegressor(n_estimators=50, **EXACT).fit(X, y + 2.0**30).predict(X) - 2.0**30
    np.testing.assert_allclose(near, far, atol=1e-3)


@PLAIN
@pytest.mark.parametrize("value", [0.0, 0.1, -3.0, 1e50, 1e-50])
def test_constant_targets_are_predicted(loss: str, value: float) -> None:
    X, _ = world("squared_error", 50)
    model = BoostRegressor(loss, random_state=0).fit(X, np.full(50, value))
    np.testing.assert_allclose(model.predict(X), value, rtol=1e-14)
    assert len(model.ledger_) <= 1


def test_a_perfect_fit_ends_the_run() -> None:
    X = np.arange(20.0)[:, None]
    model = BoostRegressor(
        n_estimators=50, learning_rate=1.0, min_leaf_rows=0, l2=0.0, random_state=0
    )
    model.fit(X, X[:, 0])
    assert np.array_equal(model.predict(X), X[:, 0])
    assert model.ledger_.stopped == "every target is met"
    assert model.ledger_.rounds[-1].training_error == 0
    assert len(model.ledger_.columns()["bound"]) == len(model.ledger_) < 50
    model.set_params(warm_start=True).fit(X, X[:, 0])
    assert np.array_equal(model.predict(X), X[:, 0])


BAD_TARGETS: list[tuple[Any, str]] = [
    ([1.0, np.nan, 2.0, 3.0], "Input y contains NaN"),
    ([1.0, np.inf, 2.0, 3.0], "Input y contains infinity"),
    (["a", "b", "c", "d"], "has to hold numbers"),
    (np.array(["a", 1, 2, 3], dtype=object), "has to hold numbers"),
    (np.array([None, 1, 2, 3], dtype=object), "holds missing values"),
    (pd.Series([1, None, 2, 3], dtype="Int64"), "Input y contains NaN"),
    (np.array([1j, 2, 3, 4]), "Complex data not supported"),
    (pd.date_range("2020", periods=4), "has to hold numbers"),
    (THREE, "X has 4 rows but y has 3"),
    (np.ones((4, 2)), "one number a row"),
    (None, "requires y to be passed"),
    ([1e200, 1, 2, 3], "Rescale them"),
    ([1e-200, 0, 0, 0], "Rescale them"),
    ([10**400, 1, 2, 3], "has to hold numbers"),
]


@pytest.mark.parametrize(("y", "complaint"), BAD_TARGETS)
def test_bad_targets_are_refused_with_a_reason(y: Any, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        BoostRegressor(random_state=0).fit(np.arange(8.0).reshape(4, 2), y)


SETS = [
    ("california_housing", "medianHouseValue", ()),
    ("bike_sharing", "cnt", ("instant", "dteday", "casual", "registered")),
    ("abalone", "Class_Rings", ()),
    ("concrete", "strength", ()),
]


@pytest.mark.slow
@PLAIN
@pytest.mark.parametrize(("name", "target", "left_out"), SETS)
def test_as_accurate_on_real_data(
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


# Objectives that are functions: the same models as the built-in losses, and clear refusals.


def logistic(y: Numbers, score: Numbers) -> tuple[Numbers, Numbers]:
    share = 1 / (1 + np.exp(-score))
    return share - y, share * (1 - share)


def square(y: Numbers, score: Numbers) -> tuple[Numbers, Numbers]:
    return score - y, np.ones(y.size)


def weighted_square(y: Numbers, score: Numbers, weight: Numbers) -> tuple[Numbers, Numbers]:
    return weight * (score - y), weight


@cache
def rows_of_objectives(rows: int = 600) -> tuple[Numbers, Numbers, NDArray[np.str_]]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, 4))
    y = 3 * np.sin(2 * X[:, 0]) + X[:, 1] + generator.normal(size=rows)
    return X, y, np.where(y > 1, "yes", "no")


def weights(rows: int, weighted: bool) -> Numbers | None:
    return np.random.default_rng(1).uniform(0.1, 3, size=rows) if weighted else None


WEIGHTED = pytest.mark.parametrize("weighted", [False, True])


@WEIGHTED
def test_custom_logistic_loss_gives_the_model_of_the_built_in_one(weighted: bool) -> None:
    X, _, y = rows_of_objectives()
    own = weights(y.size, weighted)
    same: Any = {"n_estimators": 30, "subsample": 1.0, "max_features": 1.0, "min_leaf_rows": 20}
    same |= {"learning_rate": 0.1, "l2": 1.0, "max_leaves": 31, "calibrate": None}
    same["early_stopping"] = False
    built_in = BoostClassifier(**same).fit(X, y, sample_weight=own)
    custom = BoostClassifier(logistic, **same).fit(X, y, sample_weight=own)
    np.testing.assert_allclose(custom.predict_proba(X), built_in.predict_proba(X), atol=1e-9)
    assert custom.certificate_.value == pytest.approx(built_in.certificate_.value, rel=1e-9)
    assert custom.certificate_.value >= 1 - custom.score(X, y, sample_weight=own)


@WEIGHTED
def test_custom_squares_give_the_model_of_squared_error(weighted: bool) -> None:
    X, y, _ = rows_of_objectives()
    own = weights(y.size, weighted)
    options: dict[str, Any] = {"n_estimators": 30, "l2": 3.0, "random_state": 0}
    options["early_stopping"] = False
    built_in = BoostRegressor("squared_error", **options).fit(X, y, sample_weight=own)
    for function in (square, weighted_square):
        custom = BoostRegressor(function, **options).fit(X, y, sample_weight=own)
        np.testing.assert_allclose(custom.predict(X), built_in.predict(X), atol=1e-9)
        recorded = [
            [entry.training_error for entry in m.ledger_.rounds] for m in (custom, built_in)
        ]
        np.testing.assert_allclose(recorded[0], recorded[1], rtol=1e-9)


def test_another_function_gives_another_model() -> None:
    X, _, y = rows_of_objectives()

    def twisted(y: Numbers, score: Numbers) -> tuple[Numbers, Numbers]:
        gradient, curvature = logistic(y, score)
        return np.where(y > 0, 3.0, 1.0) * gradient, np.where(y > 0, 3.0, 1.0) * curvature

    custom, other = (BoostClassifier(f, n_estimators=10).fit(X, y) for f in (logistic, twisted))
    assert (other.predict(X) == "yes").mean() > (custom.predict(X) == "yes").mean() + 0.02


@pytest.mark.parametrize("kind", ["booster", "loss"])
def test_files_predict_and_say_that_the_function_is_missing(kind: str, tmp_path: Path) -> None:
    X, y, labels = rows_of_objectives()
    classifies = kind == "booster"
    model: Any = BoostRegressor(square, random_state=0)
    model = BoostClassifier(logistic, n_estimators=5) if classifies else model
    target: Any = labels if classifies else y
    model.fit(X, target).save(tmp_path / "model.pacb")
    back = pacboost.load(tmp_path / "model.pacb")
    assert type(back) is type(model)
    assert np.array_equal(back.predict(X), model.predict(X))
    with pytest.raises(ParameterError, match=f"hold no functions; to fit again, set {kind} to"):
        back.fit(X, target)
    again = back.set_params(**{kind: getattr(model, kind)}, n_estimators=len(model.ledger_))
    again.set_params(random_state=model.random_state)
    assert model_bytes(again.fit(X, target).model_) == model_bytes(model.model_)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    text = model.report(tmp_path / "page.html", X, target).read_text(encoding="utf-8")
    assert f"Custom {'objective' if classifies else 'loss'}" in text


def test_the_hold_out_certificate_counts_mistakes_whatever_the_function_is(
    tmp_path: Path,
) -> None:
    X, _, y = rows_of_objectives(2_000)

    def useless(y: Numbers, score: Numbers) -> tuple[Numbers, Numbers]:
        return np.sin(1e3 * score + np.arange(y.size)), np.ones(y.size)

    for function, least in ((logistic, 0.0), (useless, 0.3)):
        model = BoostClassifier(function, n_estimators=20, certify="holdout", random_state=0)
        model.fit(X[:1_500], y[:1_500])
        wrong = 1 - model.score(X[1_500:], y[1_500:])
        assert least <= wrong < model.certificate_.value
        model.save(tmp_path / "model.pacb")
        assert all(check.holds for check in pacboost.verify(tmp_path / "model.pacb"))


def test_the_training_certificate_holds_for_a_useless_function_too() -> None:
    X, _, y = rows_of_objectives()

    def backwards(y: Numbers, score: Numbers) -> tuple[Numbers, Numbers]:
        return y - 0.5, np.ones(y.size)

    model = BoostClassifier(backwards, n_estimators=5).fit(X, y)
    assert model.score(X, y) < 0.5
    assert model.certificate_.value >= 1 - model.score(X, y)


BAD: list[tuple[Any, str]] = [
    (lambda y, s: s - y, r"returned one array of shape \(600,\); it must return two arrays"),
    (lambda y, s: None, "returned NoneType"),
    (lambda y, s: (s, s, s), "returned 3 values"),
    (lambda y, s: (s[:5], np.ones(5)), r"a gradient of shape \(5,\).*shape \(600,\)"),
    (lambda y, s: (s, 1.0), r"a curvature of shape \(\)"),
    (lambda y, s: (s - np.nan, np.ones(y.size)), "the gradient nan for row 0"),
    (lambda y, s: (s, np.full(y.size, np.inf)), "the curvature inf for row 0"),
    (lambda y, s: (s, np.where(y > y.min(), 1.0, -2.0)), "the curvature -2 for row"),
    (lambda y, s: (["a"] * y.size, np.ones(y.size)), "does not hold numbers"),
]


@pytest.mark.parametrize(("function", "said"), BAD)
def test_bad_returns_are_refused(function: Any, said: str) -> None:
    X, y, labels = rows_of_objectives()
    with pytest.raises(ParameterError, match=said):
        BoostRegressor(function, n_estimators=3, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match=said):
        BoostClassifier(function, n_estimators=3).fit(X, labels)


def test_more_than_two_classes_are_refused_with_the_reason() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError, match="holds 3 classes, but booster is a function"):
        BoostClassifier(logistic).fit(X, y)
    with pytest.raises(ParameterError, match="takes one"):
        BoostClassifier(logistic).fit(X, np.stack([y > 0, y > 1], axis=1).astype(int))
    texts = [f"word{label} word" for label in y]
    with pytest.raises(ParameterError, match="holds 3 classes, but booster is a function"):
        TextBoostClassifier(booster=logistic).fit(texts, y)
    with pytest.raises(PacboostError, match="whose weights are not probabilities"):
        FilterBoostClassifier(booster=logistic).fit(X, y > 0)


def test_validation_needs_a_metric_where_the_loss_is_unknown() -> None:
    X, y, _ = rows_of_objectives(2_500)
    model = BoostRegressor(square, n_estimators=5, random_state=0)
    assert model.fit(X, y).ledger_.metric == ""  # "auto" would hold rows back otherwise
    with pytest.raises(ParameterError, match="set eval_metric to a name"):
        clone(model).set_params(early_stopping=True).fit(X, y)
    with pytest.raises(ParameterError, match="set eval_metric to a name"):
        clone(model).fit(X, y, X_val=X, y_val=y)
    named = clone(model).set_params(early_stopping=True, eval_metric="absolute_error").fit(X, y)
    assert named.ledger_.metric == "absolute"
