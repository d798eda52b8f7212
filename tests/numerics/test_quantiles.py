"""Quantiles minimise the pinball loss, and a weight counts as that many rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.numerics.quantiles import quantile_of, quantiles_of_cells

ROWS = st.lists(st.tuples(st.floats(-100, 100), st.integers(1, 9)), min_size=1, max_size=15)
SHARES = st.sampled_from([0.01, 0.1, 0.25, 0.5, 0.7, 0.9, 0.99])
UNITS = 10**9
"""Weights are whole units, far more than there are rows."""


def pinball(numbers: NDArray[Any], weights: NDArray[Any], value: float, share: float) -> float:
    off = numbers - value
    return float((weights * np.maximum(share * off, (share - 1) * off)).sum())


@given(ROWS, SHARES)
def test_nothing_costs_less(rows: list[tuple[float, int]], share: float) -> None:
    numbers, weights = np.array([r for r, _ in rows]), np.array([w for _, w in rows])
    best = min(pinball(numbers, weights, number, share) for number in numbers)
    for found in (
        quantile_of(numbers, weights * UNITS, share),
        quantile_of(np.repeat(numbers, weights), None, share),
    ):
        assert pinball(numbers, weights, found, share) <= best * (1 + 1e-9) + 1e-9


@given(ROWS, SHARES)
def test_a_weight_is_a_number_of_rows(rows: list[tuple[float, int]], share: float) -> None:
    numbers, weights = np.array([r for r, _ in rows]), np.array([w for _, w in rows])
    weighted = quantile_of(numbers, weights * UNITS, share)
    assert weighted == quantile_of(np.repeat(numbers, weights), None, share)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=20))
def test_half_is_the_median(numbers: list[float]) -> None:
    assert quantile_of(np.array(numbers), None, 0.5) == np.median(numbers)


def test_the_test_rejects_other_definitions() -> None:
    """Linear interpolation, the default of NumPy, costs more than the minimum."""
    numbers, ones = np.array([0.0, 1.0, 100.0]), np.ones(3)
    other = float(np.quantile(numbers, 0.9))
    assert pinball(numbers, ones, other, 0.9) > 1.1 * pinball(numbers, ones, 100.0, 0.9)


@pytest.mark.parametrize("weighted", [False, True])
def test_cells_have_their_own(weighted: bool) -> None:
    generator = np.random.default_rng(0)
    numbers, cells = generator.normal(size=50), generator.integers(0, 3, size=50).astype(np.uint8)
    weights = np.full(50, UNITS) if weighted else None
    found = quantiles_of_cells(numbers, weights, 0.7, cells, 4)
    expected = [quantile_of(numbers[cells == k], None, 0.7) for k in range(3)]
    assert found.tolist() == [*expected, 0.0]
