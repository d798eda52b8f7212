"""Boosting the confidence: sizes, choice, refusal, and the promise on a world that often fails."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin

from pacboost.bounds.wording import DISTINCT_ROWS
from pacboost.errors import NotCertified, TooFewRowsWarning
from pacboost.theory.confidence import ConfidenceBoost


class Moody(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns the threshold 0 half of the time, and a useless rule otherwise."""

    def __init__(self, random_state: int = 0, failure: float = 0.5) -> None:
        self.random_state = random_state
        self.failure = failure

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Moody":
        self.classes_ = np.unique(y)
        self.fails_ = np.random.default_rng(self.random_state).random() < self.failure
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.where((X[:, 0] > 0) ^ (self.fails_ & (X[:, 1] > 0)), 1, -1)


def world(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Label noise of 5 %: the good rule has risk 0.05, the bad one 0.5."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 2))
    y = np.where((X[:, 0] > 0) ^ (generator.random(rows) < 0.05), 1, -1)
    return X, y


def test_enough_rows_are_certified_and_the_promise_is_kept() -> None:
    failures, lies, twin = 0, 0, 0
    for seed in range(25):
        model = ConfidenceBoost(Moody(), epsilon=0.1, gap=0.1, random_state=seed)
        X, y = world(3000, seed)
        model.fit(X, y)
        assert model.selection_rows_ == model.selection_rows_needed_
        risk = 0.5 if model.best_.fails_ else 0.05
        failures += risk > 0.2
        lies += risk > model.certificate_.value
        twin += bool(Moody(random_state=seed).fit(X, y).fails_)  # a single run
    assert max(failures, lies) <= binom.isf(1e-4, 25, 0.05) < twin


def test_too_few_rows_warn_with_the_sizes_and_are_not_certified() -> None:
    X, y = world(60, 1)
    with pytest.warns(TooFewRowsWarning, match="6 runs .* selection rows"):
        model = ConfidenceBoost(Moody(), random_state=0).fit(X, y)
    assert model.predict(X).shape == (60,)
    with pytest.raises(NotCertified, match="too few rows"):
        _ = model.certificate_


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
@pytest.mark.filterwarnings("ignore:.*rows are not counted")
def test_equal_rows_count_as_they_fall_or_once() -> None:
    X, y = world(3000, 0)
    rows = np.arange(4000) % 3000
    drawn, distinct = (
        ConfidenceBoost(Moody(), random_state=0).fit(X[rows], y[rows], copies=copies)
        for copies in ("draws", "distinct")
    )
    assert DISTINCT_ROWS not in drawn.certificate_.details
    assert DISTINCT_ROWS in distinct.certificate_.details
    assert distinct.certificate_.size == drawn.certificate_.size  # what the theorem asks for
