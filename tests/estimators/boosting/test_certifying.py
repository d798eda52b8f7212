"""Certificates made while fitting: what is counted, what is refused, and whether they hold."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost import AdaBoostClassifier
from pacboost.bounds.holdout import clopper_pearson
from pacboost.errors import NoEdgeWarning, OneClassWarning, ParameterError
from tests.bounds.coverage import check_coverage, check_rejected
from tests.estimators.boosting.worlds import NOISY_BOX, coins, risk_of_stumps
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


@pytest.mark.parametrize("share", [0.0, 1.0, -0.2, 1.5, 1e-9, 1 - 1e-9, "0.2", True])
def test_refuses_shares(share: Any) -> None:
    with pytest.raises(ParameterError, match="holdout"):
        AdaBoostClassifier(certify="holdout", holdout=share).fit(X, Y)


def test_one_class_and_no_edge_are_still_certified_or_said() -> None:
    model = AdaBoostClassifier(certify="holdout", random_state=0)
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


def violations(runs: int, rows: int, rounds: int) -> int:
    """On a box with noisy labels, where the risk of each vote of stumps is known exactly."""
    broken = 0
    for seed in range(runs):
        model = AdaBoostClassifier(
            n_estimators=rounds, certify="holdout", random_state=seed, max_bins=16, n_jobs=1
        ).fit(*NOISY_BOX.draw(rows, seed))
        risk = risk_of_stumps(NOISY_BOX, model.estimators_, model.decision_function)
        broken += model.certificate_.value < risk
    return broken


@several_runs(15, 4000)
def test_coverage_on_a_noisy_box(runs: int) -> None:
    check_coverage("certify='holdout', noisy box", violations(runs, 300, 10), runs, 0.05)


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
