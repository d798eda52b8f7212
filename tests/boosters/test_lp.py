"""LPBoost: in every round the best votes of the rules so far, and weights that prove it."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from pacboost.boosters.soft_margin import LP
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.numerics.soft_margin import edges_of
from pacboost.samples.sample import Sample
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.boosters.margins import advance
from tests.numerics.margin_programs import largest_margin
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
    X, signs = noisy(120, 3, seed=8)
    with pytest.raises(AssertionError):
        check_every_program(Stale(0.4, 0.001), make_sample(X, signs), Stump(), 12)


def test_an_adversary_makes_it_take_longer_than_its_rivals() -> None:
    """Nothing bounds its rounds but the number of rows: weights jump from corner to corner."""
    X, signs = noisy(80, 2, seed=2)
    run = Run(make_sample(X, signs), Adversary(0.3, "light"), LP(0.0, 0.15), seed=7)
    advance(run, 60, every=20)
    assert not run.stopped  # ERLPBoost and TotalBoost: less than 60
