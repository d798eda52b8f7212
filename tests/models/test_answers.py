"""Confidence, and answers where there is enough of it."""

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

from pacboost.models.answers import Answer, answers, confidence, ranking


def test_the_confidence_is_that_of_what_was_decided() -> None:
    """Classes need not be in order, and what was decided need not have the largest probability."""
    shares = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    sure = confidence(np.array(["b", "a"]), shares, np.array(["c", "a", "b"]))
    assert sure.tolist() == [0.2, 0.2]


def test_several_labels_are_sure_together() -> None:
    shares = np.array([[0.9, 0.2], [0.5, 0.5]])
    sure = confidence(np.array([[1, 0], [0, 0]]), shares, np.arange(2))
    assert sure == pytest.approx([0.72, 0.25])


def test_a_threshold_is_reached_by_what_equals_it() -> None:
    given = answers(np.array(["x", "y"]), np.array([0.8, 0.79]), 0.8, None)
    assert given == [Answer("x", 0.8, "x"), Answer(None, 0.79, "y")]
    assert [a.label for a in answers(np.array([1, 2]), np.array([0.1, 0.9]), 0.5, -1)] == [-1, 2]
    assert "a guess: y" in str(given[1])


# Ranking measures against scikit-learn's, and by hand where it has none.


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
