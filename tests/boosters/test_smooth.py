"""SmoothBoost: what single rows can gain, the rounds that follow, margins and smoothness."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacboost.boosters.booster import Measured
from pacboost.boosters.smooth import Smooth
from pacboost.errors import ParameterError
from pacboost.learners.tree import Tree
from pacboost.samples.sample import Sample
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.training.run.prefixes import class_samples, shares
from tests.worlds import make_sample, noisy


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


@pytest.mark.parametrize("options", [{"edge": 0.0}, {"edge": 1.0}, {"epsilon": -0.1}])
def test_bad_parameters(options: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match=next(iter(options))):
        Smooth(**options)
