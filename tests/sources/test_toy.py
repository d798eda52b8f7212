"""The ten points: the errors the docstring promises, by brute force in whole numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost.sources.toy import ten_points


def all_stumps() -> NDArray[np.bool_]:
    """Which rows each stump gets wrong."""
    X, y = ten_points()
    wrong = [
        np.where(X[:, j] > cut, sign, -sign) != y
        for j in range(2)
        for cut in np.arange(-0.5, 10.0)
        for sign in (1, -1)
    ]
    return np.unique(np.array(wrong), axis=0)


def weighted_errors(weights: list[Fraction], stumps: NDArray[np.bool_]) -> list[Fraction]:
    return [sum((w for w, x in zip(weights, row, strict=True) if x), Fraction()) for row in stumps]


def paths(weights: list[Fraction], rounds: int) -> set[tuple[Fraction, ...]]:
    """The errors of every way to break ties."""
    if rounds == 0:
        return {()}
    stumps = all_stumps()
    errors = weighted_errors(weights, stumps)
    least = min(errors)
    found: set[tuple[Fraction, ...]] = set()
    for row, error in zip(stumps, errors, strict=True):
        if error == least:
            halves = [
                w / (2 * error) if x else w / (2 * (1 - error))
                for w, x in zip(weights, row, strict=True)
            ]
            found |= {(error, *rest) for rest in paths(halves, rounds - 1)}
    return found


@pytest.mark.parametrize("column", [0, 1])
def test_no_two_points_share_a_coordinate(column: int) -> None:
    assert sorted(ten_points()[0][:, column].tolist()) == list(range(10))


def test_the_errors_are_as_promised_however_ties_are_broken() -> None:
    expected = (Fraction(3, 10), Fraction(3, 14), Fraction(3, 22))
    assert paths([Fraction(1, 10)] * 10, 3) == {expected}


def test_the_three_rules_together_make_no_mistake() -> None:
    """Each of the three errs on three points, and no point is got wrong by a weighted majority."""
    stumps = all_stumps()
    weights = [Fraction(1, 10)] * 10
    log_odds = np.zeros(10)
    for _ in range(3):
        errors = weighted_errors(weights, stumps)
        error = min(errors)
        row = stumps[errors.index(error)]
        assert row.sum() == 3
        vote = 0.5 * np.log(float((1 - error) / error))
        log_odds += np.where(row, -vote, vote)
        weights = [
            w / (2 * error) if x else w / (2 * (1 - error))
            for w, x in zip(weights, row, strict=True)
        ]
    assert (log_odds > 0).all()
