"""The default settings of BoostClassifier move smoothly with the number of rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from pacboost import BoostClassifier
from pacboost.boosters.logit import Logit
from pacboost.estimators.inputs.examples import LabelledRows
from pacboost.estimators.strong.candidates import choose
from pacboost.sources.arrays import ArrayTable


def world(rows: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, 3))
    return X, X[:, 0] + 0.3 * generator.normal(size=rows) > 0


@pytest.mark.parametrize(
    ("rows", "held"), [(20_000, 0), (20_010, 2), (25_000, 1250), (30_000, 3000), (40_000, 4000)]
)
def test_many_rows_are_held_back_unasked(rows: int, held: int) -> None:
    X, y = world(rows=rows)
    ledger = BoostClassifier(n_estimators=2, random_state=0).fit(X, y).ledger_
    assert abs(rows - held - ledger.rows) <= 1
    assert ledger.metric == ("log_loss" if held else "")


def settings(rows: int, classes: int) -> tuple[int, float]:
    """The rounds and the rate that trees have where something else is set."""
    signs = np.ones((rows, 1 if classes == 2 else classes), dtype=np.int8)
    table = ArrayTable(np.zeros((rows, 1)))
    model = BoostClassifier(subsample=1.0)
    model.classes_ = np.arange(classes)
    recipe = model._recipe(LabelledRows(table, signs))
    assert isinstance(recipe.booster, Logit)
    return recipe.rounds, recipe.booster.learning_rate


@pytest.mark.parametrize("classes", [2, 5])
def test_rounds_and_rate_move_smoothly_with_the_number_of_rows(classes: int) -> None:
    few = (100 if classes > 3 else 180, 0.1)
    assert settings(10, classes) == settings(20_000, classes) == few
    assert settings(30_000, classes) == settings(60_000, classes) == (180, 0.2)
    found = [settings(rows, classes) for rows in range(19_000, 31_001, 250)]
    for (rounds, rate), (more, larger) in pairwise(found):
        assert 0 <= more - rounds <= 2
        assert 0 <= larger - rate <= 0.0026


def test_fewer_rounds_are_certain_the_more_rows_can_be_spared() -> None:
    """On noise the validation rows stop at once, if they may: the rounds go down step by step."""
    X = np.random.default_rng(0).normal(size=(30_000, 2))
    y = np.random.default_rng(1).random(30_000) < 0.5
    done = []
    for rows in (20_000, 22_500, 25_000, 27_500, 30_000):
        ledger = BoostClassifier(n_estimators=40, max_leaves=4, random_state=0).fit(
            X[:rows], y[:rows]
        )
        done.append(len(ledger.ledger_))
    assert done[:4] == [40, 30, 20, 10]
    assert done[4] < 10
    assert "the first 10, the least number for so few rows, are kept" in (
        BoostClassifier(n_estimators=40, max_leaves=4, random_state=0)
        .fit(X[:27_500], y[:27_500])
        .ledger_.stopped
    )


def test_weightless_rows_alone_stop_nothing_unless_asked() -> None:
    X, y = world(rows=20_010)
    weights = np.where(np.arange(20_010) < 40, 1.0, 0.0)
    model = BoostClassifier(n_estimators=2, min_leaf_rows=2, random_state=0).fit(X, y, weights)
    assert model.ledger_.metric == ""


def test_strong_classifiers_are_boosted_for_as_many_rounds_at_least() -> None:
    asked: dict[str, Any] = {"texts": None, "classes": 2, "several_labels": False, "rounds": None}
    asked["weighted"] = False
    least = [choose(rows=rows, common={}, **asked).least for rows in range(19_000, 31_001, 500)]
    assert (least[0], least[-1]) == (90, 0)
    assert all(0 <= before - after <= 9 for before, after in pairwise(least))
