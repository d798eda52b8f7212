"""Ranking measures against scikit-learn's, and by hand where it has none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import (
    coverage_error,
    hamming_loss,
    label_ranking_average_precision_score,
    label_ranking_loss,
)

from pacboost.errors import DataError
from pacboost.models.answers import ranking


def rows_of(seed: int, labels: int, *, ties: bool) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Some rows have no label, some all of them."""
    generator = np.random.default_rng(seed)
    rows = int(generator.integers(1, 30))
    scores = generator.normal(size=(rows, labels))
    scores = np.round(scores) if ties else scores
    return scores, generator.random((rows, labels)) < generator.choice([0.1, 0.5, 0.9])


@given(st.integers(0, 2**32 - 1), st.integers(2, 8), st.booleans())
def test_as_in_scikit_learn(seed: int, labels: int, ties: bool) -> None:
    scores, right = rows_of(seed, labels, ties=ties)
    said = scores > 0
    found = ranking(scores, right, said)
    some = right.any(axis=1).mean()
    assert found.hamming_loss == pytest.approx(hamming_loss(right, said))
    assert found.coverage == pytest.approx(coverage_error(right, scores) - some)  # it counts from 1
    assert found.ranking_loss == pytest.approx(label_ranking_loss(right, scores))
    precision = label_ranking_average_precision_score(right, scores)
    assert found.average_precision == pytest.approx(precision)
    assert (found.rows, found.labels) == right.shape


@given(st.integers(0, 2**32 - 1), st.integers(2, 8), st.booleans())
def test_one_error_by_hand(seed: int, labels: int, ties: bool) -> None:
    scores, right = rows_of(seed, labels, ties=ties)
    wrong_first = 0
    for own, marked in zip(scores, right, strict=True):
        top = own == own.max()
        wrong_first += bool(marked.any()) and not marked[top].all()
    assert ranking(scores, right, right).one_error == wrong_first / len(scores)


def test_a_perfect_ranking() -> None:
    right = np.array([[True, False, True], [False, True, False]])
    found = ranking(right.astype(float), right, right)
    assert (found.hamming_loss, found.one_error, found.ranking_loss) == (0, 0, 0)
    assert (found.average_precision, found.coverage) == (1, 0.5)


def test_scores_that_are_all_equal_are_the_worst_ranking() -> None:
    right = np.array([[True, False, False, False]])
    found = ranking(np.zeros((1, 4)), right, right)
    assert (found.one_error, found.coverage, found.ranking_loss) == (1, 3, 1)
    assert found.average_precision == 0.25


def test_shapes_are_checked() -> None:
    with pytest.raises(DataError, match=r"\(rows, labels\)"):
        ranking(np.zeros((2, 3)), np.zeros((2, 2), bool), np.zeros((2, 2), bool))
