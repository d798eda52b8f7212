"""ERLPBoost: every round gains what the bound on rounds is made of."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pacboost.boosters.kinds import CorrectiveState
from pacboost.boosters.soft_margin import ERLP
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.numerics.soft_margin import whole_votes
from pacboost.theory.learners import Adversary
from tests.boosters.margins import check_gains
from tests.worlds import make_sample, noisy


@pytest.mark.parametrize("share", [0.0, 0.1, 0.4, None])
@pytest.mark.parametrize("learner", [Stump(), Adversary(0.3), Adversary(0.2, "heavy")])
def test_every_round_raises_the_smoothed_margin(share: float | None, learner: Learner) -> None:
    X, signs = noisy(150, 3, seed=6)
    check_gains(ERLP(share, 0.05), make_sample(X, signs), learner, 40)


class Slow(ERLP):
    """Goes a thousandth of the way."""

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        votes = super().corrected(state).votes
        return replace(state, votes=whole_votes(0.999 * state.votes + 0.001 * votes))


def test_a_thousandth_of_the_way_is_caught() -> None:
    X, signs = noisy(150, 3, seed=6)
    with pytest.raises(AssertionError):
        check_gains(Slow(0.1, 0.2), make_sample(X, signs), Adversary(0.4), 40)


@pytest.mark.parametrize("tolerance", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
def test_the_bound_on_rounds_is_that_of_the_paper(share: float, tolerance: float) -> None:
    largest_entropy = math.log(1 / share)
    wanted = max(8 / tolerance, 32 * largest_entropy / tolerance**2)
    assert ERLP(share, tolerance).most_rounds(largest_entropy) == pytest.approx(wanted)
