"""From the parameters of an estimator to what a fit is asked for."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost import BoostClassifier
from pacboost.errors import ParameterError
from tests.estimators.boosting.worlds import is_best, product_of_columns
from tests.grids import each_value

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]
QUICK: dict[str, Any] = {
    "n_estimators": 60,
    "learning_rate": 0.5,
    "early_stopping": 3,
    "random_state": 0,
}


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


@each_value
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
