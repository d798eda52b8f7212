"""Objectives that are functions: the same models as the built-in losses, and clear refusals."""

import pickle
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_iris

import pacboost
from pacboost import BoostClassifier, BoostRegressor, FilterBoostClassifier, TextBoostClassifier
from pacboost.errors import PacboostError, ParameterError
from pacboost.models.file.format import model_bytes

Numbers = NDArray[np.float64]


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
    with pytest.raises(ParameterError, match=f"hold no functions.* {kind} to"):
        back.fit(X, target)
    again = back.set_params(**{kind: getattr(model, kind)}, n_estimators=len(model.ledger_))
    again.set_params(random_state=model.random_state)
    assert model_bytes(again.fit(X, target).model_) == model_bytes(model.model_)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    text = model.report(tmp_path / "page.html", X, target).read_text(encoding="utf-8")
    assert f"Custom {'objective' if classifies else 'loss'}" in text


def test_the_hold_out_certificate_counts_mistakes_whatever_the_function_is(tmp_path: Path) -> None:
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
    with pytest.raises(ParameterError, match=r"3 classes.* function"):
        BoostClassifier(logistic).fit(X, y)
    with pytest.raises(ParameterError, match="takes one"):
        BoostClassifier(logistic).fit(X, np.stack([y > 0, y > 1], axis=1).astype(int))
    texts = [f"word{label} word" for label in y]
    with pytest.raises(ParameterError, match=r"3 classes.* function"):
        TextBoostClassifier(booster=logistic).fit(texts, y)
    with pytest.raises(PacboostError, match="not probabilities"):
        FilterBoostClassifier(booster=logistic).fit(X, y > 0)


def test_validation_needs_a_metric_where_the_loss_is_unknown() -> None:
    X, y, _ = rows_of_objectives(2_500)
    model = BoostRegressor(square, n_estimators=5, random_state=0)
    assert model.fit(X, y).ledger_.metric == ""  # "auto" would hold rows back otherwise
    with pytest.raises(ParameterError, match="set eval_metric"):
        clone(model).set_params(early_stopping=True).fit(X, y)
    with pytest.raises(ParameterError, match="set eval_metric"):
        clone(model).fit(X, y, X_val=X, y_val=y)
    named = clone(model).set_params(early_stopping=True, eval_metric="absolute_error").fit(X, y)
    assert named.ledger_.metric == "absolute"
