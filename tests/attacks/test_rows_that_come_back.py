"""Rows that were learned from come back among new ones: refused, left out exactly, or said.

Labels are coins, so that a bound below one half is false, whatever was learned.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from pacboost import AdaBoostClassifier, certify, certify_all, choose_threshold, compare_models, sets
from pacboost.bounds.wording import SHARE_LEARNED
from pacboost.errors import InputWarning, NotCertified
from pacboost.questions.answering import certify_answers
from tests.attacks.worlds import coins

Rows = tuple[NDArray[Any], NDArray[Any]]
DOORS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "certify": certify,
    "recall": lambda model, X, y: certify_all(model, X, y, of="recall"),
    "answers": lambda model, X, y: certify_answers(model, X, y, abstain_below=0.5),
    "threshold": lambda model, X, y: choose_threshold(model, X, y, recall=0.5),
    "sets": lambda model, X, y: sets(model, X, y, coverage=0.5),
    "compare": lambda model, X, y: compare_models(
        model, AdaBoostClassifier(n_estimators=1).fit(*coins(99, 50)), X, y
    ),
}


def memorising(X: NDArray[Any], y: NDArray[Any]) -> AdaBoostClassifier:
    return AdaBoostClassifier(DecisionTreeClassifier(random_state=0), n_estimators=1).fit(X, y)


def part_of_a_table(seed: int) -> tuple[Rows, Rows]:
    """The model learns from 500 rows of a table of 10,000, and the whole table is to certify."""
    X, y = coins(seed, 10_000)
    return (X[:500], y[:500]), (X, y)


def every_row_twice(seed: int) -> tuple[Rows, Rows]:
    """The training table has every row twice, and each comes back once."""
    X, y = coins(seed, 400)
    return (np.repeat(X, 2, axis=0), np.repeat(y, 2)), (X, y)


def every_row_twice_on_both_sides(seed: int) -> tuple[Rows, Rows]:
    learned, _ = every_row_twice(seed)
    return learned, learned


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "world", [part_of_a_table, every_row_twice, every_row_twice_on_both_sides]
)
def test_old_rows_are_refused(world: Callable[[int], tuple[Rows, Rows]], door: str) -> None:
    for seed in range(3):
        learned, back = world(seed)
        model = memorising(*learned)
        with pytest.raises(NotCertified, match="trained on"):
            DOORS[door](model, *back)


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
def test_honest_tables_of_thirty_values_are_never_refused() -> None:
    for seed in range(60):
        generator = np.random.default_rng(seed)
        X, y = generator.integers(30, size=(400, 1)), generator.integers(2, size=400)
        model = AdaBoostClassifier(n_estimators=1).fit(X[:100], y[:100])
        certify(model, X[100:], y[100:])
        AdaBoostClassifier(n_estimators=1, certify="holdout", random_state=seed).fit(
            X[:200], y[:200], X_val=X[200:], y_val=y[200:]
        )


@pytest.mark.parametrize(("again", "of"), [(1, 2000), (5, 2000), (15, 2000), (4, 10_000)])
def test_rows_that_are_counted_although_they_are_known_are_said(again: int, of: int) -> None:
    X, y = coins(0, 2000 + of)
    model = memorising(X[:2000], y[:2000])
    X, y = np.append(X[:again], X[2000 + again :], axis=0), np.append(y[:again], y[2000 + again :])
    with pytest.warns(InputWarning, match="equal rows it learned from"):
        certificate = certify(model, X, y)
    assert certificate.details[SHARE_LEARNED] == again / of
    assert "equal rows it learned from" in certificate.claim
