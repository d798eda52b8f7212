"""MLPBoost: the better of two candidates, so the bound of one and the pace of the other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pacboost.boosters.kinds import CorrectiveState
from pacboost.boosters.soft_margin import MLP, CorrectiveERLP
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.boosters.margins import advance, check_gains
from tests.worlds import make_sample, noisy


@pytest.mark.thinned(3)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.4, None])
@pytest.mark.parametrize("learner", [Stump(), Adversary(0.3), Adversary(0.2, "heavy")])
def test_every_round_gains_what_the_step_would(share: float | None, learner: Learner) -> None:
    X, signs = noisy(150, 3, seed=6)
    check_gains(MLP(share, 0.05), make_sample(X, signs), learner, 30)


class Program(MLP):
    """Takes the votes of the program whatever they are worth."""

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        state = self.replayed(state)
        assert state.balanced is not None
        return replace(state, votes=state.balanced.votes)


def test_the_program_alone_is_caught() -> None:
    X, signs = noisy(150, 3, seed=6)
    with pytest.raises(AssertionError):
        check_gains(Program(0.0, 0.05), make_sample(X, signs), Adversary(0.3), 30)


@pytest.mark.slow
def test_fewer_rounds_than_steps_alone() -> None:
    X, signs = noisy(150, 3, seed=6, noise=0.05)
    rounds = []
    for rules in (MLP(0.4, 0.02), CorrectiveERLP(0.4, 0.02)):
        run = Run(make_sample(X, signs), Stump(), rules)
        advance(run, 300, every=50)
        rounds.append(len(run.done))
    assert 1.5 * rounds[0] < rounds[1]
