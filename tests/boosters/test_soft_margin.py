"""The boosters of soft margins, one by one: what each round gains, and twins that gain less."""

import math
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from pacboost.boosters.corrective import CorrectiveState
from pacboost.boosters.soft_margin import ERLP, LP, MLP, CorrectiveERLP, Soft, Total
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.numerics.soft_margin import edges_of, whole_votes
from pacboost.samples.sample import Sample
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.boosters.margins import advance, check_best, check_gains, entropy, largest_margin
from tests.grids import each_value
from tests.training.run.prefixes import shares
from tests.worlds import make_sample, noisy


def check_every_program(
    rules: LP, sample: Sample, learner: Learner, rounds: int, rounding: float = 1e-5
) -> Run:
    """A plain linear program over all rows finds the same margin, and no edge is above it."""
    run = Run(sample, learner, rules)
    for done in islice(run, rounds):
        state = run.state
        best = largest_margin(state.columns[:, state.kinds], shares(sample), state.share)
        assert done.entry.margin == pytest.approx(best, abs=rounding)
        assert float(edges_of(state.columns, state.shares).max()) <= best + rounding
    return run


@each_value
@pytest.mark.parametrize("share", [0.0, 0.1, 0.4, None])
@pytest.mark.parametrize("learner", [Stump(), Adversary(0.3), Adversary(0.2, "heavy")])
def test_the_program_of_every_round(share: float | None, learner: Learner) -> None:
    X, signs = noisy(120, 3, seed=8)
    base = np.random.default_rng(1).uniform(0.5, 2.0, 120)
    check_every_program(LP(share, 0.001), make_sample(X, signs, base), learner, 12)


class Stale(LP):
    """Keeps the votes of the round before the last."""

    def corrected(self, state):  # type: ignore[no-untyped-def]
        before = state.votes
        state = super().corrected(state)
        object.__setattr__(state, "votes", before)
        return state


def test_old_votes_are_caught() -> None:
    with pytest.raises(AssertionError):
        check_every_program(Stale(0.4, 0.001), make_sample(*noisy(120, 3, seed=8)), Stump(), 12)


def test_an_adversary_makes_it_take_longer_than_its_rivals() -> None:
    """Nothing bounds its rounds but the number of rows: weights jump from corner to corner."""
    run = Run(make_sample(*noisy(80, 2, seed=2)), Adversary(0.3, "light"), LP(0.0, 0.15), seed=7)
    advance(run, 60, every=20)
    assert not run.stopped  # ERLPBoost and TotalBoost: less than 60


class Slow(ERLP):
    """Goes a thousandth of the way."""

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        votes = super().corrected(state).votes
        return replace(state, votes=whole_votes(0.999 * state.votes + 0.001 * votes))


@each_value
@pytest.mark.parametrize("tolerance", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
def test_the_bound_on_rounds_is_that_of_the_paper(share: float, tolerance: float) -> None:
    largest_entropy = math.log(1 / share)
    expected = max(8 / tolerance, 32 * largest_entropy / tolerance**2)
    assert ERLP(share, tolerance).most_rounds(largest_entropy) == pytest.approx(expected)


class Half(CorrectiveERLP):
    """Gives every new rule half of all votes."""

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        newest = np.eye(state.votes.size)[-1]
        return replace(state, votes=whole_votes((state.votes + newest) / 2))


def test_the_others_keep_their_proportions_and_no_step_is_better() -> None:
    rules = CorrectiveERLP(0.3, 0.05)
    run = Run(make_sample(*noisy(150, 3, seed=6)), Stump(), rules)
    before = np.empty(0)
    for _ in islice(run, 15):
        state = run.state
        votes, climb, eta = state.votes, rules.climb(state), rules.eta(rules.largest_entropy(state))
        if before.size:
            remaining = 1 - votes[-1]
            assert votes[:-1] == pytest.approx(remaining * before, abs=1e-10)
            here, newest = climb.at(votes, eta).value, np.eye(votes.size)[-1]
            for part in np.linspace(0, 1, 41):
                other = whole_votes((1 - part) * np.append(before, 0) + part * newest)
                assert climb.at(other, eta).value <= here + 1e-7
        before = votes


def check_progress(rules: Soft, sample: Sample, learner: Learner, most: int) -> Run:
    """Hold edges at γ - g, and KL(D_{t+1} ‖ D_1) ≥ KL(D_t ‖ D_1) + g²/2 while g stays."""
    run = Run(sample, learner, rules)
    before = run.state
    for _ in islice(run, most):
        state = run.state
        if run.stopped:
            break
        slack = 2e-3 * rules.tolerance
        target = state.least_edge - state.reach
        assert float(edges_of(state.columns, state.shares).max()) <= target + slack
        if state.reach == before.reach:
            gain = (state.reach - slack) ** 2 / 2
            assert entropy(state) >= entropy(before) + gain - slack
        assert entropy(state) <= rules.largest_entropy(state) + 1e-9
        before = state
    return run


@each_value
@pytest.mark.parametrize("share", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("learner", [Stump(), Adversary(0.3), Adversary(0.2, "heavy")])
def test_every_round_moves_the_weights_on(share: float, learner: Learner) -> None:
    check_progress(Soft(share, 0.05), make_sample(*noisy(150, 3, seed=6)), learner, 60)


class Timid(Soft):
    """Asks that edges be as they were, not less."""

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        votes, strength = self.climb(state).projected(state.votes, state.strength, state.least_edge)
        object.__setattr__(state, "votes", votes)
        object.__setattr__(state, "strength", strength)
        object.__setattr__(state, "reach", self.tolerance)
        return state


def test_weights_that_hardly_move_are_caught() -> None:
    with pytest.raises(AssertionError):
        check_progress(Timid(0.4, 0.05), make_sample(*noisy(150, 3, seed=6)), Stump(), 200)


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
    run = Run(make_sample(*noisy(200, 3, seed=6)), Stump(), Soft(0.6, 0.01))
    advance(run, 500, every=10)
    state = run.state
    assert state.reach == 0.01
    assert state.gap <= 0.01
    assert np.count_nonzero(state.votes) > 1


class Program(MLP):
    """Takes the votes of the program whatever they are worth."""

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        state = self.replayed(state)
        assert state.balanced is not None
        return replace(state, votes=state.balanced.votes)


@pytest.mark.slow
def test_fewer_rounds_than_steps_alone() -> None:
    rounds = []
    for rules in (MLP(0.4, 0.02), CorrectiveERLP(0.4, 0.02)):
        run = Run(make_sample(*noisy(150, 3, seed=6, noise=0.05)), Stump(), rules)
        advance(run, 300, every=50)
        rounds.append(len(run.done))
    assert 1.5 * rounds[0] < rounds[1]


SMOOTHED = [ERLP, CorrectiveERLP, MLP]


@each_value
@pytest.mark.parametrize("kind", SMOOTHED)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.4, None])
@pytest.mark.parametrize("learner", [Stump(), Adversary(0.3), Adversary(0.2, "heavy")])
def test_every_round_raises_the_smoothed_margin(
    kind: type[ERLP], share: float | None, learner: Learner
) -> None:
    check_gains(kind(share, 0.05), make_sample(*noisy(150, 3, seed=6)), learner, 40)


@pytest.mark.parametrize(
    ("twin", "learner", "rounds"),
    [
        (Slow(0.1, 0.2), Adversary(0.4), 40),
        (Half(0.4, 0.05), Stump(), 60),
        (Program(0.0, 0.05), Adversary(0.3), 30),
    ],
)
def test_rounds_that_gain_less_are_caught(twin: ERLP, learner: Learner, rounds: int) -> None:
    with pytest.raises(AssertionError):
        check_gains(twin, make_sample(*noisy(150, 3, seed=6)), learner, rounds)


def test_it_is_softboost_for_the_worst_row() -> None:
    runs = [
        Run(make_sample(*noisy(100, 3, seed=2, noise=0.0)), Stump(), rules)
        for rules in (Total(tolerance=0.05), Soft(0.0, 0.05))
    ]
    for one, other in zip(*(islice(run, 20) for run in runs), strict=True):
        assert one.entry.margin == other.entry.margin
        assert one.entry.memory == other.entry.memory
