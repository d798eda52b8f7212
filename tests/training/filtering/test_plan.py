"""Sizes and thresholds of a run."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, nbinom

from pacboost.errors import ParameterError
from pacboost.training.filtering.plan import Plan, draws_for


@pytest.mark.parametrize("kept", [1, 10, 500, 5000])
@pytest.mark.parametrize("mean", [0.9, 0.1, 0.003])
@pytest.mark.parametrize("delta", [0.3, 0.01, 1e-6])
def test_so_many_draws_are_rarely_too_few(kept: int, mean: float, delta: float) -> None:
    most = draws_for(kept, mean, delta)
    assert most * mean > kept
    assert binom.cdf(kept - 1, most, mean) <= delta


def test_simulated_draws_exceed_the_number_as_rarely_as_promised() -> None:
    generator = np.random.default_rng(0)
    kept, mean, delta = 50, 0.2, 0.05
    draws = kept + generator.negative_binomial(kept, mean, size=20_000)
    assert (draws > draws_for(kept, mean, delta)).mean() <= delta
    tight = kept + nbinom.isf(0.2, kept, mean)  # a number that is exceeded once in five times
    assert (draws > tight).mean() > delta


def test_the_number_of_the_theory() -> None:
    assert draws_for(500, 0.1, 0.01) == 5727


def test_samples_grow_by_half_up_to_the_most() -> None:
    plan = Plan(rounds=1, rows=1000, first_rows=100)
    assert [plan.rows_of(k) for k in range(8)] == [100, 150, 225, 337, 506, 759, 1000, 1000]
    assert plan.rows_of(10**9) == 1000


def test_rows_for_an_edge() -> None:
    plan = Plan(rounds=1, rows=10**6, first_rows=1, edge=0.2)
    need = 8 * math.log(2 * 50 / 0.01) / 0.1**2
    assert plan.rows_for_edge(math.log(50), 0.01) == math.ceil(need)
    assert plan.rows_for_edge(None, 0.01) == 10**6
    assert Plan(rounds=1, rows=70, first_rows=1, edge=0.2).rows_for_edge(9.0, 0.01) == 70
    assert Plan(rounds=1, rows=70, first_rows=1).rows_for_edge(9.0, 0.01) == 70


def test_the_floor_is_half_of_the_promised_advantage() -> None:
    assert Plan(rounds=1, rows=1, first_rows=1, edge=0.2).floor == pytest.approx(0.05)
    assert Plan(rounds=1, rows=1, first_rows=1).floor == 0.01


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"epsilon": 0.0}, "epsilon is 0.0"),
        ({"epsilon": 1.0}, "epsilon is 1.0"),
        ({"edge": 0.0}, "edge is 0.0; it is a correlation"),
        ({"edge": -0.1}, "edge"),
        ({"edge": 1.0}, "edge"),
    ],
)
def test_what_is_refused(wrong: dict[str, float], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        Plan(rounds=1, rows=1, first_rows=1, **wrong)  # type: ignore[arg-type]
