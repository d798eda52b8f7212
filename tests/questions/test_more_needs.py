"""Simulated needs against closed forms, bounds and plain draws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pacboost.theory import needs, plan


def test_half_of_the_samples_of_a_perfect_classifier_are_all_of_them() -> None:
    answer = plan.holdout(epsilon=0.01, delta=0.05)
    assert answer.details["half of all samples"] == answer.examples == 299
    assert answer.details["passes with"] == 1


def test_learning_any_labelling_takes_ln_four_times_the_domain() -> None:
    for domain in (16, 1024):
        wanted = math.log(4) / -math.log1p(-1 / domain)
        assert needs.labelling_learned(domain) == pytest.approx(wanted, abs=1)


@pytest.mark.parametrize(("epsilon", "edge"), [(0.1, 0.2), (0.05, 0.3), (0.2, 0.5)])
def test_measure_rounds_stay_within_the_theorem(epsilon: float, edge: float) -> None:
    most = math.ceil(1 / (0.75 * epsilon * edge) ** 2)
    found = needs.measure_rounds(epsilon, edge, 0.75, most)
    assert found is not None
    assert 1 / edge < found <= most


def test_an_adversary_without_an_edge_is_never_done() -> None:
    assert needs.measure_rounds(0.1, 0.0, 0.75, 300) is None


def test_the_good_rule_wins_as_often_as_in_plain_draws() -> None:
    edge, rules, delta = 0.3, 20, 0.1
    found = needs.good_rule_found(edge, delta, 1, math.log(rules), 10_000)
    assert found is not None
    generator = np.random.default_rng(3)
    good = generator.binomial(found, (1 + edge) / 2, size=20_000)
    others = generator.binomial(found, (1 + edge / 2) / 2, size=(20_000, rules - 1)).max(axis=1)
    assert np.mean(good <= others) == pytest.approx(delta, abs=0.02)
    answer = plan.resample(edge=edge, delta=delta, rounds=1, log_size=math.log(rules))
    assert answer.examples is not None
    assert found < answer.examples


def test_one_noisy_feature_needs_less_than_many() -> None:
    one = needs.noisy_stumps(0.1, 0.1, 1, 10_000)
    ten = needs.noisy_stumps(0.1, 0.1, 10, 10_000)
    assert one is not None
    assert ten is not None
    assert one < ten < (plan.stumps(epsilon=0.1, delta=0.1, features=10).examples or 0)
    assert needs.noisy_stumps(0.1, 0.1, needs.MOST_FEATURES + 1, 10_000) is None


@pytest.mark.slow
def test_boosting_a_majority_needs_far_less_than_the_theorem() -> None:
    answer = plan.strong(epsilon=0.1, delta=0.05, edge=0.3, dimension=4)
    assert answer.simulated is not None
    assert answer.examples is not None
    assert 10 < answer.simulated < answer.examples / 100
    assert needs.boosted_majority(0.1, 0.05, 0.01, 1000) is None


def test_needs_can_be_skipped() -> None:
    with needs.skipped():
        assert plan.strong(epsilon=0.1, delta=0.05, edge=0.1, dimension=4).simulated is None
        assert plan.rounds(edge=0.1, rows=1000).simulated is None
        assert plan.filtering(epsilon=0.1, delta=0.05, edge=0.2).simulated is None
    assert plan.filtering(epsilon=0.1, delta=0.05, edge=0.2).simulated is not None
