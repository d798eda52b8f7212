"""Plans are promises: with as many rows as a plan names, what it promises happens as often.

The worlds are the worst that the promise allows: rivals just below half the edge, and every number
of rows from the answer on.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from pacboost.bounds import passing
from pacboost.bounds.holdout import clopper_pearson
from pacboost.errors import NotCertified, ParameterError
from pacboost.questions import plan
from pacboost.training.filtering.plan import FilteringPlan
from tests.bounds.coverage import check_coverage, check_rejected

RUNS = 200


def runs_failed(
    rows: int, edge: float, rules: int, rounds: int, seed: int, runs: int = RUNS
) -> int:
    """Runs in which, in some round, a rule of less than half the edge looked best on the draw."""
    generator = np.random.default_rng(seed)
    good = generator.binomial(rows, (1 + edge) / 2, size=(runs, rounds))
    weak = (1 + edge / 2) / 2 - 1e-9
    # The best of many independent rivals, by the inverse of its distribution function.
    rivals = binom.ppf(generator.random((runs, rounds)) ** (1 / (rules - 1)), rows, weak)
    return int((rivals >= good).any(axis=1).sum())


@pytest.mark.parametrize(("edge", "rules", "rounds"), [(0.2, 1000, 20), (0.5, 20, 50)])
def test_resampled_rules_keep_half_the_edge(edge: float, rules: int, rounds: int) -> None:
    delta = 0.05
    answer = plan.resample(edge=edge, delta=delta, rounds=rounds, log_size=math.log(rules))
    assert answer.examples is not None
    failed = runs_failed(answer.examples, edge, rules, rounds, 1)
    check_coverage(f"plan.resample, edge {edge:g}, rivals at half", failed, RUNS, delta)
    failed = runs_failed(answer.examples // 4, edge, rules, rounds, 2)
    check_rejected(f"twin: plan.resample, a quarter of the rows, {edge:g}", failed, RUNS, delta)
    assert answer.simulated is not None
    assert answer.examples // 4 < answer.simulated < answer.examples


def test_filtering_draws_enough_for_half_the_edge() -> None:
    """At a small delta a quarter of the rows fails many times more often than it may."""
    edge, rules, delta, runs = 0.4, 1000, 0.001, 20_000
    rows = FilteringPlan(1, 10**6, 1, edge=edge).rows_for_edge(math.log(rules), delta)
    failed = runs_failed(rows, edge, rules, 1, 3, runs)
    check_coverage("filtering's plan", failed, runs, delta)
    failed = runs_failed(rows // 4, edge, rules, 1, 4, runs)
    check_rejected("twin: filtering's plan, a quarter of the rows", failed, runs, delta)


CASES = [
    (0.1, 0.05, 0.05, 0.9),
    (0.1, 0.05, 0.08, 0.5),
    (0.2, 0.01, 0.1, 0.99),
    (0.05, 0.2, 0.001, 0.9),
    (0.3, 0.5, 0.1, 0.8),
]


def exact_chance(n: int, epsilon: float, delta: float, error: float) -> float:
    """The chance to pass, by summing over all numbers of mistakes."""
    mistakes = np.arange(n + 1)
    passing_ones = [k for k in mistakes if clopper_pearson(int(k), n, delta) <= epsilon]
    return float(np.sum(binom.pmf(passing_ones, n, error)))


@pytest.mark.parametrize(("epsilon", "delta", "error", "power"), CASES)
def test_every_number_of_rows_from_the_answer_on_passes(
    epsilon: float, delta: float, error: float, power: float
) -> None:
    answer = plan.holdout(epsilon=epsilon, delta=delta, error=error, power=power)
    rows, enough = answer.examples, int(answer.details["by Chernoff"])
    assert rows is not None
    assert rows <= enough
    chances = [passing.chance_to_pass(n, epsilon, delta, error) for n in range(rows, rows + 300)]
    assert min(chances) >= power - 1e-12
    assert passing.chance_to_pass(rows - 1, epsilon, delta, error) < power
    assert exact_chance(rows, epsilon, delta, error) == pytest.approx(chances[0], abs=1e-9)
    for n in np.unique(np.geomspace(rows, 4 * enough, 40).astype(int)):
        assert passing.chance_to_pass(int(n), epsilon, delta, error) >= power - 1e-12


def test_a_classifier_passes_as_often_as_promised() -> None:
    epsilon, delta, error, power = 0.1, 0.05, 0.05, 0.9
    rows = plan.holdout(epsilon=epsilon, delta=delta, error=error, power=power).examples
    assert rows is not None
    allowed = passing.allowed_mistakes(rows, epsilon, delta)
    failed = (np.random.default_rng(0).binomial(rows, error, size=4000) > allowed).sum()
    check_coverage("plan.holdout, a classifier of the stated error fails", failed, 4000, 1 - power)
    fewer = passing.allowed_mistakes(141, epsilon, delta)
    failed = (np.random.default_rng(1).binomial(141, error, size=4000) > fewer).sum()
    check_rejected("twin: plan.holdout by the mean number of mistakes", failed, 4000, 1 - power)


def test_many_rows_are_planned_in_bounded_time() -> None:
    answer = passing.rows_to_pass(0.5, 0.05, 0.4999)
    assert answer == passing.rows_to_pass_by_chernoff(0.5, 0.05, 0.4999)
    with pytest.raises(NotCertified):
        passing.rows_to_pass(0.5, 0.05, 0.5 - 1e-9)
    with pytest.raises(ParameterError, match="power"):
        plan.holdout(epsilon=0.1, delta=0.05, error=0.05, power=1.0)


@pytest.mark.parametrize("name", ["vc", "strong"])
def test_the_worst_case_names_whom_it_speaks_of(name: str) -> None:
    asked = {"epsilon": 0.1, "delta": 0.05, "dimension": 3}
    answer = plan.QUESTIONS[name](**asked, **({"edge": 0.4} if name == "strong" else {}))
    text = str(answer)
    assert "no method" not in text.lower()
    assert "deterministic learners" in text
    assert "worst distribution" in text
    if answer.simulated is not None and answer.lower is not None:
        assert ("a simulation needed" in text) == (answer.simulated >= answer.lower)


def test_a_learner_that_tosses_a_coin_needs_fewer_than_the_deterministic_bound() -> None:
    """Two concepts differ on a point of mass just above epsilon; undecided, the learner guesses."""
    epsilon, delta = 0.1, 0.05
    lower = plan.vc(epsilon=epsilon, delta=delta, dimension=1).lower
    assert lower is not None
    rows = math.ceil(math.log(1 / (2 * delta)) / -math.log1p(-epsilon))
    assert rows < lower
    generator = np.random.default_rng(2)
    missed = generator.binomial(rows, epsilon + 1e-9, size=20_000) == 0
    failed = int((missed & (generator.random(20_000) < 0.5)).sum())
    check_coverage("a guessing learner below the deterministic bound", failed, 20_000, delta)
