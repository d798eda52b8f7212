"""Sizes and thresholds of a run."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom, nbinom

from pacboost import FilterBoostClassifier
from pacboost.errors import ParameterError
from pacboost.estimators.filtering import filter_setup
from pacboost.learners.stump import Stump
from pacboost.training.filtering.plan import KEPT, PART, FilteringPlan, draws_for
from tests.bounds.coverage import check_coverage, check_rejected


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
    plan = FilteringPlan(rounds=1, rows=1000, first_rows=100)
    assert [plan.rows_of(k) for k in range(8)] == [100, 150, 225, 337, 506, 759, 1000, 1000]
    assert plan.rows_of(10**9) == 1000


def test_rows_for_an_edge() -> None:
    plan = FilteringPlan(rounds=1, rows=10**6, first_rows=1, edge=0.2)
    need = 8 * math.log(2 * 50 / 0.01) / 0.1**2
    assert plan.rows_for_edge(math.log(50), 0.01) == math.ceil(need)
    assert plan.rows_for_edge(None, 0.01) == 10**6
    assert FilteringPlan(rounds=1, rows=70, first_rows=1, edge=0.2).rows_for_edge(9.0, 0.01) == 70
    assert FilteringPlan(rounds=1, rows=70, first_rows=1).rows_for_edge(9.0, 0.01) == 70


def test_the_floor_is_half_of_the_promised_advantage() -> None:
    assert FilteringPlan(rounds=1, rows=1, first_rows=1, edge=0.2).floor == pytest.approx(0.05)
    assert FilteringPlan(rounds=1, rows=1, first_rows=1).floor == 0.01


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
        FilteringPlan(rounds=1, rows=1, first_rows=1, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["measure", "smooth", "projection", "majority"])
def test_boosters_go_by_the_edge_that_rules_surely_have(name: str) -> None:
    """A rule may pass with 0.4 of the promised edge; theorems have to bound the rounds of these."""
    told = FilterBoostClassifier(name, "stump", edge=0.2, epsilon=0.1)
    booster = filter_setup._booster(told, Stump())
    assert pytest.approx(2 * PART * FilteringPlan(1, 1, 1, edge=0.2).floor) == KEPT * 0.2
    assert booster.most_rounds(KEPT * 0.2, 0.1) < math.inf
    if name == "measure":
        assert booster.most_rounds(KEPT * 0.2, 0.1) == pytest.approx(6.25 / (0.75 * 0.1 * 0.2) ** 2)


def seems_best_but_is_not(rows_of: Callable[[float, int, float], float], runs: int) -> int:
    """Rivals have just less than half of the edge; count the runs in which one seems the best."""
    edge, rules, delta = 0.4, 50, 0.05
    rows = math.ceil(rows_of(edge / 2, rules, delta))
    generator = np.random.default_rng(0)
    best = generator.binomial(rows, 0.5 + edge / 2, size=runs)
    rivals = generator.binomial(rows, 0.5 + 0.49 * edge / 2, size=(runs, rules - 1)).max(axis=1)
    return int(np.count_nonzero(rivals >= best))


def planned(gamma: float, rules: int, delta: float) -> float:
    plan = FilteringPlan(rounds=1, rows=10**9, first_rows=1, edge=2 * gamma)
    return plan.rows_for_edge(math.log(rules), delta)


def test_half_of_the_edge_survives() -> None:
    check_coverage("half of the edge survives", seems_best_but_is_not(planned, 300), 300, 0.05)


def test_too_few_rows_are_caught() -> None:
    wrong = seems_best_but_is_not(lambda *told: planned(*told) / 16, 300)
    check_rejected("half of the edge survives, too few rows", wrong, 300, 0.05)
