"""What the checks of numbers let through, and what they say about the rest."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from pacboost.errors import ParameterError
from pacboost.numerics.checks import counts, positive_whole, probability


@pytest.mark.parametrize("value", [0.05, 1e-300, 1 - 1e-15, np.float32(0.5), Fraction(1, 3)])
def test_probabilities_pass(value: float) -> None:
    checked = probability("delta", value)
    assert type(checked) is float
    assert checked == float(value)


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.1, math.nan, math.inf, True, "0.1", None])
def test_other_things_are_no_probabilities(value: float) -> None:
    with pytest.raises(ParameterError, match=r"delta is .*strictly between 0 and 1"):
        probability("delta", value)


@pytest.mark.parametrize("value", [1, 10**30, np.int32(7)])
def test_whole_numbers_pass(value: int) -> None:
    checked = positive_whole("n", value)
    assert type(checked) is int
    assert checked == value


@pytest.mark.parametrize("value", [0, -3, 2.0, 1.5, True, "3", None])
def test_other_things_are_no_positive_whole_numbers(value: int) -> None:
    with pytest.raises(ParameterError, match=r"n is .*whole number, 1 or more"):
        positive_whole("n", value)


def test_counts() -> None:
    counts(0, 1)
    counts(1, 1)
    counts(np.int64(3), 10)
    for k in (-1, 11, 1.0, True):
        with pytest.raises(ParameterError, match=r"k is .*whole number, 0 to 10"):
            counts(k, 10)
    with pytest.raises(ParameterError, match="n is 0"):
        counts(0, 0)
