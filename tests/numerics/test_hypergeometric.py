"""Tails of drawing without replacement, and their inversion, against 50-digit arithmetic."""

from __future__ import annotations

import math
from itertools import product

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pacboost.errors import ParameterError
from pacboost.numerics.binomial import hypergeometric_inverse, log_hypergeometric_tail
from pacboost.numerics.growth import log_sauer

mp.mp.dps = 50


def exact(k: int, m: int, K: int, M: int) -> mp.mpf:
    """ln P[Hypergeom(M, K, m) ≤ k] from whole numbers."""
    total = 0
    for j in range(max(0, m - (M - K)), min(k, K, m) + 1):
        total += math.comb(K, j) * math.comb(M - K, m - j)
    return mp.log(total) - mp.log(math.comb(M, m)) if total else mp.mpf("-inf")


def test_tail_for_all_small_pools() -> None:
    for M in (1, 5, 9):
        for m, K in product(range(1, M + 1), range(M + 1)):
            for k in range(m + 1):
                truth = float(exact(k, m, K, M))
                assert log_hypergeometric_tail(k, m, K, M) == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize(
    ("k", "m", "K", "M"),
    [(0, 100, 300, 500), (5, 1000, 600, 5000), (400, 1000, 2000, 5000), (250, 1000, 1250, 5000)],
)
def test_tail_of_larger_pools(k: int, m: int, K: int, M: int) -> None:
    truth = float(exact(k, m, K, M))
    assert log_hypergeometric_tail(k, m, K, M) == pytest.approx(truth, rel=1e-10, abs=1e-11)
    assert log_hypergeometric_tail(k, m, K, M) == pytest.approx(
        float(stats.hypergeom.logcdf(k, M, K, m)), rel=1e-8, abs=1e-8
    )


LOGS = [0.1, math.log(20), 60.0, 100 * math.log(10), 300 * math.log(10), 5000.0]


@pytest.mark.parametrize(("k", "m", "M"), [(0, 1, 2), (3, 10, 40), (0, 200, 1000), (60, 200, 1000)])
@pytest.mark.parametrize("log_inverse", LOGS)
def test_inverse_is_the_first_rare_pool(k: int, m: int, M: int, log_inverse: float) -> None:
    answer = hypergeometric_inverse(k, m, log_inverse, M)
    assert answer > M or exact(k, m, answer, M) <= -log_inverse
    assert exact(k, m, answer - 1, M) > -log_inverse


@pytest.mark.parametrize(("k", "m"), [(0, 1000), (100, 1000)])
def test_inverse_of_larger_pools(k: int, m: int) -> None:
    answer = hypergeometric_inverse(k, m, 70.0, 5 * m)
    assert exact(k, m, answer, 5 * m) <= -70 < exact(k, m, answer - 1, 5 * m)


@pytest.mark.parametrize(
    ("k", "m", "bound"), [(0, 1000, 0.08025), (100, 1000, 0.26675), (1000, 10**4, 0.151575)]
)
def test_vectors(k: int, m: int, bound: float) -> None:
    log_inverse = math.log(4 / 0.05) + log_sauer(10, 5 * m)
    answer = hypergeometric_inverse(k, m, log_inverse, 5 * m)
    assert max(1, answer - 1 - k) / (4 * m) == pytest.approx(bound, abs=1e-9)


def test_the_whole_pool_and_nothing_but_mistakes() -> None:
    assert hypergeometric_inverse(3, 10, 1.0, 10) == 4  # all rows were seen
    assert hypergeometric_inverse(10, 10, 1.0, 30) == 31  # no pool is too bad


@given(st.data(), st.integers(1, 60), st.integers(0, 200), st.floats(0.01, 200))
@settings(deadline=None)
def test_monotone(data: st.DataObject, m: int, more: int, log_inverse: float) -> None:
    k, M = data.draw(st.integers(0, m)), m + more
    answer = hypergeometric_inverse(k, m, log_inverse, M)
    assert answer <= hypergeometric_inverse(k, m, log_inverse * 1.5, M)
    assert answer <= hypergeometric_inverse(k, m, log_inverse, M + 1)
    if k < m:
        assert answer <= hypergeometric_inverse(k + 1, m, log_inverse, M)


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(ParameterError, match="M is 9"):
        hypergeometric_inverse(1, 10, 1.0, 9)
    with pytest.raises(ParameterError, match="above 0"):
        hypergeometric_inverse(1, 10, 0.0, 20)
    with pytest.raises(ParameterError, match="k is 11"):
        hypergeometric_inverse(11, 10, 1.0, 20)
