"""BoostClassifier and its rows: held back to stop or to calibrate, weighted, with categories."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pacboost import BoostClassifier
from pacboost.errors import DataError, TooFewRowsWarning
from pacboost.models import calibration
from pacboost.models.file.format import model_bytes
from tests.estimators.boosting.worlds import is_best, product_of_columns
from tests.grids import each_value

QUICK: dict[str, Any] = {
    "n_estimators": 60,
    "learning_rate": 0.5,
    "early_stopping": 3,
    "random_state": 0,
}


def same(one: BoostClassifier, other: BoostClassifier) -> bool:
    return model_bytes(one.model_) == model_bytes(other.model_)


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


@each_value
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


@each_value
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
