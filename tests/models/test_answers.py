"""Confidence, and answers where there is enough of it."""

from __future__ import annotations

import numpy as np
import pytest

from pacboost.errors import DataError
from pacboost.models.answers import Answer, answers, confidence


def test_the_confidence_is_that_of_what_was_decided() -> None:
    """Classes need not be in order, and what was decided need not have the largest probability."""
    shares = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    sure = confidence(np.array(["b", "a"]), shares, np.array(["c", "a", "b"]))
    assert sure.tolist() == [0.2, 0.2]


def test_several_labels_are_sure_together() -> None:
    shares = np.array([[0.9, 0.2], [0.5, 0.5]])
    sure = confidence(np.array([[1, 0], [0, 0]]), shares, np.arange(2))
    assert sure == pytest.approx([0.72, 0.25])


def test_no_confidence_is_above_one() -> None:
    assert confidence(np.array([1]), np.array([[0.0, 1 + 1e-15]]), np.arange(2)).tolist() == [1.0]


def test_shapes_are_checked() -> None:
    with pytest.raises(DataError, match=r"\(2, 3\) for 2 rows and 2 classes"):
        confidence(np.array([0, 1]), np.zeros((2, 3)), np.arange(2))


def test_a_threshold_is_reached_by_what_equals_it() -> None:
    given = answers(np.array(["x", "y"]), np.array([0.8, 0.79]), 0.8, None)
    assert given == [Answer("x", 0.8, "x"), Answer(None, 0.79, "y")]
    assert [a.label for a in answers(np.array([1, 2]), np.array([0.1, 0.9]), 0.5, -1)] == [-1, 2]
    assert "a guess: y" in str(given[1])
