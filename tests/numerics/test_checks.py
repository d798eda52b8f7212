"""What the checks of numbers let through, how rows are drawn, and what counts as wrong."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from pacboost.errors import ParameterError
from pacboost.numerics.checks import counts, positive_whole, probability
from pacboost.numerics.exact import draw, tied, wrong_answers, wrong_classes, wrong_margins


@pytest.mark.parametrize("value", [0.05, 1e-300, 1 - 1e-15, np.float32(0.5), Fraction(1, 3)])
def test_probabilities_pass(value: float) -> None:
    checked = probability("delta", value)
    assert type(checked) is float
    assert checked == float(value)


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.1, math.nan, math.inf, True, "0.1", None])
def test_other_things_are_no_probabilities(value: float) -> None:
    with pytest.raises(ParameterError) as caught:
        probability("delta", value)
    assert caught.value.parameter == "delta"


@pytest.mark.parametrize("value", [1, 10**30, np.int32(7)])
def test_whole_numbers_pass(value: int) -> None:
    checked = positive_whole("n", value)
    assert type(checked) is int
    assert checked == value


@pytest.mark.parametrize("value", [0, -3, 2.0, 1.5, True, "3", None])
def test_other_things_are_no_positive_whole_numbers(value: int) -> None:
    with pytest.raises(ParameterError) as caught:
        positive_whole("n", value)
    assert caught.value.parameter == "n"


def test_counts() -> None:
    counts(0, 1)
    counts(1, 1)
    counts(np.int64(3), 10)
    for k in (-1, 11, 1.0, True):
        with pytest.raises(ParameterError, match=r"k is .* 0 to 10"):
            counts(k, 10)
    with pytest.raises(ParameterError, match="n is 0"):
        counts(0, 0)


def test_frequencies_follow_the_weights() -> None:
    weights = np.array([1, 0, 3, 2**50, 2**50 - 4])
    drawn = np.bincount(draw(weights, 40_000, np.random.default_rng(1)), minlength=5)
    assert drawn[1] == 0
    assert chisquare(drawn[3:], [20_000, 20_000]).pvalue > 1e-4


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
