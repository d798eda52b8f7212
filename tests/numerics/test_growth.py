"""Counts of labelings against whole numbers, brute force and 50-digit arithmetic."""

import math
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.numerics.growth import (
    log_binomial,
    log_cover,
    log_sauer,
    log_stump_growth,
    stirling,
    vc_of_stumps,
)

mp.mp.dps = 50


def outward(value: float, truth: mp.mpf) -> None:
    assert truth <= value
    assert value <= truth * (1 + mp.mpf("1e-12"))


def whole_sauer(d: int, m: int) -> int:
    term = total = 1
    for i in range(1, min(d, m) + 1):
        term = term * (m - i + 1) // i
        total += term
    return total


CHOICES = [(5, 0), (5, 5), (10, 3), (1260, 20), (10**6, 1), (10**6, 200), (10**6, 201), (402, 201)]
CHOICES += [(10**6, 5 * 10**5), (10**9, 2000), (10**9, 10**8), (10**12, 6)]


@pytest.mark.parametrize(("n", "k"), CHOICES)
def test_choices(n: int, k: int) -> None:
    truth = mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)
    if min(k, n - k) == 0:
        assert log_binomial(n, k) == 0
    else:
        outward(log_binomial(n, k), truth)
        outward(log_binomial(n, n - k), truth)


SUMS = [(0, 7), (1, 1), (10, 1000), (200, 1000), (201, 1000), (500, 1000), (501, 1000)]
SUMS += [(799, 1000), (990, 1000), (5000, 10000), (10, 10**6), (3000, 10**5), (9000, 10**4)]


@pytest.mark.parametrize(("d", "m"), SUMS)
def test_sauer_sums(d: int, m: int) -> None:
    if d == 0:
        assert log_sauer(d, m) == 0
    else:
        outward(log_sauer(d, m), mp.log(whole_sauer(d, m)))


def test_all_labelings() -> None:
    for d, m in ((3, 3), (9, 3), (10**6, 10**6), (10**7, 10**6)):
        outward(log_sauer(d, m), m * mp.log(2))
    assert log_sauer(4, 0) == 0


def test_sauer_far_out() -> None:
    """A largest term and a geometric series bound the sum from both sides."""
    d, m = 10**7, 10**9
    value, term = log_sauer(d, m), log_binomial(m, d)
    assert term < value < term - math.log1p(-d / (m - d + 1)) + 1e-5


@pytest.mark.parametrize(
    ("m", "d"), [(1, 1), (4, 3), (20000, 20), (1000, 400), (1000, 600), (5, 9)]
)
def test_cover_counts(m: int, d: int) -> None:
    outward(log_cover(m, d), mp.log(2 * whole_sauer(d - 1, m - 1)))


def test_cover_counts_labelings_of_lines_through_the_origin() -> None:
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi, 7)
    points = np.stack([np.cos(angles), np.sin(angles)])
    turns = np.linspace(0, 2 * np.pi, 20000)
    signs = np.stack([np.cos(turns), np.sin(turns)], axis=1) @ points > 0
    assert len(np.unique(signs, axis=0)) == round(math.exp(log_cover(7, 2)))


def test_vectors_of_votes_of_stumps() -> None:
    """20 stumps on 20 features and 20 000 points, in nats."""
    product_form = 20 * math.log(math.e * 1000) + 140 * math.log(math.e * 20000 / 7)
    assert product_form == pytest.approx(1412, abs=0.5)
    weights, stumps = log_cover(20000, 20), 20 * 19999 + 1
    assert weights + log_binomial(20 * 63, 20) == pytest.approx(250, abs=0.5)  # 64 bins
    assert weights + 20 * math.log(stumps) == pytest.approx(407, abs=0.5)  # order counted
    assert weights + log_binomial(stumps, 20) == pytest.approx(365, abs=0.5)  # order not counted


def most_labelings(m: int, p: int) -> int:
    """Brute force: on every choice of p orders of m points, how many labelings have stumps?"""
    generator = np.random.default_rng(m * 10 + p)
    best = 0
    for _ in range(300):
        observed = {frozenset(), frozenset(range(m))}
        for order in (generator.permutation(m) for _ in range(p)):
            for cut in range(1, m):
                observed |= {frozenset(order[:cut].tolist()), frozenset(order[cut:].tolist())}
        best = max(best, len(observed))
    return best


@pytest.mark.parametrize(("m", "p"), list(product((1, 2, 3, 4, 5), (1, 2, 3))))
def test_stump_growth_against_brute_force(m: int, p: int) -> None:
    bound = round(math.exp(log_stump_growth(m, p)))
    assert most_labelings(m, p) <= bound <= 2**m
    if (m, p) in {(3, 2), (4, 3), (2, 1)}:
        assert most_labelings(m, p) == bound == 2**m  # shattered: the dimension is at least m


@given(st.integers(1, 60), st.integers(1, 10**6))
def test_stump_growth_is_its_formula(m: int, p: int) -> None:
    truth = 2 + sum(min(2 * p, math.comb(m, k)) for k in range(1, m))
    outward(log_stump_growth(m, p), mp.log(truth))
    assert truth <= 2 + 2 * p * (m - 1) or m == 1


def test_stumps_shatter_up_to_their_dimension_only() -> None:
    for p in (1, 2, 3, 7, 50, 1000):
        d = vc_of_stumps(p)
        assert math.exp(log_stump_growth(d, p)) == pytest.approx(2.0**d)
        assert log_stump_growth(d + 1, p) < (d + 1) * math.log(2) - 1e-9


@given(st.integers(1, 400), st.integers(1, 3000))
def test_orders_between_counts(d: int, m: int) -> None:
    room = 1 + 1e-12
    if m >= d:
        assert log_sauer(d, m) <= d * math.log(math.e * m / d) * room
    assert log_cover(m, d) <= log_sauer(d, m) * room
    assert log_sauer(d, m) <= log_sauer(d + 1, m) * room
    assert log_sauer(d, m) <= log_sauer(d, m + 1) * room


@pytest.mark.parametrize("x", [1, 2, 20, 21, 200, 10**6])
def test_stirling(x: int) -> None:
    truth = mp.loggamma(x + 1) - (x * mp.log(x) - x + mp.log(2 * mp.pi * x) / 2)
    assert stirling(x) == pytest.approx(float(truth), abs=2e-14)
