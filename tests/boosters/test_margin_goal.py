"""Votes that aim at a margin: what is surely reached, whatever the learner and the goals."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.booster import Booster
from pacboost.boosters.maximal_margin import AdaBoostV, ArcGV, MarginGoal
from pacboost.errors import ParameterError
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.ledgers.ledger import Round
from pacboost.numerics.kl import kl
from pacboost.samples.sample import Sample
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.boosters.breaks import same_after_a_break
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
@settings(max_examples=25, deadline=None)
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
    X, signs = noisy(100, 2, seed=2)

    def reached(rules: Booster[Any]) -> float:
        run = Run(make_sample(X, signs), Adversary(edge), rules, seed=3)
        list(islice(run, 800))
        return float(run.margins.min()) / sum(done.entry.vote for done in run.done)

    limit = -math.log(1 - edge**2) / math.log((1 + edge) / (1 - edge))
    assert reached(AdaBoostV(0.1)) >= edge - 0.1 > limit + 0.04
    assert reached(ArcGV()) > limit + 0.02
    with pytest.raises(AssertionError):
        assert reached(AdaBoost()) > limit + 0.02


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("learner", [Stump(), Tree(max_leaves=3), Adversary(0.3)])
def test_broken_off_and_taken_up_again(rules: MarginGoal, learner: Learner) -> None:
    X, signs = noisy(150, 3, seed=4)
    same_after_a_break(make_sample(X, signs), learner, rules, 12, 5)


@pytest.mark.parametrize("tolerance", [0.0, -0.1, 1.0, math.nan])
def test_bad_tolerances(tolerance: float) -> None:
    for rules in (AdaBoostV, ArcGV):
        with pytest.raises(ParameterError, match="tolerance"):
            rules(tolerance)
