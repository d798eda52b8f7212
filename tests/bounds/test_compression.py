"""Sample compression: vectors, shape, coverage on noise and at the edge, and twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.bounds.holdout import clopper_pearson
from pacboost.errors import NotCertified, ParameterError
from pacboost.theory.compression import (
    compression_bound,
    hybrid_estimate,
    stable_estimate,
)
from tests.bounds.coverage import check_coverage, check_rejected


@pytest.mark.parametrize(
    ("points", "k", "value"),
    [(4, 0, 0.0339005), (10, 0, 0.0624416), (50, 0, 0.194577), (10, 50, 0.164632)],
)
def test_vectors(points: int, k: int, value: float) -> None:
    assert compression_bound(k, 1000, 0.05, points) == pytest.approx(value, abs=5e-7)


def test_vectors_of_the_estimates() -> None:
    assert hybrid_estimate(10**6, 0.05, 2000, 10) == pytest.approx(0.0421, abs=5e-5)
    assert hybrid_estimate(10**5, 0.05, 2000, 10) == pytest.approx(0.2926, abs=5e-5)
    assert hybrid_estimate(10**5, 0.05, 200, 20) == pytest.approx(0.0477, abs=5e-5)
    assert stable_estimate(1000, 0.05, 4) == pytest.approx(0.01722, abs=5e-6)


def test_closed_form_without_mistakes() -> None:
    ways = 1000 * math.comb(1000, 4)
    exact = 1 - (0.05 / ways) ** (1 / 996)
    assert compression_bound(0, 1000, 0.05, 4) == pytest.approx(exact, rel=1e-9)


def test_nothing_kept_is_a_hold_out_for_each_length() -> None:
    assert compression_bound(3, 100, 0.05, 0) == pytest.approx(clopper_pearson(3, 100, 0.05 / 100))
    assert compression_bound(3, 100, 0.05, 0, bits=2.0) == pytest.approx(
        clopper_pearson(3, 100, 0.05 / 400)
    )


@given(st.integers(2, 200), st.floats(0, 1), st.floats(0, 1), st.floats(1e-6, 0.9))
def test_shape(n: int, kept: float, share: float, delta: float) -> None:
    points = int(kept * (n - 1))
    k = int(share * (n - points))
    value = compression_bound(k, n, delta, points)
    assert compression_bound(k, n, delta / 2, points) >= value
    assert compression_bound(k, n, delta, points, bits=3.5) >= value
    assert compression_bound(k, n, delta, points, ordered=True) >= value * (1 - 1e-9)
    if k < n - points:
        assert compression_bound(k + 1, n, delta, points) >= value


def best_interval_mistakes(signs: NDArray[np.int64]) -> int:
    """The fewest mistakes, off its two ends, of an interval that ends on examples.

    Ends i ≤ j are kept; inside is +, outside −. All pairs at once from prefix sums.
    """
    n = len(signs)
    positives = np.concatenate(([0], np.cumsum(signs > 0)))
    i, j = np.triu_indices(n, 1)
    inside = positives[j + 1] - positives[i]
    wrong = (j - i + 1 - inside) + (positives[-1] - inside)
    ends = (signs[i] < 0).astype(int) + (signs[j] < 0)  # kept examples inside, wrong if negative
    return int((wrong - ends).min())


def test_coverage_on_noise() -> None:
    """Coin-flip labels on a line: the best interval between two examples has risk 1/2."""
    generator = np.random.default_rng(1)
    runs, n = 600, 150
    violations = twin = 0
    for _ in range(runs):
        k = best_interval_mistakes(generator.choice([-1, 1], size=n))
        violations += compression_bound(k, n, 0.05, 2) < 0.5
        twin += clopper_pearson(k, n - 2, 0.05) < 0.5
    check_coverage("compression.compression_bound, noise", violations, runs, 0.05)
    check_rejected("twin: compression, choices dropped", twin, runs, 0.05)


def test_coverage_at_the_edge() -> None:
    """The tightest interval of a uniform law is made by its two ends."""
    runs, n = 5000, 100
    points = np.random.default_rng(2).random((runs, n))
    risks = 1 - (points.max(axis=1) - points.min(axis=1))
    bound = compression_bound(0, n, 0.05, 2)
    check_coverage("compression.compression_bound, intervals", (risks > bound).sum(), runs, 0.05)
    estimate = stable_estimate(n, 0.05, 2)
    check_coverage("compression.stable_estimate, intervals", (risks > estimate).sum(), runs, 0.05)
    twin = clopper_pearson(0, n - 2, 0.05)
    check_rejected("twin: compression at the edge", (risks > twin).sum(), runs, 0.05)


def test_refuses() -> None:
    with pytest.raises(NotCertified, match="leaves none"):
        compression_bound(0, 10, 0.05, 10)
    with pytest.raises(ParameterError, match="points"):
        compression_bound(0, 10, 0.05, -1)
    with pytest.raises(ParameterError, match="k is 8"):
        compression_bound(8, 10, 0.05, 3)
    for bits in (-1.0, math.inf, True):
        with pytest.raises(ParameterError, match="bits"):
            compression_bound(0, 10, 0.05, 3, bits=bits)
    with pytest.raises(NotCertified, match="more than 10"):
        stable_estimate(10, 0.05, 5)
    with pytest.raises(NotCertified, match="rules"):
        hybrid_estimate(10, 0.05, 5, 6)
