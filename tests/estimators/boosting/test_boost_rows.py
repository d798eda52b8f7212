"""BoostClassifier and its rows: held back to stop or to calibrate, weighted, with categories."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn import metrics as reference

from pacboost import BoostClassifier
from pacboost.errors import DataError, InputWarning, ParameterError, TooFewRowsWarning
from pacboost.ledgers.ledger import Ledger
from pacboost.models import calibration
from pacboost.models.file.format import model_bytes
from tests.estimators.boosting.worlds import product_of_columns

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]
QUICK: dict[str, Any] = {
    "n_estimators": 60,
    "learning_rate": 0.5,
    "early_stopping": 3,
    "random_state": 0,
}


def same(one: BoostClassifier, other: BoostClassifier) -> bool:
    return model_bytes(one.model_) == model_bytes(other.model_)


def is_best(ledger: Ledger) -> bool:
    """Whether the last round is the one that was best on validation rows."""
    seen = [entry.validation for entry in ledger.rounds if entry.validation is not None]
    return len(seen) == len(ledger) and min(seen) == seen[-1] < min(seen[:-1])


@pytest.mark.parametrize("classes", [2, 3])
def test_a_share_of_each_class_is_held_back(classes: int) -> None:
    X, y = product_of_columns(classes)
    ledger = BoostClassifier(**QUICK).fit(X, y).ledger_
    held = np.floor(0.1 * np.bincount(y) + 0.5).sum()
    assert ledger.rows == 240 - held
    assert len(ledger) < 57
    assert ledger.metric == "log_loss"
    assert is_best(ledger)
    assert "for 3 rounds" in ledger.stopped
    assert f"the first {len(ledger)}," in ledger.stopped


@pytest.mark.parametrize("early_stopping", [3, True, "auto", "refit"])
def test_rows_of_your_own_stop_it(early_stopping: Any) -> None:
    X, y = product_of_columns()
    X_val, y_val = product_of_columns(rows=60, seed=1)
    model = BoostClassifier(**QUICK | {"early_stopping": early_stopping})
    ledger = model.fit(X, y, X_val=X_val, y_val=y_val).ledger_
    assert ledger.rows == 240
    assert is_best(ledger)
    scores = model.decision_function(X_val)
    loss = np.mean(np.logaddexp(0, -2 * np.where(y_val, 1, -1) * scores))
    assert loss == pytest.approx(ledger.rounds[-1].validation)


@pytest.mark.parametrize("classes", [2, 3])
def test_refit_boosts_on_all_rows_and_says_so(classes: int) -> None:
    X, y = product_of_columns(classes)
    scout = BoostClassifier(**QUICK | {"early_stopping": True}).fit(X, y)
    model = BoostClassifier(**QUICK | {"early_stopping": "refit"}).fit(X, y)
    ledger, best = model.ledger_, len(scout.ledger_)
    assert ledger.rows == 240
    rounds = min(60, math.ceil(1.1 * best))
    assert len(ledger) == rounds
    assert ledger.stopped.startswith(f"{rounds} rounds ({best} ")
    plain = BoostClassifier(**QUICK | {"n_estimators": rounds, "early_stopping": False}).fit(X, y)
    assert np.array_equal(model.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize("metric", ["error", "log_loss", "exponential_loss"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_class_may_be_missing_from_validation_rows(metric: str, classes: int) -> None:
    X, y = product_of_columns(classes)
    X_val, y_val = product_of_columns(classes, rows=90, seed=1)
    there = y_val != 1
    model = BoostClassifier(eval_metric=metric, **QUICK)
    model.fit(X, y, X_val=X_val[there], y_val=y_val[there])
    assert model.ledger_.metric == metric
    assert model.ledger_.rounds


@pytest.mark.parametrize("booster", ["adaboost", "gentle", "mada", "logit"])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_log_loss_is_that_of_the_probabilities(booster: str, classes: int) -> None:
    X, y = product_of_columns(classes)
    X_val, y_val = product_of_columns(classes, rows=90, seed=1)
    model = BoostClassifier(booster, eval_metric="log_loss", **QUICK)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    wanted = reference.log_loss(y_val, model.predict_proba(X_val))
    assert model.ledger_.rounds[-1].validation == pytest.approx(wanted)
    shuffled = model.permutation_importances(X_val, y_val, repeats=1, metric="log_loss")
    assert shuffled.base == pytest.approx(wanted)


def test_auc_needs_both_of_two_classes() -> None:
    X, y = product_of_columns()
    model = BoostClassifier(eval_metric="auc", **QUICK)
    with pytest.raises(ParameterError, match="auc needs both"):
        model.fit(X, y, X_val=X[y == 0], y_val=y[y == 0])
    with pytest.raises(ParameterError, match="two classes"):
        model.fit(*product_of_columns(3), X_val=X, y_val=y)
    seen = [entry.validation for entry in model.fit(X, y, X_val=X, y_val=y).ledger_.rounds]
    assert seen[-1] == max(value for value in seen if value is not None) > 0.9


def test_validation_rows_and_labels_come_together() -> None:
    X, y = product_of_columns()
    with pytest.raises(ParameterError, match="without y_val"):
        BoostClassifier().fit(X, y, X_val=X)
    with pytest.raises(ParameterError, match="without X_val"):
        BoostClassifier().fit(X, y, y_val=y)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_metric_may_be_a_function(classes: int) -> None:
    X, y = product_of_columns(classes)
    X_val, y_val = product_of_columns(classes, rows=60, seed=1)

    def wrong(known: Labels, scores: Rows) -> float:
        if classes == 2:
            assert set(known) == {-1, 1}
            return float(np.mean(known * scores <= 0))
        assert scores.shape == (60, 3)
        return float(np.mean(scores.argmax(axis=1) != known))

    own = BoostClassifier(eval_metric=wrong, **QUICK).fit(X, y, X_val=X_val, y_val=y_val)
    named = BoostClassifier(eval_metric="error", **QUICK).fit(X, y, X_val=X_val, y_val=y_val)
    assert own.ledger_.metric == "wrong"
    assert "wrong on the" in own.ledger_.stopped
    assert np.array_equal(own.decision_function(X), named.decision_function(X))


def test_weights_of_classes_multiply_those_of_rows() -> None:
    X, y = product_of_columns(3)
    names = np.array(["a", "b", "c"])[y]
    rows = 1.0 + np.arange(240) % 3
    quick: Any = {"n_estimators": 5, "random_state": 0}
    model = BoostClassifier(class_weight={"a": 1, "b": 2, "c": 3}, **quick)
    model.fit(X, names, sample_weight=rows)
    assert same(model, BoostClassifier(**quick).fit(X, names, sample_weight=rows * (1 + y)))
    assert model.certificate_.value >= np.average(
        model.mistakes(X, names), weights=rows * (1 + y)
    ) * (1 - 1e-12)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("booster", ["adaboost", "logit", "gentle", "mada", "projection"])
def test_rows_too_light_to_count_do_no_harm(booster: str, classes: int) -> None:
    X, y = product_of_columns(classes)
    weights = np.where(np.arange(240) < 60, 1e-20, 1.0)
    learning_rate = None if booster == "projection" else 0.5
    model = BoostClassifier(booster, n_estimators=40, learning_rate=learning_rate, random_state=0)
    model.fit(X, y, sample_weight=weights)
    wrong = float(np.average(model.mistakes(X, y), weights=weights))
    assert wrong < 0.3
    assert wrong <= model.certificate_.value
    assert all(entry.normaliser < 1.1 for entry in model.ledger_.rounds)


def coloured(rows: int = 300) -> tuple[dict[str, NDArray[Any]], Labels]:
    generator = np.random.default_rng(0)
    colour = generator.choice(["red", "green", "blue", "grey"], size=rows)
    size = generator.normal(size=rows)
    warm = np.where(np.isin(colour, ["red", "blue"]), 1, -1)
    return {"colour": colour, "size": size}, (warm + size > 0).astype(np.int64)


def test_categories_are_the_same_from_every_frame() -> None:
    columns, y = coloured()
    text = pd.DataFrame(columns)
    colour = columns["colour"]
    frames = [
        text.astype({"colour": "category"}),
        text.astype({"colour": pd.CategoricalDtype(["grey", "red", "green", "blue", "none"])}),
        pl.DataFrame(columns),
        pl.DataFrame({**columns, "colour": pl.Series(colour).cast(pl.Categorical)}),
    ]
    expected = BoostClassifier(n_estimators=8, random_state=0).fit(text, y)
    assert expected.levels_.to_dict() == {"0": ["blue", "green", "grey", "red"]}
    assert expected.score(text, y) > 0.95
    for frame in frames:
        assert same(BoostClassifier(n_estimators=8, random_state=0).fit(frame, y), expected)
        assert np.array_equal(expected.decision_function(frame), expected.decision_function(text))
    cells = np.array(list(zip(*columns.values(), strict=True)), dtype=object)
    assert same(BoostClassifier(n_estimators=8, random_state=0).fit(cells, y), expected)


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("options", [{}, {"learner": "stump"}, {"booster": "adaboost"}])
def test_unseen_levels_act_as_missing_ones(options: dict[str, Any], holes: bool) -> None:
    columns, y = coloured()
    frame = pd.DataFrame(columns)
    if holes:
        frame.loc[::7, "colour"] = None
    model = BoostClassifier(n_estimators=8, **options).fit(frame, y)

    def scores(colour: Any, make: Any = pd.DataFrame) -> Any:
        return model.decision_function(make({"colour": [colour, "red"], "size": [0.1, 0.1]}))

    unseen = scores("pink")
    assert unseen[0] != unseen[1]
    for colour, make in [(None, pd.DataFrame), (np.nan, pd.DataFrame), (None, pl.DataFrame)]:
        assert np.array_equal(scores(colour, make), unseen)
    assert np.array_equal(scores("pink", pl.DataFrame), unseen)
    only = model.decision_function(pd.DataFrame({"colour": ["pink"], "size": [0.1]}))
    assert only.tolist() == unseen[:1].tolist()


def test_frequent_levels_of_many_are_learned_from() -> None:
    users = [f"u{i}" for i in range(300)] + ["good", "bad"] * 100
    y = np.array([0, 1] * 150 + [1, 0] * 100)
    with pytest.warns(InputWarning, match="the 2 most frequent"):
        model = BoostClassifier(n_estimators=20).fit(pd.DataFrame({"user": users}), y)
    assert model.predict(pd.DataFrame({"user": ["good", "bad"]})).tolist() == [1, 0]
    rare = model.decision_function(pd.DataFrame({"user": ["u3", "never seen", None]}))
    assert rare[0] == rare[1] == rare[2]


def test_numbers_are_categories_if_named() -> None:
    generator = np.random.default_rng(0)
    kind = generator.integers(6, size=300)
    y = kind % 2
    frame = pd.DataFrame({"kind": kind, "noise": generator.normal(size=300)})
    options: dict[str, Any] = {
        "n_estimators": 1,
        "max_leaves": 2,
        "min_leaf_rows": 1,
        "learning_rate": 1.0,
    }
    plain = BoostClassifier("adaboost", **options).fit(frame, y)
    assert plain.score(frame, y) < 0.8
    for choice in (["kind"], [0], [True, False]):
        named = BoostClassifier("adaboost", categorical_features=choice, **options).fit(frame, y)
        assert named.levels_.to_dict() == {"0": [0, 1, 2, 3, 4, 5]}
        assert named.score(frame, y) == 1
    with pytest.raises(ParameterError, match=r"'nope'.*'kind'"):
        BoostClassifier(categorical_features=["nope"]).fit(frame, y)


def test_a_monotone_category_is_refused() -> None:
    columns, y = coloured()
    frame = pd.DataFrame(columns)
    with pytest.raises(ParameterError, match="'colour', a category"):
        BoostClassifier(monotone_constraints={"colour": 1}).fit(frame, y)
    with pytest.raises(ParameterError, match=r"'nope'.* colour, size"):
        BoostClassifier(monotone_constraints={"nope": 1}).fit(frame, y)
    free = BoostClassifier(monotone_constraints={"colour": 0, "size": 1}, n_estimators=50)
    assert free.fit(frame, y).score(frame, y) > 0.95


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.usefixtures("isotonic_from_few_rows")
def test_calibration_changes_probabilities_and_no_score(method: str, classes: int) -> None:
    X, y = product_of_columns(classes, rows=400)
    options: dict[str, Any] = {"n_estimators": 20, "random_state": 0}
    model = BoostClassifier(calibrate=method, validation_fraction=0.3, **options).fit(X, y)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares >= 0).all()
    assert model.calibration_error_ is not None
    assert 0 <= model.calibration_error_ <= 1
    assert 275 <= model.ledger_.rows <= 285
    scores = model.decision_function(X)
    model.model_ = replace(model.model_, calibration=None)
    assert np.abs(model.predict_proba(X) - shares).max() > 0.01
    assert np.array_equal(model.decision_function(X), scores)
    if classes == 2:  # the curve never falls
        assert (np.diff(shares[np.argsort(scores), 1]) >= 0).all()


def test_isotonic_curves_need_more_rows_than_others(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = product_of_columns(rows=400)
    model = BoostClassifier(calibrate="isotonic", n_estimators=4, random_state=0)
    with pytest.warns(TooFewRowsWarning, match="1,000 held-out rows.* 40"):
        model.fit(X, y)
    assert model.model_.calibration is not None
    assert model.model_.calibration.method == "sigmoid"
    assert model.calibrate == "isotonic"
    monkeypatch.setattr(calibration, "ROWS_FOR_ISOTONIC", 40)
    after = model.fit(X, y).model_.calibration
    assert after is not None
    assert after.method == "isotonic"


def test_too_few_rows_to_calibrate() -> None:
    X, y = product_of_columns(rows=40)
    with pytest.raises(DataError, match=r"4 held-out rows.* 10"):
        BoostClassifier(calibrate="sigmoid", n_estimators=2).fit(X, y)
    X, y = product_of_columns(rows=120)
    model = BoostClassifier(calibrate="sigmoid", n_estimators=2).fit(X, y)
    assert model.calibration_error_ is None  # enough for a curve, too few to measure it


@pytest.mark.usefixtures("isotonic_from_few_rows")
def test_a_class_missing_from_the_rows_to_calibrate_with() -> None:
    X, y = product_of_columns()
    y[7] = 2
    with pytest.raises(DataError, match="none of class 2"):
        BoostClassifier(calibrate="isotonic", n_estimators=2).fit(X, y)
