"""Looking at an estimator in a notebook: Tab, dir, hasattr and its display never raise."""

from __future__ import annotations

import html
import inspect
import time
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import pacboost
from pacboost.errors import NotCertified
from tests.public import estimators

ESTIMATORS = list(estimators())


def made(name: str) -> Any:
    return estimators()[name]()


def fitted(name: str) -> Any:
    model = made(name)
    known = model.get_params()
    quick = {"n_estimators": 3, "n_members": 3, "n_jobs": 1, "random_state": 0}
    quick["max_draws"] = 30_000
    model.set_params(**{key: value for key, value in quick.items() if key in known})
    X, y = load_breast_cancer(return_X_y=True)
    rows: tuple[Any, Any] = (X[:, :4], y)
    if name == "TextBoostClassifier":
        rows = (["a good day", "bad weather"] * 20, np.tile([0, 1], 20))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*rows)


def look(model: Any) -> None:
    for name in dir(type(model)):
        hasattr(model, name)
    assert "fit" in dir(model)
    assert dict(inspect.getmembers(model))["get_params"]
    assert type(model).__name__ in repr(model)
    assert type(model).__name__ in model._repr_html_()
    assert set(model._repr_mimebundle_()) == {"text/plain", "text/html"}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_looking_raises_nothing_before_fit(name: str) -> None:
    look(made(name))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_looking_raises_nothing_after_fit(name: str) -> None:
    look(fitted(name))


def test_a_property_that_does_not_apply_is_absent_and_says_why() -> None:
    model = fitted("RandomForestRegressor")
    assert not hasattr(model, "certificate_")
    assert "certificate_" not in dict(inspect.getmembers(model))
    with pytest.raises(NotCertified, match=r"pacboost\.intervals"):
        _ = model.certificate_


def test_the_display_does_not_write_out_all_rules() -> None:
    """The arrays of 100 trees, written as text, would take seconds and megabytes."""
    X, y = load_breast_cancer(return_X_y=True)
    model = pacboost.BoostClassifier("logit", "tree", 100, random_state=0).fit(X, y)
    started = time.perf_counter()
    for value in (model.model_, model.ledger_, model.estimators_[0]):
        assert len(repr(value)) < 200
    assert len(model._repr_html_()) < 200_000
    assert time.perf_counter() - started < 2


def test_a_strong_classifier_shows_its_sentence() -> None:
    model = fitted("StrongClassifier")
    assert html.escape(model.sentence_) in model._repr_html_()
