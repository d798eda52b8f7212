"""The ledger as JSON, as a frame and as a fingerprint, and the hardest rows that it keeps."""

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

from pacboost import AdaBoostClassifier, BoostRegressor, FilterBoostClassifier
from pacboost.boosters.adaboost import AdaBoost
from pacboost.errors import DataError, ParameterError
from pacboost.learners.stump import Stump
from pacboost.ledgers.ledger import HardRow, Ledger
from pacboost.training.run.loop import Run
from tests.worlds import make_sample, noisy


@pytest.fixture
def ledger() -> Ledger:
    X, signs = noisy(100, 3, seed=1)
    run = Run(make_sample(X, signs), Stump(), AdaBoost())
    list(islice(run, 5))
    return run.ledger()


def test_json_both_ways(ledger: Ledger) -> None:
    restored = Ledger.from_json(ledger.to_json())
    assert restored == ledger
    assert restored.digest() == ledger.digest()
    gaps = replace(ledger, rounds=[replace(e, margin=0.1, gap=0.2) for e in ledger.rounds])
    assert Ledger.from_json(gaps.to_json()) == gaps
    rounds = len(ledger.rounds)
    assert (ledger.shown(), gaps.shown()) == ({}, {"margin": [0.1] * rounds, "gap": [0.2] * rounds})


def test_clock_and_words_lie_outside_the_digest(ledger: Ledger) -> None:
    other = replace(ledger, rounds=[replace(e, seconds=9.0, rule="?") for e in ledger.rounds])
    assert other.digest() == ledger.digest()


def test_any_number_inside_changes_the_digest(ledger: Ledger) -> None:
    changed = [replace(ledger.rounds[0], error=0.123), *ledger.rounds[1:]]
    assert replace(ledger, rounds=changed).digest() != ledger.digest()
    assert replace(ledger, rows=7).digest() != ledger.digest()


@pytest.fixture(scope="module")
def hard_ledger() -> Ledger:
    X, signs = noisy(300, 3, seed=1)
    return AdaBoostClassifier(n_estimators=8).fit(X, signs).ledger_


def test_json_both_ways_and_the_digest_knows_them(hard_ledger: Ledger) -> None:
    restored = Ledger.from_json(hard_ledger.to_json())
    assert restored == hard_ledger
    other = [HardRow(7, "?", -1.0, 1.0), *hard_ledger.hard[1:]]
    assert replace(hard_ledger, hard=other).digest() != hard_ledger.digest()


def test_records_without_them_leave_them_out(hard_ledger: Ledger) -> None:
    old = replace(hard_ledger, hard=[])
    assert "hard" not in old.to_dict()
    assert Ledger.from_json(old.to_json()) == old
    with pytest.raises(DataError, match=r"no hard rows.*margins"):
        old.hardest(1)


def test_more_than_are_kept(hard_ledger: Ledger) -> None:
    with pytest.raises(ParameterError, match=r"100 hardest rows; margins"):
        hard_ledger.hardest(101)
    X, signs = noisy(20, 3, seed=1)
    some = AdaBoostClassifier(n_estimators=3).fit(X, signs).ledger_
    assert len(some.hardest(50)) == 20


def test_reasons_for_none() -> None:
    X, signs = noisy(300, 3, seed=1)
    filtered = FilterBoostClassifier(n_estimators=3, random_state=0).fit(X, signs).ledger_
    with pytest.raises(DataError, match="filtering"):
        filtered.hardest(1)
    numbers = BoostRegressor(n_estimators=2, random_state=0).fit(X, X[:, 0]).ledger_
    with pytest.raises(DataError, match="no margins"):
        numbers.hardest(1)
    with pytest.raises(DataError, match="the vote is empty"):
        Ledger("adaboost", "exponential", "stump", 10, 1, False, True).hardest(1)


def test_rows_are_counted_as_they_were_given() -> None:
    """Whatever was held back, or left out for its weight of 0."""
    X, signs = noisy(400, 3, seed=2)
    weights = np.ones(400)
    weights[::7] = 0
    plain: dict[str, Any] = {"n_estimators": 10, "random_state": 3}
    ways: list[tuple[dict[str, Any], Any]] = [
        ({"certify": "holdout"}, None),
        ({"early_stopping": True}, None),
        ({"certify": "holdout", "early_stopping": True, "calibrate": "sigmoid"}, None),
        ({}, weights),
        ({"early_stopping": True}, weights),
    ]
    two = np.where(signs > 0, "yes", "no")
    for options, argument in ways:
        model = AdaBoostClassifier(**plain, **options).fit(X, two, sample_weight=argument)
        margins = model.margins(X, two)
        hard = model.ledger_.hard
        assert len(hard) == 100
        assert all(entry.margin == margins[entry.row] for entry in hard)
        assert all(entry.label == two[entry.row] for entry in hard)
        assert model.ledger_.rows < 400
        if argument is not None:
            assert all(argument[entry.row] > 0 for entry in hard)
