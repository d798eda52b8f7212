"""Coins: identities in whole fractions, and the least number of them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from pacboost.boosters.majority import fewest_coins, log_deciding, log_heads, losing

CHANCES = [Fraction(11, 20), Fraction(3, 5), Fraction(9, 10)]


def lost(k: int, done: int, p: Fraction, heads: int) -> Fraction:
    """b_r^i, summed up term by term."""
    n = k - done
    terms = range(min(k // 2 - heads, n) + 1)
    return sum((math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in terms), Fraction(0))


@pytest.mark.parametrize("p", CHANCES)
@pytest.mark.parametrize("k", [1, 3, 9, 21])
def test_the_tables_are_those_of_exact_fractions(k: int, p: Fraction) -> None:
    """b_r^i = p·b_{r+1}^{i+1} + (1-p)·b_r^{i+1}, and a_r^i is what lies between the two."""
    for i in range(k):
        table = losing(k, i, float(p), np.arange(i + 1))
        logs = log_deciding(k, i, float(p))
        for r in range(i + 1):
            exact = lost(k, i, p, r)
            right, wrong = lost(k, i + 1, p, r + 1), lost(k, i + 1, p, r)
            assert exact == p * right + (1 - p) * wrong
            assert table[r] == pytest.approx(float(exact), rel=1e-12, abs=1e-300)
            assert math.exp(logs[r]) == pytest.approx(float(wrong - right), rel=1e-12, abs=0)
    ends = losing(k, k, float(p), np.arange(k + 1))
    assert ends.tolist() == [float(r <= k // 2) for r in range(k + 1)]


@pytest.mark.parametrize("p", CHANCES)
@pytest.mark.parametrize("k", [1, 3, 9, 21])
def test_who_has_no_majority_costs_no_less_than_half_would(k: int, p: Fraction) -> None:
    """b_r^i ≥ P[Bin(k-i, p) ≤ ⌊(k-i)/2⌋] wherever 2r ≤ i: what the certificate rests on."""
    for i in range(k + 1):
        n = k - i
        half = sum((math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(n // 2 + 1)), 0)
        assert lost(k, i, p, i // 2) == half
        assert all(lost(k, i, p, r) >= half for r in range(i // 2 + 1))
        table = losing(k, i, float(p), np.arange(i + 1))
        assert (np.diff(table) <= 0).all()


@given(st.integers(0, 5000), st.floats(0.01, 0.99))
@settings(max_examples=50, deadline=None)
def test_heads_against_scipy(coins: int, chance: float) -> None:
    wanted = binom.logpmf(np.arange(coins + 1), coins, chance)
    assert log_heads(coins, chance) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@given(st.floats(0.505, 0.999), st.floats(1e-6, 0.9))
@settings(max_examples=200, deadline=None)
def test_no_smaller_odd_number_will_do(chance: float, epsilon: float) -> None:
    k = fewest_coins(chance, epsilon)
    assert k % 2 == 1
    assert binom.cdf(k // 2, k, chance) <= epsilon * (1 + 1e-9)
    assert k == 1 or binom.cdf((k - 2) // 2, k - 2, chance) > epsilon * (1 - 1e-9)
    edge = 2 * chance - 1
    assert k <= max(1.0, 2 * math.log(1 / epsilon) / edge**2) + 1e-6
