"""SoftBoost: projections that move away from D_1 in every round, until there are none."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest

from pacboost.boosters.kinds import CorrectiveState
from pacboost.boosters.soft_margin import Soft
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.numerics.soft_margin import edges_of
from pacboost.samples.sample import Sample
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.boosters.margins import advance, check_best, entropy
from tests.worlds import make_sample, noisy


def check_progress(rules: Soft, sample: Sample, learner: Learner, most: int) -> Run:
    """Hold edges at γ - g, and KL(D_{t+1} ‖ D_1) ≥ KL(D_t ‖ D_1) + g²/2 while g stays."""
    run = Run(sample, learner, rules)
    before = run.state
    for _ in islice(run, most):
        state = run.state
        if run.stopped:
            break
        slack = 2e-3 * rules.tolerance
        target = state.least - state.reach
        assert float(edges_of(state.columns, state.shares).max()) <= target + slack
        if state.reach == before.reach:
            gain = (state.reach - slack) ** 2 / 2
            assert entropy(state) >= entropy(before) + gain - slack
        assert entropy(state) <= rules.largest_entropy(state) + 1e-9
        before = state
    return run


@pytest.mark.thinned(3)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("learner", [Stump(), Adversary(0.3), Adversary(0.2, "heavy")])
def test_every_round_moves_the_weights_on(share: float, learner: Learner) -> None:
    X, signs = noisy(150, 3, seed=6)
    check_progress(Soft(share, 0.05), make_sample(X, signs), learner, 200)


class Timid(Soft):
    """Asks that edges be as they were, not less."""

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        votes, strength = self.climb(state).projected(state.votes, state.strength, state.least)
        object.__setattr__(state, "votes", votes)
        object.__setattr__(state, "strength", strength)
        object.__setattr__(state, "reach", self.tolerance)
        return state


def test_weights_that_hardly_move_are_caught() -> None:
    X, signs = noisy(150, 3, seed=6)
    with pytest.raises(AssertionError):
        check_progress(Timid(0.4, 0.05), make_sample(X, signs), Stump(), 200)


class Patient(Soft):
    """By the letter of the paper: γ - ε from the start."""

    @property
    def _first_reach(self) -> float:
        return self.tolerance


def test_asking_for_much_first_saves_rounds() -> None:
    """Both end with the same proof."""
    X, signs = noisy(150, 3, seed=6)
    sample = make_sample(X.round(1), signs)
    quick = check_best(Soft(0.6, 0.005), sample, Stump(), 500)
    slow = check_best(Patient(0.6, 0.005), sample, Stump(), 500)
    assert 2 * len(quick.done) < len(slow.done)


@pytest.mark.parametrize("tolerance", [0.003, 0.02, 0.3, 1.5])
def test_the_first_reach_is_a_power_of_four_times_the_last(tolerance: float) -> None:
    first = Soft(0.1, tolerance)._first_reach
    assert tolerance <= first <= max(1, tolerance)
    assert 4 * first > 1
    steps = math.log(first / tolerance, 4)
    assert steps == pytest.approx(round(steps), abs=1e-12)


def test_it_ends_when_no_weights_are_left() -> None:
    X, signs = noisy(200, 3, seed=6)
    run = Run(make_sample(X, signs), Stump(), Soft(0.6, 0.01))
    advance(run, 500, every=10)
    state = run.state
    assert state.reach == 0.01
    assert state.gap <= 0.01
    assert np.count_nonzero(state.votes) > 1
