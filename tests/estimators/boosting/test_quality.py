"""quality: one dial for time and accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pacboost import BoostClassifier, BoostRegressor, StrongClassifier
from pacboost.errors import ParameterError
from pacboost.hypotheses.vote_digest import vote_digest

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(2_300, 4))
SCORE = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * GENERATOR.normal(size=len(X))
Y = (SCORE > 0).astype(int)
ROWS = 300
KINDS = [BoostClassifier, BoostRegressor, StrongClassifier]


def of(kind: Any) -> Any:
    return SCORE if kind is BoostRegressor else Y


def loss(model: Any) -> float:
    if isinstance(model, BoostRegressor):
        return float(np.mean((model.predict(X[ROWS:]) - SCORE[ROWS:]) ** 2))
    chances = model.predict_proba(X[ROWS:])
    return float(-np.log(chances[np.arange(len(chances)), Y[ROWS:]]).mean())


@pytest.mark.parametrize("kind", KINDS)
def test_more_time_makes_better_models(kind: Any) -> None:
    made = {
        quality: kind(quality=quality, random_state=0).fit(X[:ROWS], of(kind)[:ROWS])
        for quality in ("fast", "auto", "best")
    }
    assert loss(made["best"]) < loss(made["fast"])
    assert len(made["fast"].ledger_) == 100
    rates = [model.settings_["learning_rate"] for model in made.values()]
    assert rates == [0.1, 0.05, 0.05 / 3]
    assert not hasattr(made["fast"], "validation_curves_")
    if kind is not StrongClassifier:
        usual = kind(random_state=0).fit(X[:ROWS], of(kind)[:ROWS])
        assert vote_digest(usual.model_.vote) == vote_digest(made["auto"].model_.vote)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wrong", ["good", 3, None])
def test_there_are_three_qualities(kind: Any, wrong: Any) -> None:
    with pytest.raises(ParameterError, match="'fast', 'auto', 'best'"):
        kind(quality=wrong).fit(X[:ROWS], of(kind)[:ROWS])


def test_what_is_set_stays_as_it_is() -> None:
    model = BoostClassifier(quality="best", n_estimators=12, learning_rate=0.3, random_state=0)
    assert model.fit(X[:ROWS], Y[:ROWS]).settings_["learning_rate"] == 0.3
    assert len(model.ledger_) <= 12


def test_rare_classes_need_no_trial() -> None:
    labels = np.arange(60) % 30
    model = BoostClassifier(quality="best", random_state=0).fit(X[:60], labels)
    assert model.classes_.size == 30


def test_large_tables_are_tried_too() -> None:
    rows = GENERATOR.normal(size=(31_000, 2))
    labels = np.sin(6 * rows[:, 0]) + rows[:, 1] > 0
    for kind in (StrongClassifier, BoostClassifier):
        model: Any = kind(random_state=0, n_estimators=60).fit(rows, labels)
        assert "refitted on all rows" in model.ledger_.stopped or len(model.ledger_) == 60
        assert model.model_.calibration is not None
    model = BoostClassifier(n_estimators=60, early_stopping=False).fit(rows, labels)
    assert (model.model_.calibration, model.ledger_.rows, len(model.ledger_)) == (None, 31_000, 60)


def test_rows_that_were_few_beside_all_are_not_worth_a_second_run() -> None:
    rows = GENERATOR.normal(size=(201_000, 1))
    model = BoostClassifier(n_estimators=3, random_state=0).fit(rows, rows[:, 0] > 0)
    assert model.ledger_.rows == 191_000
    assert model.model_.calibration is not None
