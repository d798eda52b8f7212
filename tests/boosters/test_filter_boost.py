"""FilterBoost: every edge lowers the logistic potential, which starts at ln 2."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacboost.boosters.booster import Measured
from pacboost.boosters.filtering import FilterBoost
from pacboost.errors import ParameterError
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.numerics.exact import MOST_TOTAL, MOST_VOTE
from pacboost.samples.sample import Sample
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from pacboost.training.run.rounds import NO_MISTAKES
from tests.training.run.prefixes import class_samples, shares
from tests.worlds import make_sample, noisy


def check_the_fall(
    sample: Sample, learner: Learner, rounds: int, rules: FilterBoost | None = None
) -> float:
    """Walk through a run of ±1 rules; give Σ p(1 - √(1 - r²)), which is at most ln 2."""
    booster = FilterBoost() if rules is None else rules
    run = Run(sample, learner, booster, seed=4)
    for _ in islice(run, rounds):
        pass
    first, signs = shares(sample), sample.signs[:, 0]
    margins, spent = np.zeros(sample.n_rows), 0.0
    for done in run.done:
        weights = 1 / (1 + np.exp(margins))
        p = float((first * weights).sum())
        answers = done.hypothesis.answers(sample)  # type: ignore[attr-defined]
        edge = float((first * weights * signs * answers).sum()) / p
        rounding = 1e-9 + 2 * sample.n_rows / (p * 2**52)
        assert done.entry.edge == pytest.approx(edge, abs=rounding)
        if edge < 1 - 1e-6:
            wanted = booster.learning_rate * 0.5 * math.log((1 + edge) / (1 - edge))
            allowed = 1e-9 + 2 * rounding / (1 - edge**2)
            assert done.entry.vote == pytest.approx(wanted, abs=allowed)
        before = float((first * np.logaddexp(0, -margins)).sum())
        margins = margins + done.entry.vote * signs * answers
        fall = before - float((first * np.logaddexp(0, -margins)).sum())
        price = booster.learning_rate * p * (1 - math.sqrt(max(0.0, 1 - edge**2)))
        assert fall >= price - 1e-9
        spent += price
        wrong = float(first[margins <= 0].sum())
        assert wrong <= 2 * float((first / (1 + np.exp(margins))).sum()) + 1e-12
    return spent


@given(class_samples(st.just(2)), st.sampled_from([1.0, 0.3]))
@settings(max_examples=60, deadline=None)
def test_stumps_pay_for_their_edges(sample: Sample, rate: float) -> None:
    assert check_the_fall(sample, Stump(), 30, FilterBoost(rate)) <= math.log(2) + 1e-9


@pytest.mark.parametrize("edge", [0.05, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("order", ["random", "heavy", "light"])
def test_adversaries_pay_for_their_edges(edge: float, order: str) -> None:
    X, signs = noisy(200, 2, seed=1)
    sample = make_sample(X, signs)
    assert check_the_fall(sample, Adversary(edge, order), 60) <= math.log(2) + 1e-9


def test_votes_that_are_too_large_are_caught() -> None:
    """Scaled by 2.5, they lower the potential by less than the price, or raise it."""
    X, signs = noisy(200, 2, seed=1)
    with pytest.raises(AssertionError):
        check_the_fall(make_sample(X, signs), Adversary(0.5), 30, FilterBoost(2.5))


@pytest.mark.parametrize("order", ["random", "heavy", "light"])
@pytest.mark.parametrize(("edge", "epsilon"), [(0.2, 0.1), (0.4, 0.1), (0.3, 0.05), (0.6, 0.01)])
@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_the_error_falls_below_epsilon_in_the_promised_rounds(
    edge: float, epsilon: float, rate: float, order: str
) -> None:
    """Known from the mean weight alone, which is then below ε/2."""
    X, signs = noisy(300, 2, seed=2)
    rules = FilterBoost(rate)
    run = Run(make_sample(X, signs), Adversary(edge, order), rules, seed=7)
    for done in islice(run, math.floor(rules.most_rounds(edge, epsilon)) + 1):
        chances = rules.chances(run.state.margins, len(run.done))
        p = float(chances.mean())
        assert done.entry.training_error <= 2 * p
        weights = rules.request(run.state).weights
        assert weights.max() / weights.sum() <= (1 + 1e-9) / (p * 300)
        if 2 * p < epsilon:
            return
    raise AssertionError(f"the mean weight is {p} after {len(run.done)} rounds")


@given(class_samples(), st.sampled_from([1.0, 5.0]))
@settings(max_examples=40, deadline=None)
def test_no_row_weighs_more_than_twice_its_first_weight(sample: Sample, rate: float) -> None:
    booster = FilterBoost(rate)
    run = Run(sample, Tree(max_leaves=3, min_leaf_rows=1), booster)
    start = booster.request(run.state).weights.copy()
    for _ in islice(run, 10):
        request = booster.request(run.state)
        assert (request.weights <= 2 * start + 1).all()
        assert (request.weights >= 1).all()
        assert request.weight == int(request.weights.sum()) <= MOST_TOTAL + start.size
        wanted = 2 * start / (1 + np.exp(run.state.margins))
        assert request.weights == pytest.approx(wanted, rel=1e-12, abs=1.5)


def test_a_rule_without_mistakes_gets_a_finite_vote() -> None:
    X, _ = noisy(50, 3, seed=1)
    run = Run(make_sample(X[:, :1], np.sign(X[:, 0]).astype(np.int8)), Stump(), FilterBoost())
    list(islice(run, 3))
    assert run.stopped == NO_MISTAKES
    assert run.done[0].entry.vote == pytest.approx(MOST_VOTE, abs=1e-9)
    assert FilterBoost().vote(Measured(4, 0)) == pytest.approx(MOST_VOTE, abs=1e-9)


def test_rounds_grow_with_shrinkage_and_without_edge() -> None:
    assert FilterBoost(0.1).most_rounds(0.2, 0.1) == pytest.approx(
        10 * FilterBoost().most_rounds(0.2, 0.1)
    )
    assert FilterBoost().most_rounds(0.0, 0.1) == math.inf
    assert FilterBoost(1.5).most_rounds(0.2, 0.1) == math.inf
    assert FilterBoost().most_rounds(0.2, 0.1) <= math.log(2) / (0.1 * 0.1**2)


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan, math.inf])
def test_bad_learning_rates(rate: float) -> None:
    with pytest.raises(ParameterError, match="learning_rate"):
        FilterBoost(rate)
