"""The corrective ERLPBoost: the best step towards the newest rule, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from pacboost.boosters.kinds import CorrectiveState
from pacboost.boosters.soft_margin import CorrectiveERLP
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.numerics.soft_margin import whole_votes
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.boosters.margins import check_gains
from tests.worlds import make_sample, noisy


@pytest.mark.thinned(3)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.4, None])
@pytest.mark.parametrize("learner", [Stump(), Adversary(0.3), Adversary(0.2, "heavy")])
def test_every_step_raises_the_smoothed_margin(share: float | None, learner: Learner) -> None:
    X, signs = noisy(150, 3, seed=6)
    check_gains(CorrectiveERLP(share, 0.05), make_sample(X, signs), learner, 60)


class Half(CorrectiveERLP):
    """Gives every new rule half of all votes."""

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        newest = np.eye(state.votes.size)[-1]
        return replace(state, votes=whole_votes((state.votes + newest) / 2))


def test_steps_without_a_search_are_caught() -> None:
    X, signs = noisy(150, 3, seed=6)
    with pytest.raises(AssertionError):
        check_gains(Half(0.4, 0.05), make_sample(X, signs), Stump(), 60)


def test_the_others_keep_their_proportions_and_no_step_is_better() -> None:
    X, signs = noisy(150, 3, seed=6)
    rules = CorrectiveERLP(0.3, 0.05)
    run = Run(make_sample(X, signs), Stump(), rules)
    before = np.empty(0)
    for _ in islice(run, 15):
        state = run.state
        votes, climb, eta = state.votes, rules.climb(state), rules.eta(rules.largest_entropy(state))
        if before.size:
            left = 1 - votes[-1]
            assert votes[:-1] == pytest.approx(left * before, abs=1e-10)
            here, newest = climb.at(votes, eta).value, np.eye(votes.size)[-1]
            for part in np.linspace(0, 1, 41):
                other = whole_votes((1 - part) * np.append(before, 0) + part * newest)
                assert climb.at(other, eta).value <= here + 1e-7
        before = votes
