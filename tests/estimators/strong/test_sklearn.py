"""StrongClassifier behaves as scikit-learn asks, without one expected failure."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import estimator_checks_generator

from pacboost.estimators.strong.classifier import StrongClassifier

CHECKS = [
    pytest.param(own, check, id=getattr(check, "func", check).__name__)
    for own, check in estimator_checks_generator(StrongClassifier(n_estimators=10))
]
X, Y = load_iris(return_X_y=True)


@pytest.mark.filterwarnings("ignore::pacboost.errors.OneClassWarning")
@pytest.mark.filterwarnings("ignore::pacboost.errors.NoEdgeWarning")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_passes_scikit_learns_own_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_clone_copies_parameters_and_nothing_learned() -> None:
    fitted = StrongClassifier(0.2, 0.1, n_estimators=5, text_columns=None).fit(X, Y)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "estimator_")
    assert not hasattr(copy, "ledger_")


def test_pickle_keeps_predictions_and_the_verdict() -> None:
    fitted = StrongClassifier(n_estimators=5, random_state=0).fit(X, Y)
    back = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(back.predict_proba(X), fitted.predict_proba(X))
    assert back.verdict_ == fitted.verdict_
    assert back.overlap(X).suspicious


def test_cross_validation_beats_guessing() -> None:
    scores = cross_val_score(StrongClassifier(n_estimators=10, random_state=0), X, Y, cv=3)
    assert scores.mean() > 0.9
