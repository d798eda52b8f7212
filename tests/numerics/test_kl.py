"""The divergence and its inverses against 50-digit arithmetic."""

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.numerics.exact import quantile_of, quantiles_of_cells
from pacboost.numerics.kl import kl, kl_lower, kl_upper

mp.mp.dps = 50

SHARES = [1e-300, 1e-12, 1e-6, 0.001, 0.1, 0.3, 0.5, 0.9, 0.999999, 1 - 1e-12]
COSTS = [1e-12, 1e-6, 0.003, 0.05, 0.7, 5.0, 30.0]
shares = st.floats(0, 1)
costs = st.floats(0, 40)


def exact(q: float, p: mp.mpf) -> mp.mpf:
    q = mp.mpf(q)
    return q * mp.log(q / p) + (1 - q) * mp.log((1 - q) / (1 - p))


@pytest.mark.parametrize("p", SHARES)
def test_divergence_to_many_digits(p: float) -> None:
    for q in SHARES:
        assert kl(q, p) == pytest.approx(float(exact(q, mp.mpf(p))), rel=1e-10, abs=1e-300)


def test_divergence_keeps_its_digits_near_the_diagonal() -> None:
    for gap in (1e-3, 1e-6, 1e-9):
        truth = float(exact(0.3, mp.mpf(0.3 + gap)))
        assert kl(0.3, 0.3 + gap) == pytest.approx(truth, rel=1e-12 / gap)


def test_divergence_at_the_ends() -> None:
    assert kl(0.0, 0.0) == kl(1.0, 1.0) == kl(0.4, 0.4) == 0
    assert kl(0.0, 0.5) == pytest.approx(math.log(2))
    assert kl(1.0, 0.5) == pytest.approx(math.log(2))
    assert kl(0.5, 0.0) == kl(0.5, 1.0) == math.inf


@pytest.mark.parametrize("c", COSTS)
def test_upper_inverse_is_outward_and_close(c: float) -> None:
    for q in SHARES:
        end = mp.mpf(kl_upper(q, c))
        assert end == 1 or exact(q, end) >= c
        inside = end * (1 - mp.mpf("1e-9"))
        assert inside <= q or exact(q, inside) <= c


@pytest.mark.parametrize("c", COSTS)
def test_lower_inverse_is_outward_and_close(c: float) -> None:
    for q in SHARES:
        end = mp.mpf(kl_lower(q, c))
        if end == 0:  # too small for a float
            assert exact(q, mp.mpf("1e-307")) < c
            continue
        assert exact(q, end) >= c
        inside = end * (1 + mp.mpf("1e-9"))
        assert inside >= q or exact(q, inside) <= c


def test_inverses_at_the_ends() -> None:
    assert kl_upper(0.0, 2.0) == pytest.approx(1 - math.exp(-2), rel=1e-11)
    assert kl_lower(1.0, 2.0) == pytest.approx(math.exp(-2), rel=1e-11)
    assert kl_upper(1.0, 0.1) == kl_upper(0.2, math.inf) == 1
    assert kl_lower(0.0, 0.1) == kl_lower(0.2, math.inf) == 0
    assert kl_upper(0.3, 0.0) == pytest.approx(0.3, rel=1e-8)
    assert kl_lower(0.3, 0.0) == pytest.approx(0.3, rel=1e-8)


@given(shares, costs)
def test_upper_inverse_is_at_most_hoeffding(q: float, c: float) -> None:
    assert q <= kl_upper(q, c) <= (q + math.sqrt(c / 2)) * (1 + 1e-11) + 1e-300
    assert kl_lower(q, c) <= q


ROWS = st.lists(st.tuples(st.floats(-100, 100), st.integers(1, 9)), min_size=1, max_size=15)
SHARES_BELOW = st.sampled_from([0.01, 0.1, 0.25, 0.5, 0.7, 0.9, 0.99])
UNITS = 10**9
"""Weights are whole units, far more than there are rows."""


def pinball(numbers: NDArray[Any], weights: NDArray[Any], value: float, share: float) -> float:
    off = numbers - value
    return float((weights * np.maximum(share * off, (share - 1) * off)).sum())


@given(ROWS, SHARES_BELOW)
def test_nothing_costs_less(rows: list[tuple[float, int]], share: float) -> None:
    numbers, weights = np.array([r for r, _ in rows]), np.array([w for _, w in rows])
    best = min(pinball(numbers, weights, number, share) for number in numbers)
    for result in (
        quantile_of(numbers, weights * UNITS, share),
        quantile_of(np.repeat(numbers, weights), None, share),
    ):
        assert pinball(numbers, weights, result, share) <= best * (1 + 1e-9) + 1e-9


@given(ROWS, SHARES_BELOW)
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
    result = quantiles_of_cells(numbers, weights, 0.7, cells, 4)
    expected = [quantile_of(numbers[cells == k], None, 0.7) for k in range(3)]
    assert result.tolist() == [*expected, 0.0]
