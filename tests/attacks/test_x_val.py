"""Validation rows that are among the rows set apart have a part in the fit."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import pacboost
from pacboost.errors import ParameterError
from tests.attacks.worlds import coins, make, public_classifiers
from tests.bounds.coverage import allowed_violations

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
WATCHING = [
    name
    for name in public_classifiers("certify")
    if "X_val" in inspect.signature(getattr(pacboost, name).fit).parameters
]


def as_rows(name: str, X: NDArray[Any]) -> Any:
    return [f"w{row[0]:.9f}" for row in X] if name == "TextBoostClassifier" else X


@pytest.mark.parametrize("name", WATCHING)
def test_rows_set_apart_may_not_watch(name: str) -> None:
    X, y = coins(0, 300)
    model = make(name, certify="holdout", random_state=0)
    for shown in (np.arange(300), np.arange(0, 300, 2)):
        with pytest.raises(ParameterError, match=r"of the 60 rows .* are among the rows of X_val"):
            model.fit(as_rows(name, X), y, X_val=as_rows(name, X[shown]), y_val=y[shown])
    other, labels = coins(1, 50)
    sets = [(as_rows(name, other), labels), (as_rows(name, X[:200]), y[:200])]
    with pytest.raises(ParameterError, match=r"of the 60 rows .* are among .* eval_set"):
        model.fit(as_rows(name, X), y, eval_set=sets)
    model.fit(as_rows(name, X), y, X_val=as_rows(name, other), y_val=labels)
    assert "shared" not in model.certificate_.inputs


def test_few_rows_that_watch_count_as_mistakes() -> None:
    runs, delta, violated = 40, 0.2, 0
    for seed in range(runs):
        X, y = coins(seed, 300)
        apart = np.random.default_rng(
            int(np.random.RandomState(seed).randint(2**31)) + 1
        ).permutation(300)[:60]
        model = make("AdaBoostClassifier", certify="holdout", delta=delta, random_state=seed)
        model.fit(X, y, X_val=X[apart[:3]], y_val=y[apart[:3]])
        assert model.certificate_.inputs["shared"] == 3
        assert "3 of them equal rows that had a part in the fit" in model.certificate_.sample
        violated += model.certificate_.value < 0.5
    assert violated <= allowed_violations(runs, delta)


def test_texts_that_the_fit_has_not_learned_are_told_apart() -> None:
    words = np.array([f"t{k:04d}" for k in range(250)], dtype=object)[:, None]
    labels = np.arange(250) % 2
    model = make("BoostClassifier", certify="holdout", random_state=0)
    model.fit(words[:200], labels[:200], X_val=words[200:], y_val=labels[200:])
    assert "shared" not in model.certificate_.inputs
