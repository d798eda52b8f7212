"""All boosters: what they refuse, and that a break leaves no trace."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import numpy as np
import pytest

from pacboost.boosters.booster import Booster
from pacboost.boosters.brown import Brown
from pacboost.boosters.graph_separation import GraphSeparation
from pacboost.boosters.majority import Majority
from pacboost.boosters.maximal_margin import AdaBoostV, ArcGV
from pacboost.boosters.registry import BOOSTERS, LOSSES
from pacboost.errors import ParameterError
from pacboost.hypotheses.majority import rules_behind
from pacboost.kernels.runtime.threads import using
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.samples.sample import Sample
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.boosters.margins import NAMES, SOFT
from tests.worlds import make_sample, noisy

REFUSED: list[tuple[list[str], str, list[float]]] = [
    (["adaboost", "filter_boost", "gentle", "logit", "mada"], "learning_rate",
     [0.0, -1.0, math.nan, math.inf]),
    (["absolute", "gamma", "huber", "poisson", "quantile", "square"], "learning_rate",
     [0.0, -1.0, 1.5, math.nan, math.inf]),
    (["gamma", "logit", "poisson", "square"], "l2", [-1.0, math.nan, math.inf]),
    (["brown", "majority", "measure", "projection", "smooth"], "epsilon", [0.0, 1.0, math.nan]),
    (["majority", "measure", "projection", "smooth"], "edge", [0.0, 1.0, math.nan]),
    (["adaboost_v", "arc_gv"], "tolerance", [0.0, -0.1, 1.0, math.nan]),
    (NAMES, "tolerance", [0.0, -1.0, 2.0, math.nan]),
    ([*SOFT], "share", [-0.1, 1.0, 1.5, math.nan]),
    (["measure"], "share", [0.0, 1.1]),
    (["adaboost"], "max_vote", [0.0]),
    (["logit"], "max_target", [0.0, math.nan]),
    (["quantile"], "quantile", [0.0, 1.0, math.nan]),
    (["huber"], "alpha", [0.0, 1.5]),
]  # fmt: skip


@pytest.mark.parametrize(("names", "parameter", "values"), REFUSED)
def test_bad_parameters_are_refused(names: list[str], parameter: str, values: list[float]) -> None:
    for name in names:
        for value in values:
            with pytest.raises(ParameterError, match=f"{parameter} is {value}"):
                {**BOOSTERS, **LOSSES}[name](**{parameter: value})


def same_after_a_break(
    sample: Sample, learner: Learner, booster: Booster[Any], rounds: int, after: int
) -> Run:
    """Hold a resumed run against an uninterrupted one, bit for bit; give the latter."""
    complete = Run(sample, learner, booster, seed=5)
    list(islice(complete, rounds))
    first = Run(sample, learner, booster, seed=5)
    list(islice(first, after))
    ledger, vote = first.ledger(), rules_behind(first.vote())
    if booster.revises or not ledger.cells:
        assert [entry.vote for entry in ledger.rounds] == vote.votes.tolist()
    second = Run(sample, learner, booster, seed=5)
    second.resume(vote.hypotheses, vote.votes.tolist(), ledger.rounds)
    assert second.stopped == first.stopped
    list(islice(second, rounds - after))
    assert second.ledger().core() == complete.ledger().core()
    assert (second.margins == complete.margins).all()
    mine, theirs = (booster.request(run.state).weights for run in (second, complete))
    assert (mine == theirs).all()
    scores = second.vote().scores(sample.table)
    assert np.array_equal(scores, complete.vote().scores(sample.table))
    return complete


@pytest.mark.parametrize(
    "booster",
    [AdaBoostV(0.1), AdaBoostV(0.7), ArcGV(), Brown(0.05), GraphSeparation(), Majority(0.05, 0.1)],
)
@pytest.mark.parametrize("learner", [Stump(), Tree(max_leaves=3), Adversary(0.1)])
def test_broken_off_and_taken_up_again(booster: Booster[Any], learner: Learner) -> None:
    X, signs = noisy(150, 3, seed=4)
    run = same_after_a_break(make_sample(X, signs), learner, booster, 12, 5)
    if booster.name == "majority":
        restored = Run(run.sample, learner, booster, seed=5)
        with using(1):
            list(islice(restored, 12))
        assert restored.ledger().core() == run.ledger().core()
