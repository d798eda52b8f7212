"""Limits for two chances: exact coverage, search by brute force, and broken twins."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import binom, multinomial

from pacboost.bounds.exact_tests import difference_interval
from pacboost.bounds.measures import balanced_lower, balanced_upper
from pacboost.numerics.two_chances import difference_upper, mean_of_two_upper

Floats = NDArray[np.float64]
DELTA = 0.1
CHANCES = (0.003, 0.03, 0.1, 0.2, 0.35, 0.5, 0.8, 0.95)
FEW, MANY = 4, 7
ROWS = 8


def test_numbers() -> None:
    assert balanced_upper("3/100 5/50", 0.05) == pytest.approx(0.1128, abs=5e-5)
    assert balanced_lower("3/100 5/50", 0.05) == pytest.approx(0.0325, abs=5e-5)
    low, high = difference_interval(40, 10, 1000, 0.05)
    assert (low, high) == pytest.approx((0.0133, 0.0462), abs=5e-5)


MEANS = np.add.outer(np.arange(FEW + 1) * MANY, np.arange(MANY + 1) * FEW)


def law_of_two(p: float, q: float) -> Floats:
    return np.outer(binom.pmf(range(FEW + 1), FEW, p), binom.pmf(range(MANY + 1), MANY, q))


def worst_of_means(limits: Floats) -> float:
    """The largest exact probability that a limit lies below (p + q)/2."""
    pairs = product(CHANCES, repeat=2)
    return max(float(law_of_two(p, q)[limits < (p + q) / 2].sum()) for p, q in pairs)


def on_the_diagonal(k: int, m: int) -> float:
    """A twin: it rules out pairs of equal chances only, and takes that for all."""
    below = MEANS[k, m] >= MEANS

    def chance(p: float) -> float:
        return float(law_of_two(p, p)[below].sum()) - DELTA

    return 1.0 if chance(1.0) > 0 else float(brentq(chance, 0, 1))


def test_the_mean_fails_with_probability_delta_at_most() -> None:
    limits, twin = np.ones(MEANS.shape), np.ones(MEANS.shape)
    for k, m in np.ndindex(MEANS.shape):
        limits[k, m] = mean_of_two_upper((k, FEW), (m, MANY), DELTA)
        twin[k, m] = on_the_diagonal(k, m)
    assert 0.05 < worst_of_means(limits) <= DELTA < worst_of_means(twin)


def test_the_mean_against_a_fine_search() -> None:
    seen = 3 * 50 + 5 * 100
    outcomes = [
        (i, (seen - 100 * i) // 50 - (i > 5 and (seen - 100 * i) % 50 == 0))
        for i in range(51)
        if seen >= 100 * i
    ]

    def chance(p: float, q: float) -> float:
        return float(sum(binom.pmf(i, 50, p) * binom.cdf(j, 100, q) for i, j in outcomes))

    limit = mean_of_two_upper((5, 50), (3, 100), 0.05)
    highest = max(chance(p, 2 * limit - p) for p in np.linspace(0, 2 * limit, 60))
    assert 0.048 < highest < 0.05


OUTCOMES = [(b, c) for b, c in np.ndindex(ROWS + 1, ROWS + 1) if b + c <= ROWS]


def worst_of_differences(limits: Floats) -> float:
    """The largest exact probability that a limit lies below p - q."""
    counts = np.array([(b, c, ROWS - b - c) for b, c in OUTCOMES])
    pairs = [(p, q) for p, q in product(CHANCES, repeat=2) if p + q <= 1]
    return max(
        float(multinomial.pmf(counts, ROWS, [p, q, 1 - p - q])[limits < p - q - 1e-12].sum())
        for p, q in pairs
    )


def test_the_difference_fails_with_probability_delta_at_most() -> None:
    limits = np.array([difference_interval(b, c, ROWS, 2 * DELTA)[1] for b, c in OUTCOMES])
    # A twin: the share of rows in dispute is taken to be what was seen.
    twin = np.array(
        [difference_upper(b, c, ROWS, max(b + c, 1) / ROWS, DELTA) for b, c in OUTCOMES]
    )
    assert 0.04 < worst_of_differences(limits) <= DELTA
    assert worst_of_differences(twin) > 1.2 * DELTA


def test_ends_of_the_ranges() -> None:
    assert mean_of_two_upper((4, 4), (7, 7), DELTA) == 1.0
    assert difference_upper(9, 0, 9, 1.0, DELTA) == 1.0
    assert difference_upper(0, 9, 9, 1.0, DELTA) < 0
    assert balanced_lower("0/9 0/9", DELTA) == 0.0
    assert balanced_upper("7/9 1/90", DELTA) == balanced_upper("1/90 7/9", DELTA)
