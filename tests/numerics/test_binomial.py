"""Binomial inversion against 50-digit arithmetic, at ordinary and at extreme arguments."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pacboost.errors import ParameterError
from pacboost.numerics.binomial import binomial_lower, binomial_upper
from pacboost.numerics.kl import kl_lower, kl_upper

mp.mp.dps = 50

LOGS = [1e-12, 1e-3, 0.5, 0.7, math.log(20), 30.0, 100 * math.log(10), 300 * math.log(10), 5000.0]
COUNTS = [(1, 2), (1, 10), (5, 10), (9, 10), (2, 200), (10, 200), (199, 200), (100, 1000)]
COUNTS += [(500, 1000), (1000, 10**4), (1, 10**6), (5, 10**6), (2000, 10**6)]
LN20 = math.log(20)


def log_tail(k: int, n: int, p: mp.mpf, rest: mp.mpf) -> mp.mpf:
    """ln P[Bin(n, p) ≤ k], summed downwards until nothing is left."""
    term = total = mp.mpf(1)
    for j in range(k, 0, -1):
        term *= j * rest / ((n - j + 1) * p)
        total += term
        if j * rest < (n - j + 1) * p and term < total * mp.mpf("1e-45"):
            break
    return mp.log(total) + k * mp.log(p) + (n - k) * mp.log(rest) + mp.log(mp.binomial(n, k))


@pytest.mark.parametrize("log_inverse", LOGS)
def test_upper_is_outward_and_close(log_inverse: float) -> None:
    for k, n in COUNTS:
        end = mp.mpf(binomial_upper(k, n, log_inverse))
        assert end == 1 or log_tail(k, n, end, 1 - end) <= -log_inverse
        inside = end * (1 - mp.mpf("1e-9"))
        assert log_tail(k, n, inside, 1 - inside) >= -log_inverse


@pytest.mark.parametrize("log_inverse", LOGS)
def test_lower_is_outward_and_close(log_inverse: float) -> None:
    for others, n in COUNTS:
        k = n - others
        end = mp.mpf(binomial_lower(k, n, log_inverse))
        inside = end * (1 + mp.mpf("1e-9"))
        if end == 0:  # too small for a float
            inside = mp.mpf("1e-307")
        else:
            assert log_tail(n - k, n, 1 - end, end) <= -log_inverse
        assert inside >= 1 or log_tail(n - k, n, 1 - inside, inside) >= -log_inverse


@pytest.mark.parametrize("log_inverse", LOGS)
def test_no_mistakes_and_nothing_but_mistakes(log_inverse: float) -> None:
    for n in (1, 7, 1000, 10**6):
        root = mp.exp(-mp.mpf(log_inverse) / n)
        for end, truth in (
            (binomial_upper(0, n, log_inverse), 1 - root),
            (1 - mp.mpf(binomial_lower(n, n, log_inverse)), 1 - root),
        ):
            assert truth <= end
            assert end <= truth * (1 + mp.mpf("1e-9")) or end - truth < 1e-11
        assert binomial_upper(n, n, log_inverse) == 1
        assert binomial_lower(0, n, log_inverse) == 0


def test_vectors() -> None:
    assert binomial_upper(0, 1000, LN20) == pytest.approx(0.0029912, abs=5e-8)
    assert binomial_upper(100, 1000, LN20) == pytest.approx(0.116992, abs=5e-7)


def test_vectors_of_union_bounds() -> None:
    assert binomial_upper(100, 1000, LN20 + math.log(1000)) == pytest.approx(0.141605, abs=5e-7)
    assert binomial_upper(0, 1000, LN20 + math.log(1000)) == pytest.approx(0.0098546, abs=5e-8)
    assert binomial_upper(1000, 10**4, LN20 + 150.404) == pytest.approx(0.159781, abs=5e-7)


def test_tiny_delta_is_not_lost() -> None:
    """By way of 1 - delta the bound would be 1 from delta = 1e-17 on."""
    truth = stats.beta.isf(1e-100, 101, 900)
    assert binomial_upper(100, 1000, 100 * math.log(10)) == pytest.approx(truth, rel=1e-10)
    assert stats.beta.ppf(1 - 1e-100, 101, 900) == 1


@pytest.mark.parametrize("n", [20, 50])
def test_exact_coverage(n: int) -> None:
    """Summed over all outcomes, not simulated; with delta dropped the same sum is far too low."""
    ends = np.array([binomial_upper(k, n, LN20) for k in range(n + 1)])
    broken = np.array([binomial_upper(k, n, LN20 / 2) for k in range(n + 1)])
    chances = np.linspace(0.0005, 0.9995, 1999)
    law = stats.binom.pmf(np.arange(n + 1)[:, None], n, chances)
    assert np.min(np.sum(law * (ends[:, None] >= chances), axis=0)) >= 0.95
    assert np.min(np.sum(law * (broken[:, None] >= chances), axis=0)) < 0.9
    if n == 50:
        least = np.min(np.sum(law * (ends[:, None] >= chances), axis=0))
        assert least == pytest.approx(0.9501, abs=5e-4)


@given(st.data(), st.integers(1, 3000), st.floats(1e-3, 2000), st.floats(1e-3, 2000))
@settings(deadline=None)
def test_monotone_in_mistakes_rows_and_delta(
    data: st.DataObject, n: int, first: float, second: float
) -> None:
    k = data.draw(st.integers(0, n))
    first, second = sorted((first, second))
    room = 1 + 1e-12
    assert binomial_upper(k, n, first) <= binomial_upper(k, n, second) * room
    assert binomial_upper(k, n + 1, first) <= binomial_upper(k, n, first) * room
    assert binomial_lower(k, n, second) <= binomial_lower(k, n, first) * room
    if k < n:
        assert binomial_upper(k, n, first) <= binomial_upper(k + 1, n, first) * room
        assert binomial_lower(k, n, first) <= binomial_lower(k + 1, n, first) * room


@given(st.data(), st.integers(1, 10**5), st.floats(1e-6, 3000))
@settings(deadline=None)
def test_exact_is_at_most_chernoff_is_at_most_hoeffding(
    data: st.DataObject, n: int, log_inverse: float
) -> None:
    k = data.draw(st.integers(0, n))
    chernoff = kl_upper(k / n, log_inverse / n)
    assert binomial_upper(k, n, log_inverse) <= chernoff * (1 + 1e-12)
    assert chernoff <= (k / n + math.sqrt(log_inverse / (2 * n))) * (1 + 1e-11)
    assert binomial_lower(k, n, log_inverse) >= kl_lower(k / n, log_inverse / n) * (1 - 1e-12)


def test_failure_probabilities_of_any_size() -> None:
    """The answer may be the smallest number there is, in whose neighbourhood quotients overflow."""
    for log_inverse in np.linspace(2000, 2300, 301).tolist():
        found = binomial_lower(3, 4, log_inverse)
        assert 0 <= found <= math.exp(-log_inverse / 4)


def test_bad_numbers_are_refused() -> None:
    for log_inverse in (0.0, -1.0, math.nan):
        with pytest.raises(ParameterError, match="strictly between 0 and 1"):
            binomial_upper(1, 10, log_inverse)
    with pytest.raises(ParameterError, match="k is 11"):
        binomial_upper(11, 10, 1.0)
    with pytest.raises(ParameterError, match="n is 0"):
        binomial_lower(0, 0, 1.0)
