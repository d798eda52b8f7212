"""MadaBoost: no row ever weighs more than at the start, and each edge has its price."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.boosters.booster import Measured
from pacboost.boosters.smooth import Mada
from pacboost.errors import ParameterError
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.samples.sample import Sample
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.training.run.prefixes import class_samples, sample_of, shares
from tests.worlds import noisy

Floats = NDArray[np.float64]


def loss(margins: Floats) -> Floats:
    return np.where(margins < 0, 1 - margins, np.exp(-np.maximum(margins, 0.0)))


def check_the_fall(sample: Sample, learner: Learner, rounds: int, price: float = 1.0) -> float:
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
def test_stumps_pay_for_their_edges(sample: Sample) -> None:
    assert check_the_fall(sample, Stump(), 30) <= 1 + 1e-9


@pytest.mark.parametrize("edge", [0.05, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("order", ["random", "heavy", "light"])
def test_adversaries_pay_for_their_edges(edge: float, order: str) -> None:
    X, signs = noisy(200, 2, seed=1)
    sample = sample_of(X, (signs > 0).astype(np.int64), 2)
    assert check_the_fall(sample, Adversary(edge, order), 60) <= 1 + 1e-9


def test_a_price_without_its_exponential_is_caught() -> None:
    """Were the fall ½ r² μ, large edges could not pay it."""
    X, signs = noisy(200, 2, seed=1)
    sample = sample_of(X, (signs > 0).astype(np.int64), 2)
    with pytest.raises(AssertionError):
        check_the_fall(sample, Adversary(0.9), 3, price=math.exp(0.9))


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


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan, math.inf])
def test_bad_learning_rates(rate: float) -> None:
    with pytest.raises(ParameterError, match="learning_rate"):
        Mada(rate)
