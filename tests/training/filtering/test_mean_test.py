"""The tests of μ and of edges hold however often one looks, and end."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from pacboost.training.filtering.plan import PART, EdgeTest, MeanTest, share_of
from tests.bounds.coverage import check_coverage, check_rejected


def test_shares_sum_to_the_whole() -> None:
    shares = [share_of(0.05, k) for k in range(100_000)]
    assert 0.0499 < math.fsum(shares) < 0.05
    assert shares[0] == 0.025


def test_nothing_is_known_before_a_draw() -> None:
    test = MeanTest(0.05)
    assert (test.mean, test.lower, test.upper, test.count) == (1.0, 0.0, 1.0, 0)


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
    for seed in range(150):
        found = edge_test(advantage, delta, seed).found
        wrong += found is None or not advantage / (1 + 2 / 3) <= found <= advantage
    check_coverage(f"tested advantage of {advantage}", wrong, 150, delta)


@pytest.mark.parametrize("advantage", [-0.4, -0.05, 0.0, 0.02])
def test_no_edge_is_found_where_there_is_none_to_speak_of(advantage: float) -> None:
    delta, wrong = 0.1, 0
    for seed in range(100):
        found = edge_test(advantage, delta, seed).found
        wrong += found is not None and found > advantage
    check_coverage(f"tested advantage of {advantage}", wrong, 100, delta)


def test_an_edge_of_nothing_ends_hopeless() -> None:
    assert edge_test(0.0, 0.01, 5).hopeless
    assert edge_test(-0.5, 0.01, 5).count == 100


def test_the_width_pays_for_both_sides() -> None:
    test = EdgeTest(delta=0.01, floor=0.02)
    test.add(7000, 10_000)
    assert test._width == pytest.approx(math.sqrt(math.log(2 * 10_000 * 10_001 / 0.01) / 20_000))
    assert test.found == pytest.approx(0.2 * 3 / 4)


def test_an_untouched_edge_test_says_nothing() -> None:
    test = EdgeTest(0.01, 0.02)
    assert test.found is None
    assert not test.hopeless


@pytest.mark.parametrize("share", [0.6, 0.75, 0.79])
def test_rules_with_less_than_the_least_part_of_the_floor_do_not_pass(share: float) -> None:
    delta, wrong, floor = 0.1, 0, 0.05
    for seed in range(60):
        wrong += edge_test(share * floor, delta, seed, floor).found is not None
    check_coverage(f"rules with {share} of the floor that passed", wrong, 60, delta)


@pytest.mark.parametrize("share", [1.0, 1.2, 3.0])
def test_rules_that_have_the_floor_are_not_rejected(share: float) -> None:
    delta, wrong, floor = 0.1, 0, 0.05
    for seed in range(60):
        found = edge_test(share * floor, delta, seed, floor).found
        wrong += found is None or found < PART * floor
    check_coverage(f"rules with {share} of the floor that were rejected", wrong, 60, delta)
