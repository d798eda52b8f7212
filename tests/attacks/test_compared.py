"""Intervals of a comparison on rows some of which are copies of others."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, nbinom
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost.errors import InputWarning, NotCertified
from pacboost.questions.compare import Comparison
from pacboost.samples.equal_rows import DISTINCT

DELTA, RUNS = 0.1, 8


def coins(seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    generator = np.random.default_rng(seed)
    return generator.normal(size=(150, 4)), generator.integers(2, size=150)


def compared(
    X: NDArray[np.float64], y: NDArray[np.int64], seed: int, copies: str = "distinct"
) -> Comparison:
    tree = {"tree": DecisionTreeClassifier(random_state=0)}
    return pacboost.compare(
        X, y, tree, "stump", delta=DELTA, random_state=seed, verbose=False, copies=copies
    )


def test_one_copy_of_a_row_is_tested_on() -> None:
    X, y = coins(0)
    found = compared(np.tile(X, (2, 1)), np.tile(y, 2), 0)
    assert (found.train_rows, found.test_rows) == (224, 38)
    assert found.assumptions == (DISTINCT,)


def test_intervals_hold_where_some_rows_are_copies() -> None:
    false = 0
    for seed in range(RUNS):
        X, y = coins(seed)
        again = np.random.default_rng(seed).choice(len(y), len(y) // 3, replace=False)
        found = compared(np.concatenate([X, X[again]]), np.concatenate([y, y[again]]), seed)
        (entry,) = found
        low, seen, high = (float(own or 0) for own in (entry.lower, entry.test_error, entry.upper))
        assert low <= seen <= high
        false += not low <= 0.5 <= high
    assert false <= binom.isf(1e-3, RUNS, DELTA)


def test_test_rows_of_ones_own_are_compared_with_those_learned_from() -> None:
    X, y = coins(0)
    new, labels = coins(1)
    test = np.concatenate([new, X[:9]]), np.concatenate([labels, y[:9]])
    tree = {"tree": DecisionTreeClassifier(random_state=0)}
    with pytest.warns(InputWarning, match="9 of 159 rows"):
        found = pacboost.compare(X, y, tree, "stump", test=test, verbose=False, copies="distinct")
    assert found.test_rows == 150
    with pytest.raises(NotCertified, match="trained on"):
        pacboost.compare(X, y, tree, "stump", test=(X, y), verbose=False)


def test_draws_from_a_small_domain_are_compared_as_they_are() -> None:
    generator = np.random.default_rng(0)
    X = generator.integers(4, size=(600, 3)).astype(float)
    found = compared(X, (X[:, 0] + generator.normal(size=600) > 1.5).astype(int), 0, "draws")
    assert found.test_rows == 150
    assert found.assumptions == ()


class Small(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Is right where the numbers of a row have a small sum, or where they have a large one."""

    def __init__(self, right: bool = True) -> None:
        self.right = right

    def fit(self, X: Any, y: Any) -> "Small":
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return (np.asarray(X).sum(axis=1) < 7) == self.right


@pytest.mark.parametrize("question", ["compare", "compare_models"])
def test_differences_where_frequent_rows_repeat(question: str) -> None:
    """One model is right on frequent rows, the other on rare ones; all labels are 1."""
    false = 0
    both = {"frequent": Small(), "rare": Small(right=False)}
    truth = 1 - 2 * float(nbinom.cdf(6, 3, 0.25))
    for seed in range(RUNS):
        generator = np.random.default_rng(seed)
        X, y = generator.geometric(0.25, size=(1000, 3)) - 1.0, np.arange(1000) > 1
        if question == "compare":
            found = pacboost.compare(
                X, y, both, "stump", delta=DELTA, random_state=seed, verbose=False
            )
            difference = found.difference("frequent", "rare")
            seen = [float(found[name].test_error or 0) for name in both]
            assert difference.interval[0] <= seen[0] - seen[1] <= difference.interval[1]
        else:
            one, other = (model.fit(X, y) for model in both.values())
            difference = pacboost.compare_models(one, other, X, y, delta=DELTA)
        false += not difference.interval[0] <= truth <= difference.interval[1]
    assert false <= binom.isf(1e-3, RUNS, DELTA)
    assert difference.assumptions == ()
