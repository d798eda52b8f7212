"""Boosting the confidence: vectors, the other direction, and the promise on a simulated learner."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from pacboost.errors import ParameterError
from pacboost.numerics.kl import kl
from pacboost.theory.sample_sizes import (
    runs_needed,
    selection_size,
    selection_threshold,
)
from tests.bounds.coverage import check_coverage, check_rejected


def test_vectors() -> None:
    assert selection_size(0.1, 0.02, 37, 0.05) == 14_261
    assert selection_size(0.1, 0.1, 37, 0.05) == 722
    assert selection_threshold(0.1, 0.02) == pytest.approx(0.109734, abs=5e-7)
    assert runs_needed(0.9, 0.05) == 36


def test_twice_the_risk_costs_what_is_printed() -> None:
    """For gap = ε and ε small: about 11.62/ε times ln(2k/δ)."""
    factor = selection_size(1e-5, 1e-5, 37, 0.05) * 1e-5 / math.log(2 * 37 / 0.05)
    assert factor == pytest.approx(11.62, abs=0.01)


def test_the_formula_of_the_lecture_is_unsafe() -> None:
    """Read with the chance of failure 0.9 it asks for 5 runs, which all fail far too often."""
    lecture = math.ceil(1 / 0.9 * math.log(2 / 0.05))
    assert 0.9**lecture > 0.05 / 2
    assert 0.9 ** runs_needed(0.9, 0.05) <= 0.05 / 2 < 0.9 ** (runs_needed(0.9, 0.05) - 1)


@given(st.floats(1e-6, 0.999), st.floats(1e-9, 0.999))
def test_runs_are_the_fewest_that_suffice(failure: float, delta: float) -> None:
    k = runs_needed(failure, delta)
    assert k * math.log(failure) <= math.log(delta / 2)
    if k > 1:
        assert (k - 1) * math.log(failure) > math.log(delta / 2) * (1 + 1e-12)
    assert runs_needed(failure, delta / 2) >= k
    assert runs_needed(failure / 2, delta) <= k


@pytest.mark.parametrize(
    ("failure", "delta"),
    [(0.5, 2**-9), (0.25, 2**-11), (0.1, 0.02), (0.4, 3.4359738368000034e-07)],
)
def test_runs_at_exact_powers(failure: float, delta: float) -> None:
    k = runs_needed(failure, delta)
    assert failure**k <= delta / 2 * (1 + 1e-12)
    assert k <= math.log(delta / 2) / math.log(failure) + 1e-9 + 1


@given(st.floats(0.001, 0.5), st.floats(0.001, 0.45), st.integers(1, 1000), st.floats(1e-6, 0.5))
def test_selection_size(epsilon: float, gap: float, runs: int, delta: float) -> None:
    t = selection_threshold(epsilon, gap)
    assert epsilon < t < epsilon + gap
    assert kl(t, epsilon) == pytest.approx(kl(t, epsilon + gap), rel=1e-6)
    size = selection_size(epsilon, gap, runs, delta)
    each = delta / (2 * runs)
    assert math.exp(-size * kl(t, epsilon)) <= each * (1 + 1e-9)
    assert math.exp(-size * kl(t, epsilon + gap)) <= each * (1 + 1e-5)
    assert selection_size(epsilon, gap, runs + 1, delta) >= size
    assert selection_size(epsilon, gap, runs, delta / 2) >= size


def test_exact_tails_keep_the_promise() -> None:
    """One good run and k - 1 that are just too bad: the exact chance of a wrong choice."""
    n, k = selection_size(0.1, 0.1, 37, 0.05), 37
    mistakes = np.arange(n + 1)
    good = binom.pmf(mistakes, n, 0.1)
    some_bad_is_no_worse = 1 - binom.sf(mistakes, n, 0.2) ** (k - 1)
    assert float(good @ some_bad_is_no_worse) <= 0.05 / 2


def chosen(failure: float, k: int, n: int, runs: int) -> int:
    """Count how often the winner is worse than ε + gap = 0.2, when good runs err on 0.1."""
    generator = np.random.default_rng(1)
    risks = np.where(generator.random((runs, k)) < failure, 0.201, 0.1)
    mistakes = generator.binomial(n, risks)
    winners: Sequence[float] = risks[np.arange(runs), mistakes.argmin(axis=1)].tolist()
    return sum(risk > 0.2 for risk in winners)


def test_coverage_of_the_promise() -> None:
    k = runs_needed(0.9, 0.05)
    n = selection_size(0.1, 0.1, k, 0.05)
    check_coverage("confidence: winner within gap", chosen(0.9, k, n, 2000), 2000, 0.05)


def test_twins_with_too_few_runs_or_rows() -> None:
    n = selection_size(0.1, 0.1, 36, 0.05)
    lecture = math.ceil(1 / 0.9 * math.log(2 / 0.05))
    check_rejected("twin: runs by the lecture", chosen(0.9, lecture, n, 2000), 2000, 0.05)
    check_rejected("twin: a tenth of the rows", chosen(0.9, 36, n // 10, 2000), 2000, 0.05)


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.5, 2.0, float("nan")])
def test_refuses_probabilities(bad: float) -> None:
    with pytest.raises(ParameterError, match="failure"):
        runs_needed(bad, 0.05)
    with pytest.raises(ParameterError, match="delta"):
        runs_needed(0.5, bad)
    with pytest.raises(ParameterError, match="epsilon"):
        selection_size(bad, 0.1, 10, 0.05)
    with pytest.raises(ParameterError, match="delta"):
        selection_size(0.1, 0.1, 10, bad)


@pytest.mark.parametrize("gap", [0.0, -0.1, 0.9, 1.0, float("nan")])
def test_refuses_gaps(gap: float) -> None:
    with pytest.raises(ParameterError, match="gap"):
        selection_threshold(0.1, gap)


@pytest.mark.parametrize("runs", [0, -1, 2.5, True])
def test_refuses_runs(runs: int) -> None:
    with pytest.raises(ParameterError, match="runs"):
        selection_size(0.1, 0.1, runs, 0.05)
