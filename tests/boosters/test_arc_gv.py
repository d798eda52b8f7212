"""ArcGV: the margin grows to the largest that a linear program finds."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest

from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.booster import Measured
from pacboost.boosters.maximal_margin import ArcGV
from pacboost.learners.stump import Stump
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.boosters.largest_margin import all_stumps, largest_margin, small_set
from tests.worlds import make_sample, noisy


@pytest.mark.thinned(3)
@pytest.mark.parametrize("seed", range(8))
def test_the_margin_comes_near_that_of_a_linear_program(seed: int) -> None:
    X, signs = small_set(seed)
    best = largest_margin(signs[:, None] * all_stumps(X))
    run = Run(make_sample(X, signs), Stump(), ArcGV(tolerance=0.02))
    list(islice(run, 2000))
    last = run.done[-1].entry
    assert last.margin is not None
    assert last.gap is not None
    assert last.margin <= best + 1e-9
    assert last.gap >= best - last.margin - 1e-9
    if best > 1e-9:  # below, it is AdaBoost, which promises nothing
        assert last.margin >= best - 0.02


@pytest.mark.parametrize("order", ["random", "heavy", "light"])
@pytest.mark.parametrize("edge", [0.2, 0.5])
def test_the_margin_passes_any_below_the_edge(edge: float, order: str) -> None:
    X, signs = noisy(40, 2, seed=2)
    run = Run(make_sample(X, signs), Adversary(edge, order), ArcGV(0.1), seed=7)
    list(islice(run, 2000))
    assert run.stopped.startswith("the margin is")
    assert run.done[-1].entry.margin >= edge - 0.1  # type: ignore[operator]


@pytest.mark.parametrize("order", ["random", "heavy", "light"])
def test_the_margin_against_the_mean_of_past_goals(order: str) -> None:
    """m_T ≥ γ - E_T/2 - ln(n)/A_T, the inequality that makes the margin converge."""
    edge, rows = 0.3, 40
    X, signs = noisy(rows, 2, seed=5)
    run = Run(make_sample(X, signs), Adversary(edge, order), ArcGV(1e-6), seed=1)
    votes, missing, before = 0.0, 0.0, 0.0
    for done in islice(run, 500):
        vote, margin = done.entry.vote, done.entry.margin
        assert margin is not None
        assert done.entry.edge >= edge - 1e-9
        missing += vote * max(0.0, edge - max(0.0, before))
        votes, before = votes + vote, margin
        assert margin >= edge - missing / votes / 2 - math.log(rows) / votes - 1e-9


def test_it_is_adaboost_until_all_rows_are_right() -> None:
    X, signs = noisy(200, 4, seed=1)
    arc, ada = (Run(make_sample(X, signs), Stump(), rules) for rules in (ArcGV(), AdaBoost()))
    for mine, theirs in islice(zip(arc, ada, strict=True), 40):
        assert mine.entry.vote == pytest.approx(theirs.entry.vote, abs=1e-11)
        assert mine.entry.training_error > 0


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
