"""The ten points: the errors the docstring promises, by brute force in whole numbers."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pacboost.sources.toy import lecture_points


def all_stumps() -> NDArray[np.bool_]:
    """Which rows each stump gets wrong."""
    X, y = lecture_points()
    wrong = [
        np.where(X[:, j] > cut, sign, -sign) != y
        for j in range(2)
        for cut in np.arange(-0.5, 10.0)
        for sign in (1, -1)
    ]
    return np.unique(np.array(wrong), axis=0)


def paths(
    stumps: NDArray[np.bool_], weights: list[Fraction], rounds: int
) -> set[tuple[Fraction, ...]]:
    """The errors of every way to break ties."""
    if rounds == 0:
        return {()}
    errors = [
        sum((w for w, x in zip(weights, row, strict=True) if x), Fraction()) for row in stumps
    ]
    least = min(errors)
    found: set[tuple[Fraction, ...]] = set()
    for row, error in zip(stumps, errors, strict=True):
        if error == least:
            halves = [
                w / (2 * error) if x else w / (2 * (1 - error))
                for w, x in zip(weights, row, strict=True)
            ]
            found |= {(error, *rest) for rest in paths(stumps, halves, rounds - 1)}
    return found


def test_the_errors_are_as_promised_however_ties_are_broken() -> None:
    for column in lecture_points()[0].T:  # no two points share a coordinate
        assert sorted(column.tolist()) == list(range(10))
    expected = (Fraction(3, 10), Fraction(3, 14), Fraction(3, 22))
    assert paths(all_stumps(), [Fraction(1, 10)] * 10, 3) == {expected}
