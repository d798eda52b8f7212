"""What a plain world needs: the search, and worlds whose need is known in closed form."""

import math

import numpy as np
import pytest

from pacboost.theory import needs, plan
from pacboost.theory.sample_sizes import examples_for_sharp


@pytest.mark.parametrize("threshold", [1, 2, 3, 7, 8, 9, 100, 1023])
def test_smallest(threshold: int) -> None:
    assert needs.smallest(lambda m: m >= threshold, 10**6) == threshold


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.05), (0.05, 0.1), (0.3, 0.01)])
def test_one_side(epsilon: float, delta: float) -> None:
    """The largest of m uniform points leaves more than ε with probability (1 - ε)^m."""
    exact = math.log(delta) / math.log1p(-epsilon)
    simulated = needs.tight_fit(epsilon, delta, 1, 10**6)
    assert simulated is not None
    assert simulated == pytest.approx(exact, rel=0.15, abs=2)


@pytest.mark.parametrize("dimensions", [1, 2, 5])
def test_a_full_box_needs_what_the_sharp_bound_says(dimensions: int) -> None:
    """The sharp bound is nearly exact for uniform points that fill a box."""
    bound = examples_for_sharp(0.1, 0.05, dimensions)
    simulated = needs.tight_fit(0.1, 0.05, 2 * dimensions, 10**6)
    assert simulated is not None
    assert 0.85 * bound <= simulated <= 1.06 * bound


def test_a_fine_grid_of_thresholds() -> None:
    """Two sides, each missed by m points with probability (1 - ε)^m."""
    exact = math.log(0.05 / 2) / math.log1p(-0.1)
    for log_size in (10.0, 100.0, 1e30):
        simulated = needs.thresholds_on_a_grid(0.1, 0.05, log_size, 10**6)
        assert simulated == pytest.approx(exact, rel=0.15)


@pytest.mark.parametrize(("edge", "error"), [(0.2, 0.0), (0.5, 0.0), (0.3, 0.1)])
def test_an_adversary_needs_no_more_than_the_theorem(edge: float, error: float) -> None:
    simulated = needs.adversarial_rounds(edge, 200, error)
    bound = 2 * math.log(200 if error == 0 else 1 / error) / -math.log1p(-(edge**2))
    assert simulated is not None
    assert 1 < simulated <= math.ceil(bound) + 1


def test_learning_any_labelling_takes_ln_four_times_the_domain() -> None:
    for domain in (16, 1024):
        expected = math.log(4) / -math.log1p(-1 / domain)
        assert needs.labelling_learned(domain) == pytest.approx(expected, abs=1)


@pytest.mark.parametrize(("epsilon", "edge"), [(0.1, 0.2), (0.05, 0.3), (0.2, 0.5)])
def test_measure_rounds_stay_within_the_theorem(epsilon: float, edge: float) -> None:
    bound = math.ceil(1 / (0.75 * epsilon * edge) ** 2)
    simulated = needs.measure_rounds(epsilon, edge, 0.75, bound)
    assert simulated is not None
    assert 1 / edge < simulated <= bound
    # An adversary without an edge is never done.
    assert needs.measure_rounds(0.1, 0.0, 0.75, 300) is None


def test_the_good_rule_wins_as_often_as_in_plain_draws() -> None:
    edge, rules, delta = 0.3, 20, 0.1
    simulated = needs.good_rule_found(edge, delta, 1, math.log(rules), 10_000)
    assert simulated is not None
    generator = np.random.default_rng(3)
    good = generator.binomial(simulated, (1 + edge) / 2, size=20_000)
    others = generator.binomial(simulated, (1 + edge / 2) / 2, size=(20_000, rules - 1)).max(axis=1)
    assert np.mean(good <= others) == pytest.approx(delta, abs=0.02)
    answer = plan.resample(edge=edge, delta=delta, rounds=1, log_size=math.log(rules))
    assert answer.examples is not None
    assert simulated < answer.examples


def test_one_noisy_feature_needs_less_than_many() -> None:
    one = needs.noisy_stumps(0.1, 0.1, 1, 10_000)
    ten = needs.noisy_stumps(0.1, 0.1, 10, 10_000)
    assert one is not None
    assert ten is not None
    assert one < ten < (plan.stumps(epsilon=0.1, delta=0.1, features=10).examples or 0)
    assert needs.noisy_stumps(0.1, 0.1, needs.MAX_FEATURES + 1, 10_000) is None


@pytest.mark.slow
def test_boosting_a_majority_needs_far_less_than_the_theorem() -> None:
    answer = plan.strong(epsilon=0.1, delta=0.05, edge=0.3, dimension=4)
    assert answer.simulated is not None
    assert answer.examples is not None
    assert 10 < answer.simulated < answer.examples / 100
    assert needs.boosted_majority(0.1, 0.05, 0.01, 1000) is None
