"""The losses of BoostRegressor beyond squares: as accurate as scikit-learn's, exact, repeatable."""

from functools import cache, partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn import metrics
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor

import pacboost
from pacboost import BoostRegressor
from pacboost.boosters.losses.quantile import Quantile
from pacboost.bounds.training import product_bound
from pacboost.errors import DataError, NotCertified, PacboostError
from pacboost.models.file.format import model_bytes
from tests.grids import each_value, one_in

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
    "squared_error": metrics.mean_squared_error,
    "absolute_error": metrics.mean_absolute_error,
    "huber": metrics.mean_absolute_error,
    "quantile": partial(metrics.mean_pinball_loss, alpha=0.8),
    "poisson": metrics.mean_poisson_deviance,
    "gamma": metrics.mean_gamma_deviance,
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


@one_in(3)
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
    usual: dict[str, Any] = {"n_estimators": 60, "random_state": 0}
    for share in (0.1, 0.5, 0.9):
        model = BoostRegressor("quantile", quantile=share, **usual).fit(X[train], y[train])
        assert abs(shares_below(model, X[test], y[test]) - share) < 0.05
    monkeypatch.setattr(
        "pacboost.estimators.boosting.choosing_numbers.as_loss", lambda name: Means()
    )
    broken = BoostRegressor("quantile", quantile=0.9, **usual).fit(X[train], y[train])
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
        for n_jobs in (1, 3)
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
        ({"eval_metric": "log_loss"}, THREE, "'log_loss'; it may be loss, squared_error"),
        ({"eval_metric": 3}, THREE, "eval_metric is 3"),
        ({"monotone_constraints": [1, 1]}, THREE, "monotone_constraints holds 2 numbers for 1"),
    ],
)
def test_bad_input_is_refused_with_a_reason(
    options: dict[str, Any], targets: list[float], said: str
) -> None:
    with pytest.raises(PacboostError, match=said):
        BoostRegressor(**options).fit(np.arange(900.0)[:, None], np.tile(targets, 300))


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
    assert model.score(X, y) == metrics.r2_score(y, model.predict(X)) > 0.4
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


@each_value
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
    (["a", "b", "c", "d"], "has to hold numbers"),
    (np.array(["a", 1, 2, 3], dtype=object), "has to hold numbers"),
    (np.array([None, 1, 2, 3], dtype=object), "holds missing values"),
    (pd.Series([1, None, 2, 3], dtype="Int64"), "Input y contains NaN"),
    (pd.date_range("2020", periods=4), "has to hold numbers"),
    (THREE, "X has 4 rows but y has 3"),
    (np.ones((4, 2)), "one number a row"),
    ([1e200, 1, 2, 3], "Rescale them"),
    ([1e-200, 0, 0, 0], "Rescale them"),
    ([10**400, 1, 2, 3], "has to hold numbers"),
]


@pytest.mark.parametrize(("y", "complaint"), BAD_TARGETS)
def test_bad_targets_are_refused_with_a_reason(y: Any, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        BoostRegressor(random_state=0).fit(np.arange(8.0).reshape(4, 2), y)
