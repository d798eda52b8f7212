"""What the watching rows measure: log loss, error, and the edge under the weights of the vote."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.metrics import log_loss

from pacboost.bounds.holdout import clopper_pearson
from pacboost.estimators.strong.candidates import UNSURE, WatchedRounds

GENERATOR = np.random.default_rng(0)
SIGNS = GENERATOR.choice(np.array([-1.0, 1.0]), size=50)


def test_two_classes_give_log_loss_error_and_edge() -> None:
    watched = WatchedRounds(None)
    scores = np.zeros(50)
    for _ in range(3):
        rule = GENERATOR.choice([-1.0, 1.0], size=50)
        weights = expit(-2 * SIGNS * scores)
        edge = float((weights * SIGNS * rule).sum() / weights.sum())
        scores = scores + 0.3 * rule
        loss = watched(SIGNS, scores)
        assert watched.edges[-1] == pytest.approx(edge)
        assert loss == pytest.approx(log_loss(SIGNS, expit(2 * scores)))
        assert watched.errors[-1] == np.mean(SIGNS * scores <= 0)
        assert watched.expected[-1] == pytest.approx(np.mean(expit(-2 * np.abs(scores))))


def test_many_classes_give_log_loss_and_error() -> None:
    watched = WatchedRounds(None)
    labels = GENERATOR.integers(4, size=60)
    scores = GENERATOR.normal(size=(60, 4))
    assert watched(labels, scores) == pytest.approx(log_loss(labels, softmax(scores, axis=1)))
    assert watched.errors[-1] == np.mean(scores.argmax(axis=1) != labels)
    residual = np.eye(4)[labels] - 0.25
    edge = (residual * scores).sum() / np.abs(residual * scores).sum()
    assert watched.edges[-1] == pytest.approx(edge)


def test_a_perfect_rule_has_edge_one_and_its_opposite_minus_one() -> None:
    watched = WatchedRounds(None)
    watched(SIGNS, 0.5 * SIGNS)
    watched(SIGNS, 0.25 * SIGNS)
    assert watched.edges == [1.0, -1.0]


@pytest.mark.parametrize("wrong", [0, 2, 10, 30])
def test_a_look_is_suggested_when_it_will_probably_succeed(wrong: int) -> None:
    watched = WatchedRounds(0.1, certifying=300, delta=0.05)
    scores = np.ones(100)
    scores[:wrong] = -1
    watched(np.ones(100), scores)
    rate = clopper_pearson(wrong, 100, UNSURE)
    succeeds = clopper_pearson(round(300 * rate), 300, 0.05, 2) <= 0.1
    assert watched.worth_a_look() is succeeds
    assert watched.enough is succeeds
    assert succeeds is (wrong <= 2)


def test_without_epsilon_no_look_is_suggested() -> None:
    watched = WatchedRounds(None, certifying=300)
    watched(np.ones(100), np.ones(100))
    assert not watched.worth_a_look()
