"""Inverses of tails, for one chance, for draws and for two chances, against many digits."""

import math
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq
from scipy.stats import binom, multinomial

from pacboost.bounds.exact_tests import difference_interval
from pacboost.bounds.rates import balanced_lower, balanced_upper
from pacboost.numerics.binomial import binomial_lower, binomial_upper
from pacboost.numerics.growth import log_sauer
from pacboost.numerics.hypergeometric import hypergeometric_inverse, log_hypergeometric_tail
from pacboost.numerics.kl import kl_lower, kl_upper
from pacboost.numerics.two_rates import difference_upper, mean_of_two_upper
from tests.grids import each_value

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
        smallest = np.min(np.sum(law * (ends[:, None] >= chances), axis=0))
        assert smallest == pytest.approx(0.9501, abs=5e-4)


@given(st.data(), st.integers(1, 10**5), st.floats(1e-6, 3000))
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
        result = binomial_lower(3, 4, log_inverse)
        assert 0 <= result <= math.exp(-log_inverse / 4)


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


LOGS_OF_DRAWS = [0.1, math.log(20), 60.0, 100 * math.log(10), 300 * math.log(10), 5000.0]


@each_value
@pytest.mark.parametrize(("k", "m", "M"), [(0, 1, 2), (3, 10, 40), (0, 200, 1000), (60, 200, 1000)])
@pytest.mark.parametrize("log_inverse", LOGS_OF_DRAWS)
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
def test_vectors_of_draws(k: int, m: int, bound: float) -> None:
    log_inverse = math.log(4 / 0.05) + log_sauer(10, 5 * m)
    answer = hypergeometric_inverse(k, m, log_inverse, 5 * m)
    assert max(1, answer - 1 - k) / (4 * m) == pytest.approx(bound, abs=1e-9)


def test_the_whole_pool_and_nothing_but_mistakes() -> None:
    assert hypergeometric_inverse(3, 10, 1.0, 10) == 4  # all rows were seen
    assert hypergeometric_inverse(10, 10, 1.0, 30) == 31  # no pool is too bad


Floats = NDArray[np.float64]
DELTA = 0.1
CHANCES = (0.003, 0.03, 0.1, 0.2, 0.35, 0.5, 0.8, 0.95)
FEW, MANY = 4, 7
ROWS = 8


def test_numbers() -> None:
    assert balanced_upper([[3, 100], [5, 50]], 0.05) == pytest.approx(0.1128, abs=5e-5)
    assert balanced_lower([[3, 100], [5, 50]], 0.05) == pytest.approx(0.0325, abs=5e-5)
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
    observed = 3 * 50 + 5 * 100
    outcomes = [
        (i, (observed - 100 * i) // 50 - (i > 5 and (observed - 100 * i) % 50 == 0))
        for i in range(51)
        if observed >= 100 * i
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
    assert balanced_lower([[0, 9], [0, 9]], DELTA) == 0.0
    assert balanced_upper([[7, 9], [1, 90]], DELTA) == balanced_upper([[1, 90], [7, 9]], DELTA)
