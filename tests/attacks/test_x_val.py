"""Validation rows that are among the rows set apart have a part in the fit."""

import inspect
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.fit.division import share_apart
from pacboost.fit.roles import CERTIFY
from tests.attacks.worlds import coins, make, public_classifiers
from tests.bounds.coverage import allowed_violations
from tests.public import estimators

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
WATCHING = [
    name
    for name in public_classifiers("certify")
    if "X_val" in inspect.signature(estimators()[name].fit).parameters
]


def seed_of(seed: int) -> int:
    """Return the seed that a fit draws from random_state."""
    return int(np.random.RandomState(seed).randint(2**31))


def as_rows(name: str, X: NDArray[Any]) -> Any:
    return [f"w{row[0]:.9f}" for row in X] if name == "TextBoostClassifier" else X


@pytest.mark.parametrize("name", WATCHING)
def test_rows_set_apart_may_not_watch(name: str) -> None:
    X, y = coins(0, 300)
    model = make(name, certify="holdout", random_state=0)
    for shown in (np.arange(300), np.arange(0, 300, 2)):
        with pytest.raises(ParameterError, match=r"60 rows .* rows of X_val"):
            model.fit(as_rows(name, X), y, X_val=as_rows(name, X[shown]), y_val=y[shown])
    other, labels = coins(1, 50)
    sets = [(as_rows(name, other), labels), (as_rows(name, X[:200]), y[:200])]
    with pytest.raises(ParameterError, match=r"60 rows .* eval_set"):
        model.fit(as_rows(name, X), y, eval_set=sets)
    model.fit(as_rows(name, X), y, X_val=as_rows(name, other), y_val=labels)
    assert "validation" not in model.certificate_.sample


def test_few_rows_that_watch_are_left_out_of_distinct_rows() -> None:
    runs, delta, violated = 40, 0.2, 0
    for seed in range(runs):
        X, y = coins(seed, 300)
        apart = np.random.default_rng(seed_of(seed) + CERTIFY).permutation(300)[:60]
        model = make("AdaBoostClassifier", certify="holdout", delta=delta, random_state=seed)
        model.fit(X, y, X_val=X[apart[:3]], y_val=y[apart[:3]], copies="distinct")
        assert model.certificate_.inputs["n"] == 57
        assert model.certificate_.sample["validation"] == 3
        violated += model.certificate_.value < 0.5
    assert violated <= allowed_violations(runs, delta)


def test_texts_that_the_fit_has_not_learned_are_told_apart() -> None:
    words = np.array([f"t{k:04d}" for k in range(250)], dtype=object)[:, None]
    labels = np.arange(250) % 2
    model = make("BoostClassifier", certify="holdout", random_state=0)
    model.fit(words[:200], labels[:200], X_val=words[200:], y_val=labels[200:])
    assert "validation" not in model.certificate_.sample


def few_values(seed: int, rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
    generator = np.random.default_rng(seed)
    return generator.integers(3, size=(rows, 3)), generator.integers(2, size=rows)


def test_where_equal_rows_are_draws_validation_rows_may_equal_others() -> None:
    X, y = few_values(0, 1000)
    model = make("AdaBoostClassifier", certify="holdout", random_state=0)
    model.fit(X, y, X_val=few_values(1, 300)[0], y_val=few_values(1, 300)[1])
    assert model.certificate_.inputs["n"] == 200


def test_but_not_be_those_that_certify() -> None:
    X, y = coins(0, 1000)
    apart = share_apart(X, y, "holdout", 0.2, seed_of(0) + CERTIFY).apart
    assert apart is not None
    model = make("AdaBoostClassifier", certify="holdout", random_state=0)
    for rows in (200, 20, 8):  # all rows that certify, and a few of them
        with pytest.raises(ParameterError, match="rows of X_val"):
            model.fit(X, y, X_val=apart.X[:rows], y_val=apart.y[:rows])
