"""No setting jumps between 20,000 and 30,000 rows: candidates, rounds, and the rows they use."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost import BoostRegressor, StrongClassifier
from pacboost.estimators.inputs.examples import LabelledRows, split_by_class
from pacboost.estimators.inputs.parameters import draw_seed
from pacboost.estimators.strong.candidates import Choice, choose
from pacboost.estimators.strong.search import EpsilonSearch
from pacboost.sources.arrays import ArrayTable

SIZES = list(range(19_000, 31_001, 500))


def plan(rows: int) -> Choice:
    asked: dict[str, Any] = {"texts": None, "classes": 2, "several_labels": False, "rounds": None}
    return choose(rows=rows, common={"random_state": 5}, **asked)


def work(rows: int) -> float:
    """The share of all rows that are looked at, summed over candidates."""
    return sum(candidate.share for candidate in plan(rows).candidates)


def test_the_second_candidate_is_tried_on_ever_fewer_rows() -> None:
    found = [work(rows) for rows in SIZES]
    assert (found[0], found[-1]) == (2.0, 1.0)
    assert all(0 <= before - after <= 0.0501 for before, after in pairwise(found))
    assert work(25_000) == pytest.approx(1.5)


def world(rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, 3))
    return X, X[:, 0] + np.abs(X[:, 1]) + 0.3 * generator.normal(size=rows)


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of rows of every fit of a search."""
    counted: list[int] = []
    fit = EpsilonSearch._fit

    def count(search: EpsilonSearch, estimator: Any, rows: Any, watch: Any) -> Any:
        counted.append(len(rows))
        return fit(search, estimator, rows, watch)

    monkeypatch.setattr(EpsilonSearch, "_fit", count)
    return counted


def test_candidates_learn_from_as_many_rows_as_the_plan_says(tried: list[int]) -> None:
    for rows in (24_900, 25_100):
        tried.clear()
        X, y = world(rows)
        StrongClassifier(n_rounds=3, random_state=0, verbose=0).fit(X, y > 0.5)
        learn, second, known = tried
        assert abs(second / learn - plan(rows).candidates[1].share) < 0.001
        assert known > learn


def test_a_label_that_was_not_drawn_is_added() -> None:
    X, y = world(29_500)
    labels = (y > 0.5).astype(int)
    labels[:40] = 2  # a tenth of the rows would hold about two of them, a few draws none
    model = StrongClassifier(n_rounds=2, random_state=3, verbose=0).fit(X, labels)
    assert model.classes_.tolist() == [0, 1, 2]


def kept_rounds(rows: int, early_stopping: Any = "auto", y: Any = None) -> int:
    """How many of 20 rounds of the first run a fit takes over."""
    X, known = world(rows)
    seen: list[Any] = []
    model = BoostRegressor(
        n_rounds=20,
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
    model = BoostRegressor(n_rounds=20, random_state=0, verbose=0).fit(X, y)
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
