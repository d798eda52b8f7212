"""Certificates made while fitting: what is counted, what is refused, and whether they hold."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost import AdaBoostClassifier
from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.occam import occam_bound
from pacboost.errors import NoEdgeWarning, NotCertified, OneClassWarning, ParameterError
from pacboost.estimators.boosting.certifying import merged
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.vote import Vote
from pacboost.theory.worlds import Boxes, LabelNoise
from tests.bounds.coverage import check_coverage, check_rejected
from tests.runs import several_runs
from tests.worlds import noisy

X, Y = noisy(1000, 4, seed=3)


def parts(rows: int, share: float, random_state: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows that were learned from, and those set apart, for a whole number as seed."""
    seed = int(np.random.RandomState(random_state).randint(2**31)) + 1
    order = np.random.default_rng(seed).permutation(rows)
    held = round(rows * share)
    return np.sort(order[held:]), np.sort(order[:held])


def recount(model: AdaBoostClassifier, rows: NDArray[np.intp]) -> int:
    scores = model.decision_function(X[rows])
    return int((scores * Y[rows] <= 0).sum())


@pytest.mark.parametrize(("share", "delta"), [(0.2, 0.05), (0.35, 0.01)])
def test_holdout_counts_the_rows_set_apart(share: float, delta: float) -> None:
    model = AdaBoostClassifier(
        n_estimators=15, certify="holdout", holdout=share, delta=delta, random_state=7
    ).fit(X, Y)
    learned, apart = parts(1000, share, 7)
    inputs = model.certificate_.inputs
    assert model.ledger_.rows == learned.size
    assert inputs["n"] == apart.size == round(1000 * share)
    assert inputs["k"] == recount(model, apart)
    assert model.certificate_.value == clopper_pearson(int(inputs["k"]), apart.size, delta)
    plain = AdaBoostClassifier(n_estimators=15).fit(X[learned], Y[learned])
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))


def test_train_counts_the_rows_that_gave_no_bins() -> None:
    model = AdaBoostClassifier(n_estimators=15, certify="train", random_state=7).fit(X, Y)
    learned, apart = parts(1000, 0.2, 7)
    assert model.ledger_.rows == model.certificate_.inputs["n"] == learned.size == 800
    assert model.model_.bins is not None
    edges = [set(t.tolist()) for t in model.model_.bins.thresholds]
    for rule in model.estimators_:
        assert rule.threshold in edges[rule.feature]
    for j, thresholds in enumerate(model.model_.bins.thresholds):
        assert thresholds.size <= apart.size
        assert thresholds.max(initial=-math.inf) <= np.float32(X[apart, j].max())


def test_choices_change_vote_and_certificate_together() -> None:
    model = AdaBoostClassifier(n_estimators=25, certify="train", random_state=7).fit(X, Y)
    learned, apart = parts(1000, 0.2, 7)
    assert model.model_.bins is not None
    base_rules = 1 + sum(2 * t.size + 1 for t in model.model_.bins.thresholds)
    bounds = [choice.bound for choice in model.choices_]
    assert bounds == sorted(bounds)
    assert len(bounds) > 10
    assert model.certificate_.value == bounds[0]
    for number, choice in enumerate(model.choices_):
        assert model.choose(number) is model
        votes = model.votes_
        assert len(votes) == choice.rules
        assert (votes == np.rint(votes)).all()
        assert votes.min() >= 1
        assert votes.max() <= 2 ** (choice.bits - 1)
        assert recount(model, learned) == choice.mistakes
        assert recount(model, apart) / apart.size == choice.estimate
        certificate = model.certificate_
        assert certificate.inputs["mistakes"] == choice.mistakes
        assert certificate.inputs["base_rules"] == base_rules
        assert certificate.value == choice.bound
        assert choice.bound == occam_bound(
            choice.mistakes, 800, base_rules, choice.rules, choice.bits, 0.05
        )
        assert certificate.ledger_digest == model.ledger_.digest()


def test_merging_leaves_the_vote_as_it_is() -> None:
    model = AdaBoostClassifier(n_estimators=40).fit(X, Y)
    rules, weights = merged(model.model_.vote)
    assert len(set(rules)) == len(rules) < 40
    assert all(rule.above > 0 for rule in rules)
    again = Vote(list(rules), weights)
    rows = model._open(X)
    np.testing.assert_allclose(again.scores(rows), model.decision_function(X), atol=1e-9)


def test_merging_knows_opposites_and_constants() -> None:
    rule = StumpRule(0, 1.5, 1, 1, -1)
    constants = [StumpRule(j, math.inf, 3, sign, -sign) for j, sign in ((0, 1), (2, -1), (1, 1))]
    rules, weights = merged(Vote([rule, rule.negated(), *constants], np.array([3.0, 1, 1, 5, 1])))
    assert rules == [rule, StumpRule.constant(-1)]
    assert weights.tolist() == [2.0, -3.0]
    assert merged(Vote([rule, rule.negated()], np.ones(2)))[0] == []


@pytest.mark.parametrize("way", ["holdout", "train"])
def test_file_and_pickle_keep_the_certificate(way: str, tmp_path: Path) -> None:
    model = AdaBoostClassifier(n_estimators=8, certify=way, random_state=3).fit(X, Y)
    if way == "train":
        model.choose(3)
    model.save(tmp_path / "model.json")
    loaded = pacboost.load(tmp_path / "model.json")
    assert loaded.certificate_ == model.certificate_
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    copy = pickle.loads(pickle.dumps(model))
    assert copy.certificate_ == model.certificate_
    assert all(check.holds for check in pacboost.verify(tmp_path / "model.json"))
    if way == "train":
        assert copy.choose(0).certificate_.value == model.choices_[0].bound


def test_choose_refuses_what_is_no_choice() -> None:
    model = AdaBoostClassifier(n_estimators=8, certify="train", random_state=3).fit(X, Y)
    for number in (len(model.choices_), 10**6, -1, 1.5, "best"):
        with pytest.raises(ParameterError):
            model.choose(number)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="certify='train'"):
        AdaBoostClassifier().choose(0)


@pytest.mark.parametrize("way", ["holdout", "train"])
@pytest.mark.parametrize("share", [0.0, 1.0, -0.2, 1.5, 1e-9, 1 - 1e-9, "0.2", True])
def test_refuses_shares(way: str, share: Any) -> None:
    with pytest.raises(ParameterError, match="holdout"):
        AdaBoostClassifier(certify=way, holdout=share).fit(X, Y)


def test_refuses_weights_of_training_rows_but_not_equal_ones() -> None:
    model = AdaBoostClassifier(n_estimators=3, certify="train", random_state=1)
    with pytest.raises(ParameterError, match="weights"):
        model.fit(X, Y, sample_weight=np.arange(1000) + 1.0)
    assert not hasattr(model, "model_")
    model.fit(X, Y, sample_weight=np.full(1000, 2.0))


def test_train_refuses_what_cannot_be_counted() -> None:
    with pytest.raises(ParameterError, match="warm_start"):
        AdaBoostClassifier(certify="train", warm_start=True).fit(X, Y)
    box = DecisionTreeClassifier(max_depth=1)
    with pytest.raises(NotCertified, match=r"counts stumps.*certify='holdout'"):
        AdaBoostClassifier(box, n_estimators=2, certify="train").fit(X, Y)
    with pytest.raises(NotCertified, match=r"counts stumps.*certify='holdout'"):
        AdaBoostClassifier(
            lambda X, y, weights: lambda Z: Z[:, 0], n_estimators=2, certify="train"
        ).fit(X, Y)


def test_one_class_and_no_edge_are_still_certified_or_said() -> None:
    for way in ("holdout", "train"):
        model = AdaBoostClassifier(certify=way, random_state=0)
        with pytest.warns(OneClassWarning):
            model.fit(X, np.ones(1000))
        assert model.certificate_.value < 0.05
    rows = np.array([[0.0], [0.0], [1.0], [1.0]] * 50)
    labels = np.array([0, 1] * 100)
    model = AdaBoostClassifier(certify="holdout", random_state=5)
    learned, apart = parts(200, 0.2, 5)
    flips = np.array([0, 0, 1, 1] * 40)  # balanced in both values: no edge at all
    rows[learned, 0] = np.array([0.0, 1.0] * 80)
    labels[learned] = flips
    with pytest.warns(NoEdgeWarning):
        model.fit(rows, labels)
    assert model.certificate_.inputs["k"] == apart.size  # ties are mistakes
    assert model.certificate_.vacuous


def known_risk(world: LabelNoise, model: AdaBoostClassifier) -> float:
    inner = world.world
    assert isinstance(inner, Boxes)
    cuts: list[list[float]] = [[] for _ in range(inner.features)]
    for rule in model.estimators_:
        if math.isfinite(rule.threshold):
            cuts[rule.feature].append(rule.threshold)
    clean = inner.piecewise_risk(model.decision_function, cuts)
    return float(world.noisy_risk(clean))


def violations(way: str, runs: int, rows: int, rounds: int) -> int:
    """On a box with noisy labels, where the risk of each vote of stumps is known exactly."""
    world = LabelNoise(Boxes((0.3, 0.0), (0.8, 0.6)), 0.2)
    broken = 0
    for seed in range(runs):
        model = AdaBoostClassifier(
            n_estimators=rounds, certify=way, random_state=seed, max_bins=16, n_jobs=1
        ).fit(*world.draw(rows, seed))
        broken += model.certificate_.value < known_risk(world, model)
    return broken


@several_runs(15, 120)
@pytest.mark.parametrize("way", ["holdout", "train"])
def test_coverage_on_a_noisy_box(way: str, runs: int) -> None:
    check_coverage(f"certify={way!r}, noisy box", violations(way, runs, 300, 10), runs, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["holdout", "train"])
def test_coverage_on_a_noisy_box_in_full(way: str) -> None:
    broken = violations(way, 4000, 300, 30)
    check_coverage(f"certify={way!r}, noisy box, 30 rounds", broken, 4000, 0.05)


def coins(seed: int, rows: int, features: int) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Labels are coin flips: whatever is learned, its risk is 1/2."""
    generator = np.random.default_rng(seed)
    return generator.random((rows, features)), generator.choice([-1, 1], size=rows).astype(np.int8)


@several_runs(80, 150)
def test_coverage_on_coin_flips_and_the_twins(runs: int) -> None:
    delta = 0.05
    count = dict.fromkeys(("holdout", "training rows", "best of 50"), 0)
    for seed in range(runs):
        rows, labels = coins(seed, 200, 3)
        model = AdaBoostClassifier(
            n_estimators=50, certify="holdout", random_state=seed, max_bins=16, n_jobs=1
        ).fit(rows, labels)
        count["holdout"] += model.certificate_.value < 0.5
        learned, apart = parts(200, 0.2, seed)
        wrong = int((model.predict(rows[learned]) != labels[learned]).sum())
        count["training rows"] += clopper_pearson(wrong, learned.size, delta) < 0.5
        staged = model.staged_predict(rows[apart])
        least = min(int((answers != labels[apart]).sum()) for answers in staged)
        count["best of 50"] += clopper_pearson(least, apart.size, delta) < 0.5
    check_coverage("certify='holdout', coin flips", count["holdout"], runs, delta)
    check_rejected("twin: Clopper-Pearson on training rows", count["training rows"], runs, delta)
    check_rejected("twin: best of 50 rounds, unpaid", count["best of 50"], runs, delta)


@several_runs(15, 150)
def test_coverage_of_training_rows_on_coin_flips_and_the_twin(runs: int) -> None:
    delta = 0.05
    broken, without_prior = 0, 0
    for seed in range(runs):
        rows, labels = coins(seed, 200, 3)
        model = AdaBoostClassifier(
            n_estimators=10, certify="train", random_state=seed, max_bins=16, n_jobs=1
        ).fit(rows, labels)
        broken += model.certificate_.value < 0.5
        fewest = min(choice.mistakes for choice in model.choices_)
        without_prior += clopper_pearson(fewest, model.ledger_.rows, delta) < 0.5
    check_coverage("certify='train', coin flips", broken, runs, delta)
    check_rejected("twin: 'train' without the prior", without_prior, runs, delta)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pacboost.errors.NoEdgeWarning")
@pytest.mark.parametrize("way", ["holdout", "train"])
def test_coverage_on_coin_flips_in_full(way: str) -> None:
    """Few bins and one round: where the bound of 'train' is as tight as it gets."""
    runs, broken = 4000, 0
    for seed in range(runs):
        model = AdaBoostClassifier(
            n_estimators=1, certify=way, random_state=seed, max_bins=2, n_jobs=1, delta=0.2
        ).fit(*coins(seed, 500, 1))
        broken += model.certificate_.value < 0.5
    check_coverage(f"certify={way!r}, coin flips, one round", broken, runs, 0.2)
