"""Boosting by majority on draws: fixed rounds, chances from counts, and coins."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pacboost import FilterBoostClassifier
from pacboost.boosters.majority import Majority
from pacboost.hypotheses.stump import StumpRule
from pacboost.training.filtering.plan import KEPT
from tests.estimators.filter_sources import noisy


@pytest.mark.slow
def test_by_the_book() -> None:
    """An edge is promised: a sample of its own for every round, and no more rounds than k.

    Rules that pass their test have 0.4 of the promised edge, so k is that of this edge.
    """
    X, y = noisy(40_000)
    model = FilterBoostClassifier(booster="majority", edge=0.4, epsilon=0.3, random_state=0)
    model.fit(X, y)
    rounds = Majority(KEPT * 0.4, 0.3).rounds
    assert len(model.ledger_) <= rounds
    certain = "the error is at most 0.3" in model.ledger_.stopped
    assert certain or len(model.ledger_) == rounds
    new, truth = noisy(20_000, seed=9)
    assert np.mean(model.predict(new) != truth) <= 0.25
    assert model.certificate_.value <= 0.3


def test_an_edge_that_the_learner_does_not_have() -> None:
    X, y = noisy(40_000)
    model = FilterBoostClassifier("majority", "stump", edge=0.5, epsilon=0.1, random_state=0)
    stopped = model.fit(X, y).ledger_.stopped
    told = re.search(r"an edge of ([\d.]+) on .* surely below 0.25; promised was .* 0.5", stopped)
    assert told is not None, stopped
    assert float(told[1]) < 0.25
    assert len(model.ledger_) < Majority(0.5, 0.1).rounds


def test_without_a_promise_the_default_one_is_made() -> None:
    X, y = noisy(20_000)
    model = FilterBoostClassifier(booster="majority", n_estimators=20, random_state=0).fit(X, y)
    assert len(model.ledger_) == 20
    assert {entry.vote for entry in model.ledger_.rounds} == {Majority().rate}
    assert model.score(*noisy(5_000, seed=9)) > 0.8


def test_where_next_to_nothing_is_left_a_coin_will_do() -> None:
    """Labels that one rule tells: after two of three rounds all rows are decided."""
    generator = np.random.default_rng(0)
    X = generator.integers(2, size=(20_000, 2)).astype(float)
    y = X[:, 0].astype(int)
    rules = Majority(edge=0.9, epsilon=0.02)
    model = FilterBoostClassifier(booster=rules, learner="stump", edge=0.9, random_state=0)
    model.fit(X, y)
    entries = model.ledger_.rounds
    assert len(entries) == rules.rounds == 3
    assert [entry.edge > 0.9 for entry in entries] == [True, True, False]
    assert entries[-1].rule.startswith("next to nothing is left to learn from: always")
    last = model.estimators_[-1]
    assert isinstance(last, StumpRule)
    assert last.is_constant
    assert {entry.vote for entry in entries} == {rules.rate}
    assert model.score(X, y) > 0.99
