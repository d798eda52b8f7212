"""Finite classes and priors: vectors, shape, coverage on classes made to fail, and twins."""

import math
from bisect import bisect_left

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.errors import ParameterError
from pacboost.theory.finite import (
    agnostic,
    agnostic_deviation,
    consistent,
    examples_for_consistent,
    occam,
)
from tests.bounds.coverage import check_coverage, check_rejected

LOG_1000 = math.log(1000)


def test_vectors() -> None:
    assert agnostic(100, 1000, 0.05, LOG_1000) == pytest.approx(0.141605, abs=5e-7)
    assert agnostic(0, 1000, 0.05, LOG_1000) == pytest.approx(0.0098546, abs=5e-8)
    assert consistent(1000, 0.05, LOG_1000) == pytest.approx(0.0098546, abs=5e-8)


def test_all_boolean_functions() -> None:
    """|H| = 2^(2^n) has no float, its logarithm has."""
    log_size = 2**20 * math.log(2)
    assert consistent(1000, 0.05, log_size) == 1
    n = examples_for_consistent(0.1, 0.05, log_size)
    assert n == pytest.approx(2**20 * math.log(2) / -math.log(0.9), rel=1e-4)
    assert consistent(n, 0.05, log_size) <= 0.1 < consistent(n - 1, 0.05, log_size)
    assert occam(0, n, 0.05, log_size) <= 0.1


@given(st.integers(1, 300), st.floats(0, 1), st.floats(1e-6, 0.9), st.floats(0, 500))
def test_order_and_shape(n: int, share: float, delta: float, log_size: float) -> None:
    k = int(share * n)
    value = agnostic(k, n, delta, log_size)
    hoeffding = k / n + math.sqrt((log_size - math.log(delta)) / (2 * n))
    assert value <= min(1.0, hoeffding) * (1 + 1e-9)
    assert occam(k, n, delta, log_size) == value
    assert consistent(n, delta, log_size) == pytest.approx(agnostic(0, n, delta, log_size))
    assert agnostic(k, n + 1, delta, log_size) <= value
    assert agnostic(k, n, delta / 2, log_size) >= value
    assert agnostic(k, n, delta, log_size + 1) >= value
    if k < n:
        assert agnostic(k + 1, n, delta, log_size) >= value
    deviation = agnostic_deviation(n, delta, log_size)
    assert agnostic_deviation(n + 1, delta, log_size) <= deviation
    assert consistent(n + 1, delta / 2, log_size) >= consistent(n + 1, delta, log_size)
    assert consistent(n + 1, delta, log_size) <= consistent(n, delta, log_size)


def test_examples_are_the_other_direction() -> None:
    assert examples_for_consistent(0.1, 0.05, LOG_1000) == 94
    assert consistent(94, 0.05, LOG_1000) <= 0.1 < consistent(93, 0.05, LOG_1000)
    assert agnostic_deviation(530, 0.05, LOG_1000) <= 0.1 < agnostic_deviation(529, 0.05, LOG_1000)
    assert examples_for_consistent(0.99, 0.99, 0.0) == 1


@pytest.mark.parametrize(("size", "power"), [(1, 2), (4, 5), (2, 1), (8, 40)])
def test_exact_powers_need_no_example_more(size: int, power: int) -> None:
    """|H|·2^-n = 2^-power exactly."""
    exact = power + int(math.log2(size))
    assert examples_for_consistent(0.5, 2.0**-power, math.log(size)) == exact
    assert examples_for_consistent(0.5, math.nextafter(2.0**-power, 0), math.log(size)) == exact + 1


def runs_that_fit(risk: float) -> int:
    """In how many runs one of 100 hypotheses of this risk fits 50 rows, all independently."""
    mistakes = np.random.default_rng(1).binomial(50, risk, size=(10_000, 100))
    return int((mistakes == 0).any(axis=1).sum())


def test_coverage_of_the_consistent_learner() -> None:
    """All hypotheses have a risk just above the bound: it fails when one of them fits."""
    violations = runs_that_fit(consistent(50, 0.05, math.log(100)) + 1e-9)
    check_coverage("finite.consistent, 100 hypotheses", violations, 10_000, 0.05)
    assert violations > 300, "this world is meant to come close to delta"
    violations = runs_that_fit(consistent(50, 0.05, 0.0) + 1e-9)
    check_rejected("twin: consistent, |H| dropped", violations, 10_000, 0.05)
    violations = runs_that_fit(-math.expm1(-math.log(100) / 50))
    check_rejected("twin: consistent, delta dropped", violations, 10_000, 0.05)


def test_coverage_on_noise() -> None:
    """Coin-flip labels: every hypothesis has risk 1/2, the learner takes the luckiest."""
    runs, n, size = 10_000, 200, 100
    mistakes = np.random.default_rng(2).binomial(n, 0.5, size=(runs, size))
    best = mistakes.min(axis=1)
    paid = {m: agnostic(int(m), n, 0.05, math.log(size)) for m in np.unique(best)}
    unpaid = {m: agnostic(int(m), n, 0.05, 0.0) for m in np.unique(best)}
    check_coverage("finite.agnostic, noise", sum(paid[m] < 0.5 for m in best), runs, 0.05)
    violations = sum(unpaid[m] < 0.5 for m in best)
    check_rejected("twin: agnostic, |H| dropped", violations, runs, 0.05)
    far = (np.abs(mistakes / n - 0.5) > agnostic_deviation(n, 0.05, math.log(size))).any(axis=1)
    check_coverage("finite.agnostic_deviation, noise", int(far.sum()), runs, 0.05)


def test_coverage_of_a_prior() -> None:
    """Priors 1/(j(j + 1)) sum to 1; a prior chosen after looking does not."""
    runs, n, size = 5000, 200, 60
    mistakes = np.random.default_rng(3).binomial(n, 0.5, size=(runs, size))
    limits = []
    for j in range(1, size + 1):
        log_inverse = math.log(j * (j + 1))
        limit = bisect_left(range(n), 0.5, key=lambda k: occam(k, n, 0.05, log_inverse))
        limits.append(limit)  # mistakes below this violate
    violations = (mistakes < np.array(limits)).any(axis=1).sum()
    check_coverage("finite.occam, prior 1/(j(j+1))", violations, runs, 0.05)
    violations = (mistakes < limits[0]).any(axis=1).sum()
    check_rejected("twin: occam, prior chosen after looking", violations, runs, 0.05)


@pytest.mark.parametrize("log_size", [-1.0, math.inf, math.nan, True])
def test_refuses_sizes(log_size: float) -> None:
    with pytest.raises(ParameterError, match="log_size"):
        consistent(10, 0.05, log_size)
    with pytest.raises(ParameterError, match="log_inverse_prior"):
        occam(0, 10, 0.05, log_size)
