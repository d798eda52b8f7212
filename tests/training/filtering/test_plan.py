"""Sizes and thresholds of a run."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom, norm

from pacboost import FilterBoostClassifier
from pacboost.errors import ParameterError
from pacboost.estimators.filtering import choices
from pacboost.kernels.threads import using
from pacboost.learners.stump import Stump
from pacboost.training.filtering.candidates import key_of, numbers
from pacboost.training.filtering.plan import (
    KEPT,
    PART,
    EdgeTest,
    FilteringPlan,
    MeanTest,
    draws_for,
)
from tests.bounds.coverage import check_coverage, check_rejected
from tests.grids import each_value


@each_value
@pytest.mark.parametrize("kept", [1, 10, 500, 5000])
@pytest.mark.parametrize("mean", [0.9, 0.1, 0.003])
@pytest.mark.parametrize("delta", [0.3, 0.01, 1e-6])
def test_so_many_draws_are_rarely_too_few(kept: int, mean: float, delta: float) -> None:
    most = draws_for(kept, mean, delta)
    assert most * mean > kept
    assert binom.cdf(kept - 1, most, mean) <= delta


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
    booster = choices.booster_of(told, Stump())
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


# The tests of μ and of edges hold however often one looks, and end.


def test_adding_in_parts_is_adding_at_once() -> None:
    whole, parts = MeanTest(0.05), MeanTest(0.05)
    numbers = np.random.default_rng(0).integers(0, 65, 1000) / 64
    whole.add(numbers)
    for part in np.array_split(numbers, 7):
        parts.add(part)
    assert parts == whole
    assert whole.lower < numbers.mean() < whole.upper


def test_a_sum_of_ones_does_not_exceed_the_count() -> None:
    test = MeanTest(0.05)
    test.add(np.full(10, 1 + 1e-15))
    assert test.total == 10
    assert test.upper == 1.0


def ever_outside(delta: float, *, fixed: bool, runs: int, seed: int) -> int:
    """Runs in which the mean was outside at one of many looks."""
    generator, wrong, true = np.random.default_rng(seed), 0, 0.15
    quantile = float(norm.isf(delta / 2))
    for _ in range(runs):
        test, outside = MeanTest(delta), False
        for part in (generator.random((25, 40)) < true).astype(np.float64):
            test.add(part)
            low, high = test.lower, test.upper
            if fixed:  # as if this look had been the only one
                width = quantile * math.sqrt(test.mean * (1 - test.mean) / test.count)
                low, high = test.mean - width, test.mean + width
            outside |= not low <= true <= high
        wrong += outside
    return wrong


def test_the_interval_holds_at_all_looks_at_once() -> None:
    wrong = ever_outside(0.1, fixed=False, runs=200, seed=1)
    check_coverage("mean weight, ever outside its sequence", wrong, 200, 0.1)


def test_an_interval_for_one_look_is_caught() -> None:
    wrong = ever_outside(0.1, fixed=True, runs=200, seed=1)
    check_rejected("mean weight, an interval for a single look", wrong, 200, 0.1)


def edge_test(advantage: float, delta: float, seed: int, floor: float = 0.05) -> EdgeTest:
    """Draw until the test ends."""
    generator, test = np.random.default_rng(seed), EdgeTest(delta, floor)
    while test.found is None and not test.hopeless:
        test.add(int(generator.binomial(100, 0.5 + advantage)), 100)
        assert test.count < 10**6
    return test


@pytest.mark.parametrize("advantage", [0.06, 0.1, 0.3, 0.5])
def test_what_is_found_lies_between_a_part_of_the_edge_and_the_edge(advantage: float) -> None:
    delta, wrong = 0.1, 0
    for seed in range(60):
        found = edge_test(advantage, delta, seed).found
        wrong += found is None or not advantage / (1 + 2 / 3) <= found <= advantage
    check_coverage(f"tested advantage of {advantage}", wrong, 60, delta)


@pytest.mark.parametrize("advantage", [-0.4, -0.05, 0.0, 0.02])
def test_no_edge_is_found_where_there_is_none_to_speak_of(advantage: float) -> None:
    delta, wrong = 0.1, 0
    for seed in range(40):
        found = edge_test(advantage, delta, seed).found
        wrong += found is not None and found > advantage
    check_coverage(f"tested advantage of {advantage}", wrong, 40, delta)


def test_the_width_pays_for_both_sides() -> None:
    test = EdgeTest(delta=0.01, floor=0.02)
    test.add(7000, 10_000)
    assert test._width == pytest.approx(math.sqrt(math.log(2 * 10_000 * 10_001 / 0.01) / 20_000))
    assert test.found == pytest.approx(0.2 * 3 / 4)


@pytest.mark.parametrize("share", [0.6, 0.75, 0.79])
def test_rules_with_less_than_the_least_part_of_the_floor_do_not_pass(share: float) -> None:
    delta, wrong, floor = 0.1, 0, 0.05
    for seed in range(30):
        wrong += edge_test(share * floor, delta, seed, floor).found is not None
    check_coverage(f"rules with {share} of the floor that passed", wrong, 30, delta)


@pytest.mark.parametrize("share", [1.0, 1.2, 3.0])
def test_rules_that_have_the_floor_are_not_rejected(share: float) -> None:
    delta, wrong, floor = 0.1, 0, 0.05
    for seed in range(30):
        found = edge_test(share * floor, delta, seed, floor).found
        wrong += found is None or found < PART * floor
    check_coverage(f"rules with {share} of the floor that were rejected", wrong, 30, delta)


# Keys differ with every part they are made of.


def test_keys_are_the_same_for_the_same_parts_alone() -> None:
    parts = [(0,), (1,), (0, 0), (0, 1), (1, 0), (0, 1, 0), (0, 1, 1), (0, 2, 1), (2**31, 7)]
    assert len({int(key_of(*own)) for own in parts}) == len(parts)
    assert key_of(3, 4) == key_of(3, 4)


def test_numbers_lie_below_one_and_do_not_depend_on_threads_or_company() -> None:
    rows = np.arange(10**6, dtype=np.uint64)
    with using(2):
        all_of_them = numbers(rows, key_of(0))
    assert (all_of_them >= 0).all()
    assert (all_of_them < 1).all()
    with using(1):
        np.testing.assert_array_equal(numbers(rows, key_of(0)), all_of_them)
    np.testing.assert_array_equal(numbers(rows[7:9], key_of(0)), all_of_them[7:9])
    assert numbers(rows[:0], key_of(0)).size == 0
