"""Intervals of a comparison on rows some of which are copies of others."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost.errors import NotCertified
from pacboost.questions.compare import Comparison

DELTA, RUNS = 0.1, 20


def coins(seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    generator = np.random.default_rng(seed)
    return generator.normal(size=(150, 4)), generator.integers(2, size=150)


def compared(X: NDArray[np.float64], y: NDArray[np.int64], seed: int) -> Comparison:
    tree = {"tree": DecisionTreeClassifier(random_state=0)}
    return pacboost.compare(tree, "stump", X, y, delta=DELTA, random_state=seed, verbose=False)


def test_a_copied_table_is_not_compared() -> None:
    X, y = coins(0)
    with pytest.raises(NotCertified, match="Drop the copies"):
        compared(np.tile(X, (2, 1)), np.tile(y, 2), 0)


def test_intervals_hold_where_some_rows_are_copies() -> None:
    false = 0
    for seed in range(RUNS):
        X, y = coins(seed)
        again = np.random.default_rng(seed).choice(len(y), len(y) // 3, replace=False)
        found = compared(np.concatenate([X, X[again]]), np.concatenate([y, y[again]]), seed)
        (entry,) = found
        assert any("may be copies" in note for note in entry.notes)
        low, seen, high = (float(own or 0) for own in (entry.lower, entry.test_error, entry.upper))
        assert low <= seen <= high
        false += not low <= 0.5 <= high
    assert false <= binom.isf(1e-3, RUNS, DELTA)


def test_draws_from_a_small_domain_are_compared_as_they_are() -> None:
    generator = np.random.default_rng(0)
    X = generator.integers(4, size=(600, 3)).astype(float)
    (entry,) = compared(X, (X[:, 0] + generator.normal(size=600) > 1.5).astype(int), 0)
    assert not any("may be copies" in note for note in entry.notes)
