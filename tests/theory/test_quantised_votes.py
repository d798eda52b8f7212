"""Certificates by the rows learned from: what they count and refuse, and whether they hold."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from pacboost import AdaBoostClassifier
from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.occam import occam_bound
from pacboost.errors import NotCertified, ParameterError
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.vote import Vote
from pacboost.sources.arrays import ArrayTable
from pacboost.theory import certify_by_training_rows
from pacboost.theory.quantised_votes import merged
from tests.bounds.coverage import check_coverage, check_rejected
from tests.estimators.boosting.worlds import NOISY_BOX, coins, risk_of_stumps
from tests.runs import several_runs
from tests.worlds import noisy

X, Y = noisy(1000, 4, seed=3)


def parts(rows: int, share: float, random_state: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows that were learned from, and those that gave the bins."""
    seed = int(np.random.RandomState(random_state).randint(2**31)) + 1
    order = np.random.default_rng(seed).permutation(rows)
    n_held_out = round(rows * share)
    return np.sort(order[n_held_out:]), np.sort(order[:n_held_out])


def test_every_choice_is_counted_on_the_rows_that_gave_no_bins() -> None:
    choices = certify_by_training_rows(X, Y, 25, random_state=7)
    learned, apart = parts(1000, 0.2, 7)
    bounds = [choice.bound for choice in choices]
    assert bounds == sorted(bounds)
    assert len(bounds) > 10
    values = [set(X[apart, j].astype(np.float32).tolist()) for j in range(4)]
    base_rules = 1 + sum(2 * (len(column_values) - 1) + 1 for column_values in values)
    for choice in choices:
        votes = choice.vote.votes
        assert len(votes) == choice.rules
        assert set(votes) <= set(range(1, 2 ** (choice.bits - 1) + 1))
        scores = choice.vote.scores(ArrayTable(X))
        assert int((scores[learned] * Y[learned] <= 0).sum()) == choice.mistakes
        assert (scores[apart] * Y[apart] <= 0).mean() == choice.estimate
        assert (choice.predict(X) == np.where(scores > 0, 1, -1)).all()
        counted = (choice.mistakes, 800, base_rules, choice.rules, choice.bits, 0.05)
        assert choice.certificate.value == choice.bound == occam_bound(*counted)
        inputs = choice.certificate.inputs
        assert (inputs["mistakes"], inputs["n"], inputs["base_rules"]) == counted[:3]


def test_thresholds_are_those_of_the_rows_set_apart() -> None:
    _, apart = parts(1000, 0.2, 7)
    for rule in certify_by_training_rows(X, Y, 15, random_state=7)[-1].vote.hypotheses:
        assert isinstance(rule, StumpRule)
        if math.isfinite(rule.threshold):
            values = np.sort(X[apart, rule.feature].astype(np.float32)).astype(np.float64)
            assert values[0] < rule.threshold < values[-1]
            above = np.searchsorted(values, rule.threshold)
            assert rule.threshold == np.float32((values[above - 1] + values[above]) / 2)


def test_labels_and_columns_may_have_names() -> None:
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    labels = np.where(Y > 0, "yes", "no")
    best = certify_by_training_rows(frame, labels, 10, random_state=0)[0]
    assert best.classes.tolist() == ["no", "yes"]
    assert (best.predict(frame) != labels).mean() < best.bound < 0.5
    frame["side"] = np.where(X[:, 2] > 0, "left", "right")
    with pytest.raises(NotCertified, match="stumps"):  # sets of levels are other rules
        certify_by_training_rows(frame, X[:, 2] > 0, 10, random_state=0)


def test_merging_leaves_the_vote_as_it_is() -> None:
    model = AdaBoostClassifier(n_estimators=40).fit(X, Y)
    rules, weights = merged(model.model_.vote)
    assert len(set(rules)) == len(rules) < 40
    assert all(rule.above > 0 for rule in rules)
    scores = Vote(list(rules), weights).scores(model._open(X))
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-9)
    rule = StumpRule(0, 1.5, 1, 1, -1)
    constants = [StumpRule(j, math.inf, 3, sign, -sign) for j, sign in ((0, 1), (2, -1), (1, 1))]
    rules, weights = merged(Vote([rule, rule.negated(), *constants], np.array([3.0, 1, 1, 5, 1])))
    assert rules == [rule, StumpRule.constant(-1)]
    assert weights.tolist() == [2.0, -3.0]
    assert merged(Vote([rule, rule.negated()], np.ones(2)))[0] == []


SHARES = (0.0, 1.0, -0.2, 1.5, 1e-9, 1 - 1e-9, "0.2", True)
IMPOSSIBLE = [("share_for_bins", share) for share in SHARES]
IMPOSSIBLE += [("n_estimators", 0), ("max_bins", 1), ("delta", 1.0)]


@pytest.mark.parametrize(("name", "value"), IMPOSSIBLE)
def test_refuses_impossible_numbers(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=name):
        certify_by_training_rows(X, Y, **{name: value})


def test_refuses_classes_that_the_rows_of_the_bins_do_not_have() -> None:
    learned, _ = parts(1000, 0.2, 0)
    rare = Y.copy()
    rare[learned[0]] = 7
    for labels in (np.ones(1000), X[:, 0].round(), rare):
        with pytest.raises(NotCertified, match="share_for_bins"):
            certify_by_training_rows(X, labels, random_state=0)


def known_risk(vote: Vote) -> float:
    return risk_of_stumps(NOISY_BOX, vote.hypotheses, lambda Z: vote.scores(ArrayTable(Z)))


@pytest.mark.parametrize(
    ("runs", "rounds"), [(15, 10), pytest.param(4000, 30, marks=pytest.mark.slow)]
)
def test_coverage_on_a_noisy_box(runs: int, rounds: int) -> None:
    """The risk of each vote of stumps is known exactly."""
    broken = 0
    for seed in range(runs):
        X, y = NOISY_BOX.draw(300, seed)
        best = certify_by_training_rows(X, y, rounds, max_bins=16, random_state=seed)[0]
        broken += best.bound < known_risk(best.vote)
    check_coverage(f"training rows, noisy box, {rounds} rounds", broken, runs, 0.05)


@several_runs(15, 150)
def test_coverage_on_coin_flips_and_the_twin(runs: int) -> None:
    """The twin spends delta where the theorem spends delta times the prior."""
    delta = 0.05
    broken, without_prior = 0, 0
    for seed in range(runs):
        choices = certify_by_training_rows(*coins(seed, 200, 3), 10, max_bins=16, random_state=seed)
        broken += choices[0].bound < 0.5
        fewest = min(choice.mistakes for choice in choices)
        without_prior += clopper_pearson(fewest, 160, delta) < 0.5
    check_coverage("training rows, coin flips", broken, runs, delta)
    check_rejected("twin: training rows without the prior", without_prior, runs, delta)


@pytest.mark.slow
def test_coverage_on_coin_flips_in_full() -> None:
    """Few bins and one round: where the bound is as tight as it gets."""
    runs, broken = 4000, 0
    for seed in range(runs):
        try:
            choices = certify_by_training_rows(
                *coins(seed, 500, 1), 1, max_bins=2, delta=0.2, random_state=seed
            )
        except NotCertified:  # no stump has an edge
            continue
        broken += choices[0].bound < 0.5
    check_coverage("training rows, coin flips, one round", broken, runs, 0.2)
