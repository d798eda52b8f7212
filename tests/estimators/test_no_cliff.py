"""No setting jumps between 20,000 and 30,000 rows: settings, rounds, and the rows they use."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost import BoostRegressor
from pacboost.estimators.inputs.examples import LabelledRows, split_by_class
from pacboost.estimators.inputs.parameters import draw_seed
from pacboost.estimators.strong.candidates import Choice, choose
from pacboost.sources.arrays import ArrayTable

SIZES = list(range(19_000, 31_001, 500))


def plan(rows: int) -> Choice:
    asked: dict[str, Any] = {"texts": None, "classes": 2, "several_labels": False, "rounds": None}
    return choose(rows=rows, weighted=False, common={"random_state": 5}, **asked)


def test_trees_of_a_strong_classifier_change_step_by_step() -> None:
    found = [plan(rows) for rows in SIZES]
    made = [choice.make() for choice in found]
    first, last = made[0], made[-1]
    assert (first.subsample, first.max_features, first.learning_rate) == (0.8, 0.5, 0.1)
    assert (last.subsample, last.max_features, last.learning_rate) == (1.0, 1.0, 0.2)
    for before, after in pairwise(made):
        assert 0 <= after.subsample - before.subsample <= 0.011
        assert 0 <= after.learning_rate - before.learning_rate <= 0.0061
        assert 0 <= after.min_leaf_rows - before.min_leaf_rows <= 1
    assert {choice.early_stopping for choice in found} == {30}


def world(rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, 3))
    return X, X[:, 0] + np.abs(X[:, 1]) + 0.3 * generator.normal(size=rows)


def kept_rounds(rows: int, early_stopping: Any = "auto", y: Any = None) -> int:
    """How many of 20 rounds of the first run a fit takes over."""
    X, known = world(rows)
    seen: list[Any] = []
    model = BoostRegressor(
        n_estimators=20,
        early_stopping=early_stopping,
        random_state=0,
        callbacks=[seen.append],
        verbose=0,
    ).fit(X, known if y is None else y)
    numbers = [entry.number for entry in seen]
    again = [i for i in range(1, len(numbers)) if numbers[i] <= numbers[i - 1]]
    return numbers[again[0]] - 1 if again else len(model.ledger_)


def test_the_second_run_of_a_regressor_keeps_ever_more_of_the_first() -> None:
    found = {rows: kept_rounds(rows) for rows in (20_000, 24_900, 25_100, 27_500, 30_000)}
    assert list(found.values()) == [0, 10, 10, 15, 20]


def test_a_second_run_counts_all_rows_and_predicts_as_its_record_says() -> None:
    X, y = world(25_000)
    model = BoostRegressor(n_estimators=20, random_state=0, verbose=0).fit(X, y)
    assert model.ledger_.rows == 25_000
    assert len(model.ledger_) == 20
    assert model.ledger_.rounds[-1].training_error == pytest.approx(
        np.mean((model.predict(X) - y) ** 2), rel=1e-9
    )
    assert model.ledger_.rounds[5].validation is None


def test_rounds_are_not_kept_if_the_rows_held_back_change_the_unit() -> None:
    """The largest target sets the unit of all values; here it is among the rows held back."""
    X, y = world(25_000)
    signs = np.ones((25_000, 1), dtype=np.int8)
    seed = draw_seed(0)
    examples = LabelledRows(ArrayTable(X), signs, targets=y)
    numbers = split_by_class(examples, "validation_fraction", 0.1, seed)[1].numbers
    assert numbers is not None
    y[numbers[0]] = 1000.0
    assert kept_rounds(25_000, y=y) == 0
    y[numbers[0]] = 0.0
    assert kept_rounds(25_000, y=y) == 10


def test_a_refit_that_was_asked_for_keeps_nothing() -> None:
    assert kept_rounds(25_000, "refit") == 0
