"""Votes that aim at a margin: what is surely reached, whatever the learner and the goals."""

import math
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.boosters.adaboost import AdaBoost, ExponentialState
from pacboost.boosters.booster import Booster, Measured
from pacboost.boosters.maximal_margin import AdaBoostV, ArcGV, MarginGoal
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.ledgers.ledger import Round
from pacboost.numerics.kl import kl
from pacboost.samples.sample import Sample
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.boosters.margins import best_of_stumps, small_set
from tests.examples import examples
from tests.grids import each_value, one_in
from tests.training.run.prefixes import class_samples, shares
from tests.worlds import make_sample, noisy

RULES = [AdaBoostV(0.1), AdaBoostV(0.7), ArcGV()]


def goal_of(entry: Round) -> float:
    """The goal that a vote speaks of: atanh(edge) - vote is its atanh."""
    return math.tanh(math.atanh(entry.edge) - entry.vote)


def surely(entries: list[Round], pairs: float) -> float:
    """(Σ ρ·vote + Σ kl - ln n)/Σ vote."""
    goals = [goal_of(e) for e in entries]
    kls = [kl((1 + g) / 2, (1 + e.edge) / 2) for g, e in zip(goals, entries, strict=True)]
    gained = math.fsum(g * e.vote for g, e in zip(goals, entries, strict=True)) + math.fsum(kls)
    return (gained - math.log(pairs)) / math.fsum(e.vote for e in entries)


@pytest.mark.parametrize("rules", RULES)
@given(class_samples(), st.booleans())
@examples(25)
def test_the_margin_that_is_surely_reached(rules: MarginGoal, sample: Sample, stumps: bool) -> None:
    """Also with weights, missing values, and many classes, whose pairs have margins."""
    learner = Stump() if stumps else Tree(max_leaves=3, min_leaf_rows=1)
    run = Run(sample, learner, rules)
    rarest = sample.signs.shape[1] / float(shares(sample).min())
    for _ in islice(run, 25):
        entries = [done.entry for done in run.done]
        if entries[-1].edge == 1 or not sum(e.vote for e in entries):
            return
        margin = entries[-1].margin
        assert margin is not None
        norm = math.fsum(e.vote for e in entries)
        assert margin == pytest.approx(float(run.margins.min()) / norm, abs=1e-12)
        assert margin >= surely(entries, rarest) - 1e-9
        gap = min(e.edge for e in entries) - margin
        assert entries[-1].gap == pytest.approx(gap, abs=1e-12)


@pytest.mark.parametrize("learner", [Stump(), Tree(max_leaves=4)])
def test_goals(learner: Learner) -> None:
    X, signs = noisy(200, 4, seed=1)
    run = Run(make_sample(X, signs), learner, AdaBoostV(0.2))
    entries = [done.entry for done in islice(run, 30)]
    for t, entry in enumerate(entries, start=1):
        assert goal_of(entry) == pytest.approx(min(e.edge for e in entries[:t]) - 0.2, abs=1e-9)
    run = Run(make_sample(X, signs), learner, ArcGV(1e-9))
    before = 0.0
    for done in islice(run, 400):
        assert goal_of(done.entry) == pytest.approx(max(0.0, before), abs=1e-9)
        before = done.entry.margin or 0.0
    assert before > 0 or isinstance(learner, Stump)


@pytest.mark.parametrize("edge", [0.4, 0.6])
def test_plain_adaboost_does_not_come_as_far(edge: float) -> None:
    """Its margin tends to -ln(1 - r²)/ln((1 + r)/(1 - r)), about r/2, where all edges are r."""

    def reached(rules: Booster[Any]) -> float:
        run = Run(make_sample(*noisy(100, 2, seed=2)), Adversary(edge), rules, seed=3)
        list(islice(run, 400))
        return float(run.margins.min()) / sum(done.entry.vote for done in run.done)

    limit = -math.log(1 - edge**2) / math.log((1 + edge) / (1 - edge))
    assert reached(AdaBoostV(0.1)) >= edge - 0.1 > limit + 0.04
    assert reached(ArcGV()) > limit + 0.02
    with pytest.raises(AssertionError):
        assert reached(AdaBoost()) > limit + 0.02


@one_in(3)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("rules", [ArcGV(0.02), AdaBoostV(0.05)])
def test_within_the_tolerance_of_a_linear_program(rules: MarginGoal, seed: int) -> None:
    X, signs = small_set(seed)
    best = best_of_stumps(make_sample(X, signs), 0.0)
    run = Run(make_sample(X, signs), Stump(), rules)
    list(islice(run, math.ceil(AdaBoostV(0.05).most_rounds(len(X)))))
    last = run.done[-1].entry
    assert last.margin is not None
    assert last.margin <= best + 1e-9
    if best > 1e-9 or isinstance(rules, AdaBoostV):  # ArcGV then is AdaBoost
        assert last.margin >= best - rules.tolerance - 1e-9
    assert last.gap is not None
    assert last.gap >= best - last.margin - 1e-9  # what is said to be missing is no less
    if str(run.stopped).startswith("a rule without mistakes"):
        assert best == pytest.approx(1)


@each_value
@pytest.mark.parametrize("order", ["random", "heavy", "light"])
@pytest.mark.parametrize("edge", [0.2, 0.5])
def test_the_margin_passes_any_below_the_edge(edge: float, order: str) -> None:
    run = Run(make_sample(*noisy(40, 2, seed=2)), Adversary(edge, order), ArcGV(0.1), seed=7)
    list(islice(run, 2000))
    assert str(run.stopped).startswith("the margin is")
    assert run.done[-1].entry.margin >= edge - 0.1  # type: ignore[operator]


@pytest.mark.parametrize("order", ["random", "heavy", "light"])
def test_the_margin_against_the_mean_of_past_goals(order: str) -> None:
    """m_T ≥ γ - E_T/2 - ln(n)/A_T, the inequality that makes the margin converge."""
    edge, rows = 0.3, 40
    run = Run(make_sample(*noisy(rows, 2, seed=5)), Adversary(edge, order), ArcGV(1e-6), seed=1)
    votes, missing, before = 0.0, 0.0, 0.0
    for done in islice(run, 150):
        vote, margin = done.entry.vote, done.entry.margin
        assert margin is not None
        assert done.entry.edge >= edge - 1e-9
        missing += vote * max(0.0, edge - max(0.0, before))
        votes, before = votes + vote, margin
        assert margin >= edge - missing / votes / 2 - math.log(rows) / votes - 1e-9


def test_no_vote_for_a_rule_below_the_margin() -> None:
    rules = ArcGV()
    state = rules.init(np.ones((3, 1), dtype=np.int8), np.ones(1))
    agree = np.ones((3, 1), dtype=np.int8)
    state = rules.step(state, agree, Measured(100, 1))
    assert rules.margin(state) == 1
    state = rules.init(np.ones((3, 1), dtype=np.int8), np.ones(1))
    for wrong in range(3):
        agree = np.where(np.arange(3) == wrong, -1, 1).astype(np.int8)[:, None]
        state = rules.step(state, agree, Measured(3, 1))
    assert 0.3 < rules.margin(state) <= 1 / 3
    assert rules.vote_at(state, 0.2) == 0


@each_value
@pytest.mark.parametrize("order", ["random", "heavy", "light"])
@pytest.mark.parametrize(("edge", "tolerance"), [(0.1, 0.15), (0.2, 0.1), (0.4, 0.1), (0.6, 0.3)])
def test_in_the_promised_rounds_all_rows_have_the_margin(
    edge: float, tolerance: float, order: str
) -> None:
    rules = AdaBoostV(tolerance)
    run = Run(make_sample(*noisy(300, 2, seed=2)), Adversary(edge, order), rules, seed=7)
    rounds = len(list(islice(run, math.ceil(rules.most_rounds(300)))))
    assert str(run.stopped).startswith("the margin is") or rounds >= rules.most_rounds(300)
    last = run.done[-1].entry
    smallest = min(done.entry.edge for done in run.done)
    assert smallest >= edge - 1e-9
    assert last.margin is not None
    assert last.gap is not None
    assert last.margin >= smallest - tolerance
    assert last.gap <= tolerance
    assert (run.margins[:, 0] >= (edge - tolerance - 1e-9) * rules.votes(run.state).sum()).all()


def test_a_tolerance_counted_twice_is_caught() -> None:
    """A goal of 2ν below the least edge, as if edges were advantages, loses the theorem."""

    class Twice(AdaBoostV):
        def goal(self, state: ExponentialState, edge: float) -> float:
            return min(state.extra[0], edge) - 2 * self.tolerance

        def stop(self, state: ExponentialState) -> None:
            return None

    run = Run(make_sample(*noisy(60, 2, seed=2)), Adversary(0.4), Twice(0.1), seed=7)
    list(islice(run, math.ceil(Twice(0.1).most_rounds(60))))
    with pytest.raises(AssertionError):
        assert run.done[-1].entry.margin >= 0.4 - 0.1  # type: ignore[operator]
