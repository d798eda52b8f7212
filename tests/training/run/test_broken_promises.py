"""Who keeps a promised edge is never accused; who breaks it ends the run at the bound."""

import math
from itertools import islice

import pytest

from pacboost import BoostClassifier
from pacboost.boosters.booster import Booster
from pacboost.boosters.filtering import Measure, Smooth
from pacboost.boosters.projection import Projection
from pacboost.sources.toy import lecture_points
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from pacboost.training.run.stop_reason import Stop
from tests.worlds import make_sample, noisy

PROMISED = [Measure(0.4, 0.2), Measure(0.4, 0.2, share=1.0), Smooth(0.4, 0.2)]


def boosted(booster: Booster, edge: float, rounds: int = 5000) -> Run:  # type: ignore[type-arg]
    run = Run(make_sample(*noisy(200, 3, seed=4)), Adversary(edge), booster)
    list(islice(run, rounds))
    run.keep_best()
    return run


@pytest.mark.parametrize("booster", PROMISED, ids=repr)
@pytest.mark.parametrize("order", ["random", "heavy", "light"])
def test_who_keeps_the_promise_ends_within_the_bound(booster: Measure, order: str) -> None:
    run = Run(make_sample(*noisy(200, 3, seed=4)), Adversary(booster.edge, order), booster)
    list(run)
    assert run.stopped is not None
    assert (run.stopped.kind, run.stopped.broken) == (Stop.BOOSTER, {})
    assert len(run.done) <= booster.promised_rounds


@pytest.mark.parametrize("booster", PROMISED, ids=repr)
def test_who_breaks_it_ends_in_the_round_after_the_bound(booster: Measure) -> None:
    run = boosted(booster, 0.02)
    assert run.stopped is not None
    assert run.stopped.kind is Stop.PAST_BOUND
    assert len(run.done) == math.floor(booster.promised_rounds) + 1
    edges = [done.entry.edge for done in run.done]
    worst = int(run.stopped.values["worst"])
    assert run.stopped.values["edge"] == edges[worst - 1] == min(edges) < booster.edge
    assert run.stopped.values["below"] == sum(edge < booster.edge for edge in edges)
    assert "promise is broken" in run.ledger().stopped


class Hasty(Measure):
    """Claims a twentieth of the rounds that the theorem gives."""

    @property
    def promised_rounds(self) -> float:
        return super().promised_rounds / 20


def test_a_bound_that_is_too_small_accuses_an_honest_learner() -> None:
    run = boosted(Hasty(0.4, 0.2), 0.4)
    with pytest.raises(AssertionError):
        assert run.stopped is not None and run.stopped.kind is Stop.BOOSTER  # noqa: PT018


def test_a_resumed_run_is_accused_in_the_same_round() -> None:
    run = boosted(Smooth(0.4, 0.2), 0.02)
    again = Run(run.sample, run.learner, run.booster)
    vote = run.vote()
    again.resume(vote.hypotheses, vote.votes.tolist(), run.ledger().rounds)
    assert again.stopped == run.stopped


def test_when_rounds_end_before_the_bound_the_broken_promise_is_named() -> None:
    run = boosted(Measure(0.4, 0.2), 0.02, rounds=3)
    assert run.stopped is not None
    assert run.stopped.kind is Stop.ALL_ROUNDS
    least = min((done.entry for done in run.done), key=lambda entry: entry.edge)
    assert (run.stopped.broken["worst"], run.stopped.broken["edge"]) == (least.number, least.edge)
    assert boosted(Measure(0.4, 0.2), 0.4, rounds=3).stopped.broken == {}  # type: ignore[union-attr]
    X, y = lecture_points()
    model = BoostClassifier(Measure(0.9, 0.1), "stump", 9).fit(X, y)
    assert "less than the promised 0.9" in model.ledger_.stopped


def test_projection_names_it_when_its_rounds_are_over() -> None:
    run = boosted(Projection(0.4, 0.2), 0.02)
    assert run.stopped is not None
    assert run.stopped.broken["promised"] == 0.4
    assert boosted(Projection(0.4, 0.2), 0.4).stopped.broken == {}  # type: ignore[union-attr]
