"""What a round is measured by equals the plain twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.kernels import measure, naive


def measured(
    weights: NDArray[np.int64], agree: NDArray[np.int8], size: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    spans = -(-weights.size // size)
    sums = np.full((spans, 2), -1, dtype=np.int64)
    squares = np.full(spans, np.nan)
    measure.masses(weights, agree, size, sums, squares)
    return sums, squares


def some_agreement(generator: np.random.Generator, rows: int) -> NDArray[np.int8]:
    return generator.choice(np.array([-1, 1], dtype=np.int8), rows)


@settings(deadline=None, max_examples=80)
@given(seed=st.integers(0, 2**32), rows=st.integers(1, 200), size=st.integers(1, 70))
def test_masses_equal_the_twins_where_squares_are_exact(seed: int, rows: int, size: int) -> None:
    generator = np.random.default_rng(seed)
    weights = generator.integers(1, 2**20, rows)
    agree = some_agreement(generator, rows)
    sums, squares = measured(weights, agree, size)
    expected_sums, expected_squares = naive.masses(weights, agree, size)
    np.testing.assert_array_equal(sums, expected_sums)
    np.testing.assert_array_equal(squares, expected_squares)


@pytest.mark.parametrize("rows", [32_767, 32_768, 32_769, 100_003])
def test_masses_of_large_weights_equal_the_twins(rows: int) -> None:
    generator = np.random.default_rng(rows)
    weights = generator.integers(1, 2**53 // rows, rows)
    agree = some_agreement(generator, rows)
    sums, squares = measured(weights, agree, 32_768)
    expected_sums, expected_squares = naive.masses(weights, agree, 32_768)
    np.testing.assert_array_equal(sums, expected_sums)
    np.testing.assert_allclose(squares, expected_squares, rtol=32_768 * 2.0**-53)


def test_the_heaviest_row_is_summed_exactly() -> None:
    weights = np.array([2**53 - 1, 1])
    sums, squares = measured(weights, np.array([-1, 1], dtype=np.int8), 2)
    assert sums.tolist() == [[2**53, 2**53 - 1]]
    assert squares[0] == float(2**53 - 1) ** 2 + 1.0


@settings(deadline=None, max_examples=80)
@given(seed=st.integers(0, 2**32), rows=st.integers(1, 200), one=st.booleans())
def test_mistakes_equal_the_twins(seed: int, rows: int, one: bool) -> None:
    generator = np.random.default_rng(seed)
    margins = generator.integers(-2, 3, rows) / 2.0
    first = generator.integers(1, 2**40, 1 if one else rows)
    assert measure.mistakes(margins, first) == naive.mistakes(margins, first)


def test_a_tie_is_a_mistake_and_minus_zero_is_a_tie() -> None:
    margins = np.array([0.0, -0.0, 2.0**-40, -(2.0**-40)])
    assert measure.mistakes(margins, np.array([1])) == 3


def test_no_rows_make_no_mistakes() -> None:
    assert measure.mistakes(np.empty(0), np.array([7])) == 0
    assert measure.mistakes(np.empty(0), np.empty(0, dtype=np.int64)) == 0
