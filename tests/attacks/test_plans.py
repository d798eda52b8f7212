"""Plans are promises: with as many rows as a plan names, what it promises happens as often.

The worlds are the worst that the promise allows: rivals just below half the edge, and every number
of rows from the answer on.
"""

import math
from functools import lru_cache

import numpy as np
import pytest
from scipy.stats import binom

from pacboost.bounds import passing
from pacboost.bounds.coverage import covering_rank
from pacboost.bounds.holdout import clopper_pearson
from pacboost.errors import NotCertified, ParameterError
from pacboost.numerics.growth import log_cover, log_sauer
from pacboost.numerics.kl import kl
from pacboost.theory import plan
from pacboost.theory.sample_sizes import selection_threshold
from pacboost.theory.vc import realizable
from pacboost.training.filtering.plan import FilteringPlan, share_of
from pacboost.training.filtering.refilling import RefillTests
from tests.bounds.coverage import check_coverage, check_rejected

RUNS = 200
chance = lru_cache(maxsize=None)(passing.chance_to_pass)


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
    chances = [passing.chance_to_pass(n, epsilon, delta, error) for n in range(rows, rows + 100)]
    assert min(chances) >= power - 1e-12
    assert passing.chance_to_pass(rows - 1, epsilon, delta, error) < power
    assert exact_chance(rows, epsilon, delta, error) == pytest.approx(chances[0], abs=1e-9)
    for n in np.unique(np.geomspace(rows, 4 * enough, 20).astype(int)):
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
    lower = plan.vc(epsilon=epsilon, delta=delta, dimension=2).lower
    assert lower is not None
    rows = math.ceil(math.log(1 / (2 * delta)) / -math.log1p(-epsilon))
    assert rows < lower
    generator = np.random.default_rng(2)
    missed = generator.binomial(rows, epsilon + 1e-9, size=20_000) == 0
    failed = int((missed & (generator.random(20_000) < 0.5)).sum())
    check_coverage("a guessing learner below the deterministic bound", failed, 20_000, delta)


def mixed_chance(n: int, share: float, epsilon: float, delta: float, error: float) -> float:
    """The chance to pass by the positives among n rows, summed over their numbers one by one."""
    counts = np.arange(int(binom.ppf(1e-13, n, share)), int(binom.isf(1e-13, n, share)) + 1)
    chances = [chance(m, epsilon, delta, error) if m else 0.0 for m in counts.tolist()]
    return float(binom.pmf(counts, n, share) @ chances)


@pytest.mark.parametrize(
    ("recall", "true_recall", "share", "power"),
    [(0.95, 1.0, 0.01, 0.9), (0.9, 0.95, 0.05, 0.9), (0.7, 0.9, 0.5, 0.8), (0.9, 0.99, 0.3, 0.99)],
)
def test_positives_that_come_by_chance_suffice_from_the_answer_on(
    recall: float, true_recall: float, share: float, power: float
) -> None:
    asked = {"recall": recall, "delta": 0.05, "true_recall": true_recall, "power": power}
    answer = plan.recall(**asked, share=share)
    rows, world = answer.examples, (share, 1 - recall, 0.05, 1 - true_recall)
    assert rows is not None
    assert f"probability {power:g} or more" in answer.question
    assert mixed_chance(rows - 1, *world) < power
    for more in (0, 1, 2, 3, 5, 8, 13, 40, 100, 1000):
        assert mixed_chance(rows + more, *world) >= power - 1e-12
    assert answer.details["passes with"] == pytest.approx(mixed_chance(rows, *world), abs=1e-9)
    twin = math.ceil(passing.rows_to_pass(1 - recall, 0.05, 1 - true_recall, power) / share)
    if true_recall == 1:
        assert mixed_chance(twin, *world) == pytest.approx(0.518, abs=1e-3)


def test_every_class_has_its_calibration_rows_as_often_as_planned() -> None:
    classes, power, runs = 5, 0.9, 4000
    answer = plan.coverage(coverage=0.9, delta=0.05, classes=classes, power=power)
    each = int(answer.details["rows of each class"])
    assert answer.examples is not None
    generator = np.random.default_rng(5)
    for rows, check in ((answer.examples, check_coverage), (classes * each, check_rejected)):
        least = generator.multinomial(rows, np.full(classes, 1 / classes), size=runs).min(axis=1)
        check(f"plan.coverage, {rows} rows", int((least < each).sum()), runs, 1 - power)
    rare = plan.coverage(coverage=0.9, delta=0.05, classes=classes, share=0.01).examples
    assert rare is not None
    assert rare > 100 * each
    with pytest.raises(ParameterError, match=r"share is 0\.3"):
        plan.coverage(coverage=0.9, delta=0.05, classes=classes, share=0.3)


@pytest.mark.parametrize(("target", "excess"), [(0.9, 0.02), (0.95, 0.01), (0.5, 0.1), (0.9, 0.3)])
def test_sets_stay_small_from_the_planned_rows_on(target: float, excess: float) -> None:
    rows = plan.coverage(coverage=target, delta=0.05, excess=excess).examples
    assert rows is not None
    for n in range(rows, rows + 120):
        assert covering_rank(n, target, 0.05) / (n + 1) - target <= excess + 1e-12


def test_two_opposite_concepts_need_one_example() -> None:
    """A class of one rule and its opposite has VC dimension 1 and two members."""
    for answer in (
        plan.vc(epsilon=0.1, delta=0.05, dimension=1),
        plan.finite(epsilon=0.1, delta=0.05, size=2),
    ):
        assert answer.lower == 1
    three = plan.finite(epsilon=0.1, delta=0.05, size=3).lower
    assert three == plan.vc(epsilon=0.1, delta=0.05, dimension=2).lower == 27


def test_fewer_examples_than_needed_fail_on_the_worst_distribution() -> None:
    """The world of the proof: rare points whose labels are coins, and a learner that remembers."""
    epsilon, delta, dimension, runs = 0.1, 0.05, 200, 2000
    lower = plan.vc(epsilon=epsilon, delta=delta, dimension=dimension).lower
    assert lower == 63
    generator, failed = np.random.default_rng(6), 0
    for _ in range(runs):
        hits = generator.binomial(lower - 1, 8 * epsilon)
        unseen = dimension - 1 - np.unique(generator.integers(dimension - 1, size=hits)).size
        wrong = generator.binomial(unseen, 0.5) * 8 * epsilon / (dimension - 1)
        failed += wrong > epsilon
    check_rejected("62 examples for VC dimension 200", failed, runs, delta)


@pytest.mark.parametrize("epsilon", [0.5, 0.6, 0.9])
def test_large_errors_need_examples_too(epsilon: float) -> None:
    lower = plan.vc(epsilon=epsilon, delta=0.01, dimension=2).lower
    assert lower is not None
    assert (1 - epsilon) ** (lower - 1) > 0.01  # a point of that mass is missed too often


def test_tests_of_filtering_end_by_the_shares_of_a_run() -> None:
    """A mean weight in the middle is the worst: the planned draws decide on one of the sides."""
    epsilon, share = 0.1, 0.75
    answer = plan.filtering(epsilon=epsilon, delta=0.05, edge=0.4, threshold=share)
    draws, rounds = int(answer.details["draws a test"]), answer.rounds
    assert rounds is not None
    test = RefillTests(share_of(0.05 / 2, rounds)).weight
    middle = selection_threshold(share * epsilon, (1 - share) * epsilon)
    nats = math.log(2 * math.sqrt(draws) / test.delta) / draws  # kl allowed, in closed form
    assert nats <= kl(middle, epsilon) * (1 + 1e-9)
    assert nats <= kl(middle, share * epsilon) * (1 + 1e-9)
    test.count, test.total = draws, middle * draws
    assert test.upper <= epsilon or test.lower >= share * epsilon


def test_weak_implies_strong_for_every_larger_sample() -> None:
    """Rounds jump with the number of examples, and the bound with them."""

    def risk(m: int) -> float:
        rounds = math.floor(math.log(m) / (-0.5 * math.log1p(-(0.4**2)))) + 1
        growth = rounds * log_sauer(3, 2 * m) + log_cover(2 * m, rounds)
        return realizable(m, 0.05 / 2, growth)

    rows = plan.strong(epsilon=0.1, delta=0.05, edge=0.4, dimension=3).examples
    assert rows is not None
    assert risk(182_308) <= 0.1 < risk(183_059)
    assert risk(rows - 1) > 0.1
    assert max(risk(m) for m in range(rows, 2 * rows, 97)) <= 0.1
    jumps = (math.ceil(math.exp(-0.5 * rounds * math.log1p(-(0.4**2)))) for rounds in range(300))
    assert max(risk(m) for m in jumps if m >= rows) <= 0.1
