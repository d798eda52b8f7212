"""Drawing rows by whole-number weights."""

from __future__ import annotations

import numpy as np
from scipy.stats import chisquare

from pacboost.numerics.exact import draw, tied, wrong_answers, wrong_classes, wrong_margins


def test_frequencies_follow_the_weights() -> None:
    weights = np.array([1, 0, 3, 2**50, 2**50 - 4])
    drawn = np.bincount(draw(weights, 40_000, np.random.default_rng(1)), minlength=5)
    assert drawn[1] == 0
    assert chisquare(drawn[3:], [20_000, 20_000]).pvalue > 1e-4


# What counts as wrong: answers, margins and scores of classes say the same of every row.


def test_two_classes_by_margins_by_answers_and_as_two_columns_of_scores() -> None:
    generator = np.random.default_rng(0)
    scores = generator.integers(-2, 3, 300) / 2
    labels = generator.integers(0, 2, 300)
    expected = wrong_margins(np.where(labels == 1, 1, -1) * scores)
    answers = (scores > 0).astype(np.int64)
    assert (wrong_answers(answers, labels, scores) == expected).all()
    assert (wrong_classes(np.column_stack([-scores, scores]), labels) == expected).all()
    assert expected[scores == 0].all()


def test_a_class_must_score_above_every_other() -> None:
    generator = np.random.default_rng(1)
    scores = generator.integers(0, 3, (500, 4)).astype(np.float64)
    labels = generator.integers(0, 4, 500)
    for row, label, wrong in zip(scores, labels, wrong_classes(scores, labels), strict=True):
        assert wrong == any(row[k] >= row[label] for k in range(4) if k != label)


def test_what_is_not_a_number_decides_nothing() -> None:
    nan = float("nan")
    assert wrong_margins([nan]).all()
    assert tied(np.array([nan])).all()
    assert tied(np.array([[nan, 1.0], [1.0, nan]])).all()
