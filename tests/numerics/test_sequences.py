"""Confidence sequences: their numbers, and that no moment at all finds them wrong too often."""

import math
from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from pacboost.numerics.kl import kl_lower, kl_upper
from pacboost.numerics.sequences import (
    Betting,
    EmpiricalBernstein,
    kt_kl_lower,
    kt_kl_upper,
    kt_lower,
    kt_upper,
)
from tests.grids import each_value
from tests.runs import several_runs

mp.mp.dps = 50

End = Callable[[float, int, float], float]
DELTA = 0.05
PATTERN = [1.0] + [0.0] * 9


def log_mixture(total: float, t: int, p: mp.mpf) -> mp.mpf:
    s = mp.mpf(total)
    beta = mp.loggamma(s + 0.5) + mp.loggamma(t - s + 0.5) - mp.loggamma(t + 1)
    return beta - mp.log(mp.pi) - s * mp.log(p) - (t - s) * mp.log(1 - p)


@each_value
@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-10, 1e-100, 1e-300])
@pytest.mark.parametrize("t", [1, 2, 49, 50, 51, 1000, 10**6])
def test_mixture_is_inverted_outward_and_closely(t: int, delta: float) -> None:
    for share in (0.0, 0.001, 0.1, 0.4321, 0.999, 1.0):
        total, level = share * t, -mp.log(mp.mpf(delta))
        upper, lower = mp.mpf(kt_upper(total, t, delta)), mp.mpf(kt_lower(total, t, delta))
        assert upper == 1 or log_mixture(total, t, upper) >= level
        assert lower == 0 or log_mixture(total, t, lower) >= level
        inside = upper * (1 - mp.mpf("1e-9"))
        assert inside <= share or log_mixture(total, t, inside) <= level
        inside = lower * (1 + mp.mpf("1e-9")) if lower > 0 else mp.mpf("1e-307")
        assert share == 0 or inside >= share or log_mixture(total, t, inside) <= level


@pytest.mark.parametrize(
    ("t", "closed", "mixture"),
    [
        (10**3, 0.139619, 0.13818),
        (10**4, 0.11266, 0.11229),
        (10**5, 0.10417, 0.10407),
        (10**6, 0.10139, 0.10136),
    ],
)
def test_vectors(t: int, closed: float, mixture: float) -> None:
    assert kt_kl_upper(t / 10, t, DELTA) == pytest.approx(closed, abs=5e-6)
    assert kt_upper(t / 10, t, DELTA) == pytest.approx(mixture, abs=5e-6)


@pytest.mark.parametrize(("t", "bound"), [(100, 0.058155), (1000, 0.0071173), (10**4, 0.00082906)])
def test_vectors_without_mistakes(t: int, bound: float) -> None:
    assert kt_kl_upper(0, t, DELTA) == pytest.approx(bound, rel=1e-5)


@given(st.integers(1, 10**5), st.floats(0, 1), st.floats(1e-9, 0.9))
def test_mixture_lies_inside_its_closed_form(t: int, share: float, delta: float) -> None:
    total = share * t
    mean = total / t
    assert mean <= kt_upper(total, t, delta) <= kt_kl_upper(total, t, delta) * (1 + 1e-11)
    assert mean >= kt_lower(total, t, delta) >= kt_kl_lower(total, t, delta) * (1 - 1e-11)


def test_empirical_bernstein_vector() -> None:
    sequence = EmpiricalBernstein(DELTA)
    assert sequence.interval() == (0, 1)
    for number in PATTERN * 100:
        sequence.add(number)
    lower, upper = sequence.interval()
    assert upper == pytest.approx(0.136791, abs=5e-7)
    assert 0 < lower < 0.1


def plain_empirical_bernstein(x: NDArray[np.float64], delta: float) -> tuple[float, float]:
    """The formulas as they are printed, over the whole past at once."""
    t = np.arange(1, len(x) + 1)
    means = (0.5 + np.cumsum(x)) / (t + 1)
    variances = (0.25 + np.cumsum((x - means) ** 2)) / (t + 1)
    before = np.r_[0.25, variances[:-1]]
    weights = np.minimum(np.sqrt(2 * np.log(2 / delta) / (before * t * np.log1p(t))), 0.5)
    psi = (-np.log(1 - weights) - weights) / 4
    spread = np.cumsum(4 * (x - np.r_[0.5, means[:-1]]) ** 2 * psi)
    total = np.cumsum(weights)
    centre, radius = np.cumsum(weights * x) / total, (np.log(2 / delta) + spread) / total
    return max(0.0, float(np.max(centre - radius))), min(1.0, float(np.min(centre + radius)))


def plain_betting(x: NDArray[np.float64], delta: float) -> float:
    """The m at which the running capital first reaches 1/delta, by bisection instead of a grid."""
    t = np.arange(1, len(x) + 1)
    means = (0.5 + np.cumsum(x)) / (t + 1)
    variances = (0.25 + np.cumsum((x - means) ** 2)) / (t + 1)
    weights = np.sqrt(2 * np.log(1 / delta) / (np.r_[0.25, variances[:-1]] * t * np.log1p(t)))
    low, high = 0.0, 1 - 1e-9
    while high - low > 1e-12:
        m = (low + high) / 2
        capital = np.cumsum(np.log1p(-np.minimum(weights, 0.5 / (1 - m)) * (x - m)))
        low, high = (low, m) if capital.max() >= -math.log(delta) else (m, high)
    return high


@pytest.mark.parametrize("seed", range(5))
def test_streams_agree_with_the_plain_formulas(seed: int) -> None:
    x = np.random.default_rng(seed).beta(0.3, 1.2, 400)
    bernstein, betting, coarse = EmpiricalBernstein(0.1), Betting(0.1), Betting(0.1, grid=50)
    for number in x:
        bernstein.add(float(number))
        betting.add(float(number))
        coarse.add(float(number))
    lower, upper = plain_empirical_bernstein(x, 0.1)
    assert lower - 1e-9 < bernstein.interval()[0] <= lower
    assert upper <= bernstein.interval()[1] < upper + 1e-9
    exact = plain_betting(x, 0.1)
    assert exact <= betting.upper() <= exact + 2 / 4000
    assert betting.upper() <= coarse.upper() <= exact + 2 / 50


def test_betting_vector() -> None:
    """.1335 is the largest m that a grid of step .0005 leaves; the next one up is the outward end.

    The capital reaches 1/delta between the two.
    """
    exact = plain_betting(np.array(PATTERN * 100), DELTA)
    assert math.floor(exact / 0.0005) * 0.0005 == pytest.approx(0.13350, abs=5e-6)
    sequence = Betting(DELTA)
    assert sequence.upper() == 1
    for number in PATTERN * 100:
        sequence.add(number)
    assert exact <= sequence.upper() <= exact + 2 * 0.37 / 4000


@given(st.lists(st.floats(0, 1), max_size=60), st.floats(0.01, 0.5))
def test_ends_only_move_inward(numbers: list[float], delta: float) -> None:
    bernstein, betting = EmpiricalBernstein(delta), Betting(delta, grid=200)
    before, upper = bernstein.interval(), betting.upper()
    for number in numbers:
        bernstein.add(number)
        betting.add(number)
        after = bernstein.interval()
        assert before[0] <= after[0]
        assert after[1] <= before[1]
        assert betting.upper() <= upper
        before, upper = after, betting.upper()


def allowed(runs: int, delta: float) -> int:
    """The number of violations that an honest bound exceeds once in ten thousand tests."""
    return int(stats.binom.isf(1e-4, runs, delta))


def ever_violated(upper: End, lower: End, p: float, runs: int, steps: int) -> int:
    """How many of ``runs`` sequences of coins find p outside the interval at some moment.

    Both ends grow with the total, so for each t only totals from ``least`` to ``most`` hold p, and
    those two move by one at most from t to t + 1.
    """
    coins = np.random.default_rng(int(p * 1000)).random((runs, steps)) < p
    totals = np.cumsum(coins, axis=1)
    violated = np.zeros(runs, dtype=bool)
    smallest, limit = 0, -1
    for t in range(1, steps + 1):
        while smallest <= t and upper(smallest, t, DELTA) < p:
            smallest += 1
        while limit < t and lower(limit + 1, t, DELTA) <= p:
            limit += 1
        violated |= (totals[:, t - 1] < smallest) | (totals[:, t - 1] > limit)
    return int(violated.sum())


def fixed_upper(total: float, t: int, delta: float) -> float:
    """Chernoff's bound for one t, which is no confidence sequence."""
    return kl_upper(total / t, math.log(2 / delta) / t)


def fixed_lower(total: float, t: int, delta: float) -> float:
    return kl_lower(total / t, math.log(2 / delta) / t)


@several_runs(2000, 10_000)
@pytest.mark.parametrize("p", [0.02, 0.1, 0.3, 0.5])
def test_mixture_holds_at_every_moment_and_a_fixed_bound_does_not(p: float, runs: int) -> None:
    assert 0 < ever_violated(kt_upper, kt_lower, p, runs, 1000) <= allowed(runs, DELTA)
    assert ever_violated(kt_kl_upper, kt_kl_lower, p, runs, 1000) <= allowed(runs, DELTA)
    assert ever_violated(fixed_upper, fixed_lower, p, runs, 1000) > allowed(runs, DELTA)


def streams_violated(delta: float, mean: float, runs: int, steps: int) -> tuple[int, int]:
    """Violations of empirical Bernstein and of betting; ends only move inward, so look last."""
    generator = np.random.default_rng(5)
    bernstein_wrong = betting_wrong = 0
    for _ in range(runs):
        bernstein, betting = EmpiricalBernstein(delta), Betting(delta, grid=300)
        for number in generator.random(steps) < mean:
            bernstein.add(float(number))
            betting.add(float(number))
        lower, upper = bernstein.interval()
        bernstein_wrong += not lower <= mean <= upper
        betting_wrong += betting.upper() < mean
    return bernstein_wrong, betting_wrong


@pytest.mark.parametrize("mean", [0.05, 0.2, 0.5])
@several_runs(150, 2000)
def test_streams_hold_at_every_moment(mean: float, runs: int) -> None:
    assert max(streams_violated(DELTA, mean, runs, runs // 2 + 125)) <= allowed(runs, DELTA)


def test_streams_with_delta_dropped_are_rejected() -> None:
    assert min(streams_violated(0.8, 0.2, 150, 150)) > allowed(150, DELTA)


def test_inequality_behind_empirical_bernstein() -> None:
    """exp(λξ - ψ(λ)ξ²) ≤ 1 + λξ for 0 ≤ λ < 1 and ξ ≥ -1, with equality at ξ = -1."""
    weight, xi = np.meshgrid(np.linspace(0, 0.99, 100), np.linspace(-1, 5, 601))
    psi = -np.log1p(-weight) - weight
    remaining = np.exp(weight * xi - psi * xi**2)
    assert (remaining <= (1 + weight * xi) * (1 + 1e-12)).all()
    twin = np.exp(weight * xi - 0.9 * psi * xi**2)  # a penalty that is too small
    assert (twin > 1 + weight * xi + 1e-9).any()


@given(st.floats(0, 1), st.floats(1e-6, 1e3))
def test_factors_of_betting_grow_with_the_mean(x: float, weight: float) -> None:
    """No factor of the capital decreases in m, so one m that is ruled out rules out all above."""
    m = np.linspace(0, 1 - 1e-9, 500)
    factors = 1 - np.minimum(weight, 0.5 / (1 - m)) * (x - m)
    assert (factors >= 0.5 - 1e-9).all()
    assert (np.diff(factors) >= -1e-9 * np.abs(factors[1:])).all()
