"""Boosting by majority on draws from a world whose risk is known."""

from __future__ import annotations

import pytest

from pacboost.boosters.majority import Majority
from pacboost.ledgers.ledger import Round
from pacboost.training.filtering import candidates
from tests.bounds.coverage import check_coverage
from tests.training.filtering.test_engine import exact_weights, finish, majority, risk, run_on


@pytest.fixture(autouse=True)
def small_helpings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs on a cube need few draws."""
    monkeypatch.setattr(candidates, "MOST_AT_ONCE", 1024)
    monkeypatch.setattr(candidates, "LEAST_AT_ONCE", 64)


def test_certified_stops_hold() -> None:
    """Of three bits one has an edge of a third under all weights: the promise can be kept."""
    rules, wrong, runs, certified = Majority(edge=0.3, epsilon=0.15), 0, 12, 0
    for seed in range(runs):
        run = finish(run_on(majority(), rules, seed, epsilon=0.15, rounds=rules.rounds))
        assert len(run.vote_so_far) <= rules.rounds
        certified += run.certified
        wrong += run.certified and risk(run, majority()) > run.refills[-1].error_upper
    assert certified == runs
    check_coverage("certified stop of Majority", wrong, runs, 0.05)


def test_the_vote_of_all_rounds_has_the_promised_risk() -> None:
    """Without a stop at ε; and coins come only where nearly all rows are decided."""
    rules = Majority(edge=0.3, epsilon=0.1)
    run = run_on(majority(), rules, 3, epsilon=None, rounds=rules.rounds)
    small, coins, mean = True, 0, 1.0
    for event in run:
        if isinstance(event, Round) and event.edge == 0:
            coins += 1
            small = small and mean <= rules.coin_below(event.number - 1)
        if len(run.vote_so_far) < rules.rounds:
            mean = float(exact_weights(run, majority()).mean())
    assert len(run.vote_so_far) == rules.rounds
    assert risk(run, majority()) <= 0.1
    assert coins > 0
    assert small
