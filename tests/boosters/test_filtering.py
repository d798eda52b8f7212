"""FilterBoost: every edge lowers the logistic potential, which starts at ln 2."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.boosters.booster import Measured
from pacboost.boosters.filtering import FilterBoost, Mada, Smooth
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.numerics.exact import MOST_TOTAL, MOST_VOTE
from pacboost.samples.sample import Sample
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from pacboost.training.run.rounds import NO_MISTAKES
from tests.training.run.prefixes import class_samples, sample_of, shares
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


# MadaBoost: no row ever weighs more than at the start, and each edge has its price.

Floats = NDArray[np.float64]


def loss(margins: Floats) -> Floats:
    return np.where(margins < 0, 1 - margins, np.exp(-np.maximum(margins, 0.0)))


def check_the_clipped_fall(
    sample: Sample, learner: Learner, rounds: int, price: float = 1.0
) -> float:
    """Walk through a run of ±1 rules; give Σ ½ r² exp(-r) μ, which is at most 1."""
    run = Run(sample, learner, Mada(), seed=4)
    for _ in islice(run, rounds):
        pass
    first, signs = shares(sample), sample.signs[:, 0]
    margins, spent = np.zeros(sample.n_rows), 0.0
    for done in run.done:
        weights = np.minimum(1.0, np.exp(-margins))
        mu = float((first * weights).sum())
        answers = done.hypothesis.answers(sample)  # type: ignore[attr-defined]
        edge = float((first * weights * signs * answers).sum()) / mu
        rounding = 1e-9 + 2 * sample.n_rows / (mu * 2**52)  # weights are whole, and only fall
        assert done.entry.edge == pytest.approx(edge, abs=rounding)
        assert done.entry.vote == pytest.approx(edge * math.exp(-edge), abs=rounding)
        before = float((first * loss(margins)).sum())
        margins = margins + done.entry.vote * signs * answers
        fall = before - float((first * loss(margins)).sum())
        assert fall >= price * 0.5 * edge**2 * math.exp(-edge) * mu - 1e-12
        spent += 0.5 * edge**2 * math.exp(-edge) * mu
        wrong = float(first[margins <= 0].sum())
        assert wrong <= float((first * np.minimum(1.0, np.exp(-margins))).sum()) + 1e-12
    return spent


@given(class_samples(st.just(2)))
@settings(max_examples=60, deadline=None)
def test_clipped_stumps_pay_for_their_edges(sample: Sample) -> None:
    assert check_the_clipped_fall(sample, Stump(), 30) <= 1 + 1e-9


@pytest.mark.parametrize("edge", [0.05, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("order", ["random", "heavy", "light"])
def test_clipped_adversaries_pay_for_their_edges(edge: float, order: str) -> None:
    X, signs = noisy(200, 2, seed=1)
    sample = sample_of(X, (signs > 0).astype(np.int64), 2)
    assert check_the_clipped_fall(sample, Adversary(edge, order), 60) <= 1 + 1e-9


def test_a_price_without_its_exponential_is_caught() -> None:
    """Were the fall ½ r² μ, large edges could not pay it."""
    X, signs = noisy(200, 2, seed=1)
    sample = sample_of(X, (signs > 0).astype(np.int64), 2)
    with pytest.raises(AssertionError):
        check_the_clipped_fall(sample, Adversary(0.9), 3, price=math.exp(0.9))


@pytest.mark.parametrize("order", ["random", "heavy", "light"])
@pytest.mark.parametrize(("edge", "epsilon"), [(0.2, 0.1), (0.4, 0.1), (0.3, 0.05), (0.6, 0.01)])
def test_the_mean_weight_falls_below_epsilon_in_the_promised_rounds(
    edge: float, epsilon: float, order: str
) -> None:
    """With gamma = edge/2: T ≤ exp(2·gamma)/(2·epsilon·gamma²)."""
    X, signs = noisy(300, 2, seed=2)
    gamma = edge / 2
    promised = math.ceil(math.exp(2 * gamma) / (2 * epsilon * gamma**2))
    run = Run(sample_of(X, (signs > 0).astype(np.int64), 2), Adversary(edge, order), Mada(), seed=7)
    margins = np.zeros(300)
    for done in islice(run, promised):
        margins += done.entry.vote * signs * done.hypothesis.answers(run.sample)  # type: ignore[attr-defined]
        mu = float(np.minimum(1.0, np.exp(-margins)).mean())
        assert done.entry.training_error <= mu + 1e-12
        if mu < epsilon:
            return
    raise AssertionError(f"the mean weight is {mu} after {promised} rounds")


@pytest.mark.parametrize("rate", [0.2, 0.7])
@pytest.mark.parametrize(("edge", "epsilon"), [(0.4, 0.1), (0.6, 0.05)])
def test_smaller_votes_keep_a_longer_promise(edge: float, epsilon: float, rate: float) -> None:
    """A part ν of the vote pays (ν - ν²/2)·r²·exp(-r)·μ in every round."""
    X, signs = noisy(300, 2, seed=2)
    rules = Mada(rate)
    run = Run(sample_of(X, (signs > 0).astype(np.int64), 2), Adversary(edge), rules, seed=7)
    before, mu = 1.0, 1.0
    for done in islice(run, math.floor(rules.most_rounds(edge, epsilon)) + 1):
        r, margins = done.entry.edge, run.state.margins[:, 0]
        after = float(loss(margins).mean())
        assert before - after >= (rate - rate**2 / 2) * r**2 * math.exp(-r) * mu - 1e-9
        before, mu = after, float(rules.chances(margins, 0).mean())
        if mu < epsilon:
            return
    raise AssertionError(f"the mean weight is {mu}")


@given(class_samples(), st.sampled_from([1.0, 5.0]))
@settings(max_examples=40, deadline=None)
def test_no_row_weighs_more_than_at_the_start(sample: Sample, rate: float) -> None:
    booster = Mada(rate)
    run = Run(sample, Tree(max_leaves=3, min_leaf_rows=1), booster)
    start = booster.request(run.state).weights.copy()
    for _ in islice(run, 10):
        request = booster.request(run.state)
        assert (request.weights <= start).all()
        assert (request.weights >= 1).all()
        assert request.weight == int(request.weights.sum())
        wanted = start * np.minimum(1.0, np.exp(-run.state.margins))
        assert request.weights == pytest.approx(wanted, rel=1e-12, abs=1.0)


def test_the_vote_is_the_edge_times_its_exponential() -> None:
    assert Mada().vote(Measured(4, 1)) == pytest.approx(0.5 * math.exp(-0.5), abs=1e-11)
    assert Mada(0.1).vote(Measured(4, 1)) == pytest.approx(0.05 * math.exp(-0.5), abs=1e-11)
    assert Mada().vote(Measured(4, 2)) == 0


# SmoothBoost: what single rows can gain, the rounds that follow, margins and smoothness.


def loss_of_a_step(rules: Smooth) -> float:
    """The e of the theorem: (exp(x) - 1 - x)/λ with x = λ(1 + θ)."""
    x = rules.step_size * (1 + rules.ahead)
    return (math.exp(x) - 1 - x) / rules.step_size


def largest_gain(rules: Smooth, rounds: int, steepness: float = 1.0) -> float:
    """The most that Σ_t M_t(s_t - θ - e) comes to for a row, over all ways to be right or wrong."""
    price = rules.ahead + loss_of_a_step(rules)
    best, top = np.array([0.0]), 0.0  # by how often the row was right
    for done in range(rounds):
        expected = rules.ahead * done
        N = 2.0 * np.arange(done + 1, dtype=np.float64) - (done + expected)
        M = rules.chances(rules.step_size * (steepness * N + expected), done)
        after = np.full(done + 2, -np.inf)
        after[1:] = best + M * (1 - price)
        after[:-1] = np.maximum(after[:-1], best + M * (-1 - price))
        best = after
        top = max(top, float(best.max()))
    return top


@pytest.mark.parametrize("edge", [0.05, 0.2, 0.4, 0.6, 0.95])
def test_no_row_gains_more_than_the_area_under_its_weight(edge: float) -> None:
    """Σ_t M_t(s_t - θ - e) ≤ ∫ M = 1/λ, whatever the order in which rules are right and wrong."""
    rules = Smooth(edge)
    gain = largest_gain(rules, 400)
    assert gain <= 1 / rules.step_size + 1e-9
    assert gain >= 0.75 / rules.step_size  # and there is not much less to be said


@pytest.mark.parametrize("edge", [0.2, 0.4])
def test_weights_that_fall_three_times_as_slowly_are_caught(edge: float) -> None:
    rules = Smooth(edge)
    with pytest.raises(AssertionError):
        assert largest_gain(rules, 400, steepness=1 / 3) <= 1 / rules.step_size + 1e-9


@given(st.floats(0.001, 0.999), st.floats(0.001, 0.999))
@settings(max_examples=200, deadline=None)
def test_fewer_rounds_than_in_the_paper(edge: float, epsilon: float) -> None:
    gamma = edge / 2
    paper = 2 / (epsilon * gamma**2 * math.sqrt(1 - gamma))
    assert 0 < Smooth(edge, epsilon).most_rounds(edge, epsilon) < paper


@pytest.mark.parametrize("order", ["random", "heavy", "light"])
@pytest.mark.parametrize(("edge", "epsilon"), [(0.2, 0.1), (0.4, 0.1), (0.3, 0.05), (0.6, 0.01)])
def test_in_the_promised_rounds_rows_get_their_margin(
    edge: float, epsilon: float, order: str
) -> None:
    X, signs = noisy(300, 2, seed=2)
    rules = Smooth(edge, epsilon)
    run = Run(make_sample(X, signs), Adversary(edge, order), rules, seed=7)
    heaviest = rules.request(run.state).weights.max() / 2**52
    for done in islice(run, math.floor(rules.most_rounds(edge, epsilon)) + 1):
        assert heaviest <= (1 + 1e-9) / (epsilon * 300)  # of the D_t that this rule was found for
        mu = float(rules.chances(run.state.margins, len(run.done)).mean())
        assert done.entry.training_error <= mu
        weights = rules.request(run.state).weights
        heaviest = weights.max() / weights.sum()
        assert heaviest <= (1 + 1e-9) / (mu * 300)
    assert mu < epsilon
    assert "mean weight" in run.stopped
    normalised = run.state.margins[:, 0] / (rules.step_size * len(run.done))
    assert (normalised <= rules.ahead).mean() < epsilon


@given(class_samples(st.just(2)), st.floats(0.1, 0.9), st.floats(0.05, 0.5))
@settings(max_examples=60, deadline=None)
def test_margins_at_the_stop_whatever_the_learner(
    sample: Sample, edge: float, epsilon: float
) -> None:
    """The share of rows with a margin of θ or less is at most the mean weight, in every round."""
    rules = Smooth(edge, epsilon)
    run = Run(sample, Tree(max_leaves=4, min_leaf_rows=1), rules)
    first = shares(sample)
    for number, _ in enumerate(islice(run, 30), start=1):
        margins = run.state.margins[:, 0]
        slow = margins <= rules.ahead * rules.step_size * number
        mu = float((first * rules.chances(margins, number)).sum())
        assert float(first[slow].sum()) <= mu + 1e-9


def test_weights_are_servedios() -> None:
    rules = Smooth(edge=0.2)
    assert rules.ahead == pytest.approx(0.1 / 2.1)
    assert rules.vote(Measured(10, 1)) == rules.step_size
    for rounds, lead in ((5, 3), (5, -1), (9, 9)):
        N = lead - rounds * rules.ahead
        wanted = 1.0 if N < 0 else 0.9 ** (N / 2)
        chance = rules.chances(np.array([lead * rules.step_size]), rounds)
        assert chance == pytest.approx([wanted], rel=1e-9)


def test_an_edge_too_small_for_the_margin_bounds_nothing() -> None:
    assert Smooth(0.4).most_rounds(0.1, 0.1) == math.inf
