"""Two models of numbers are compared by the difference of their mean clipped errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import pacboost
from pacboost.errors import NotCertified, ParameterError
from pacboost.questions.compare_numbers import LossDifference

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(900, 3))
Y = X @ [1.0, 2.0, 3.0] + GENERATOR.normal(size=900)


class Biased(LinearRegression):  # type: ignore[misc]
    """A regression that is off by two."""

    def predict(self, X: Any) -> Any:
        return super().predict(X) + 2


def test_the_better_of_two_is_named() -> None:
    one, other = Biased().fit(X[:300], Y[:300]), LinearRegression().fit(X[:300], Y[:300])
    found = pacboost.compare_models(one, other, X[300:], Y[300:], clip=10)
    assert isinstance(found, LossDifference)
    assert found.significant
    assert found.lower < found.value < found.upper
    assert found.claim in found.sentence
    assert "'LinearRegression' is better" in found.claim
    swapped = pacboost.compare_models(other, one, X[300:], Y[300:], clip=10)
    assert swapped.interval == pytest.approx((-found.upper, -found.lower))
    assert found.to_dict()["value"] == found.value
    same = pacboost.compare_models(other, other, X[300:], Y[300:], clip=10)
    assert same.claim.startswith("Not decided")


def test_what_cannot_be_compared_is_refused() -> None:
    numbers, classes = LinearRegression().fit(X, Y), LogisticRegression().fit(X, Y > 0)
    with pytest.raises(ParameterError, match="predict numbers") as refused:
        pacboost.compare_models(numbers, numbers, X, Y)
    assert refused.value.parameter == "clip"
    for one, other in ((numbers, classes), (classes, classes)):
        with pytest.raises(NotCertified, match="two classifiers without"):
            pacboost.compare_models(one, other, X, Y > 0, clip=3)


def violations(share_of_delta: float, runs: int = 300) -> float:
    """Return how often intervals miss the difference of a world where it is known: zero."""
    generator, missed = np.random.default_rng(1), 0
    for _ in range(runs):
        one, other = 10.0 * (generator.random((2, 200)) < 0.5)
        found = LossDifference.of(("a", "b"), one, other, 10, min(0.99, 0.2 * share_of_delta), 1)
        missed += not found.lower <= 0 <= found.upper
    return missed / runs


def test_intervals_hold_as_often_as_they_say() -> None:
    assert violations(1) <= 0.2
    assert violations(4.9) > 0.2  # a twin that takes nearly five times its delta
