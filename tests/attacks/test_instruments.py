"""What games, hard cores and simulations say of a learner is true where it nearly is not."""

from __future__ import annotations

import re
from decimal import Decimal

import numpy as np
import pytest
from numpy.typing import NDArray

import pacboost
from pacboost import theory
from pacboost.bounds.holdout import clopper_pearson, clopper_pearson_lower
from pacboost.errors import PacboostError
from pacboost.samples.bins import fit_bins
from pacboost.sources.arrays import ArrayTable
from pacboost.theory.worlds import Boxes

CONTRADICTION = np.zeros((4, 1)), np.array([0, 1, 0, 1])


def odd_max_bit(features: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows whose label is the parity of their last 1: weights of votes have to grow as 1.6^i."""
    place = np.arange(features)
    rows = {}
    for last in range(features):
        for first in (place < 0, (place < last) & ((last - place) % 2 == 1)):
            rows[tuple((first | (place == last)).astype(float))] = last % 2
    return np.array(list(rows)), np.array(list(rows.values()))


def test_a_small_margin_is_not_denied() -> None:
    X, y = odd_max_bit(36)
    votes = [1]
    for feature in range(1, 36):
        votes.append(1 + sum(votes[feature - 1 :: -2]))
    signed = np.where(np.arange(36) % 2 == 1, votes, np.negative(votes))
    assert len(X) == 71
    assert ((X @ signed) * (2 * y - 1)).min() / sum(votes) > 1e-8  # a vote of stumps, x_i > 1/2
    found = theory.game("stump", X, y, max_rounds=80, hedge_rounds=1)
    assert found.lower < 2.7e-8 < found.upper
    assert "cannot be boosted" not in found.sentence


def test_what_cannot_be_boosted_has_an_upper_end_of_zero() -> None:
    for seed in range(6):
        generator = np.random.default_rng(seed)
        X, y = generator.integers(0, 4, (60, 2)).astype(float), generator.integers(0, 2, 60)
        found = theory.game("stump", X, y, hedge_rounds=5)
        assert found.certified
        assert found.lower <= 0 == found.upper
        assert "cannot be boosted" in found.sentence


def test_values_that_32_bits_merge_certify_nothing() -> None:
    times = 1.7e9 + 10 * np.arange(40.0)[:, None]  # one stump is right on all rows
    labels = (np.arange(40) >= 17).astype(int)
    found = theory.game("stump", times, labels, hedge_rounds=5)
    assert not found.certified
    assert "cannot be boosted" not in found.sentence
    assert "subtract the least value" in found.sentence
    again = theory.game("stump", times - times[0], labels, hedge_rounds=5)
    assert again.certified
    assert again.lower == 1


def test_promised_rounds_name_the_bins_they_need() -> None:
    X = np.arange(700.0)[:, None]
    kept = set(np.floor(fit_bins(ArrayTable(X)).thresholds[0]))
    place = next(row for row in range(300, 700) if row not in kept)
    y = (X[:, 0] > place).astype(int)
    found = theory.game("stump", X, y, hedge_rounds=5)
    promised = re.search(r"([\d,]+) rounds of AdaBoost with max_bins=(\d+) ", found.sentence)
    assert promised is not None
    rounds, bins = (int(number.replace(",", "")) for number in promised.groups())
    assert bins == found.max_bins == 700
    for most, right in ((bins, True), (255, False)):
        model = pacboost.BoostClassifier(
            booster="adaboost", learner="stump", n_estimators=rounds, max_bins=most, certify=None
        ).fit(X, y)
        assert bool((model.predict(X) == y).all()) == right


def test_contradicting_rows_have_a_hard_core_for_any_edge() -> None:
    for edge in (1e-9, 1e-7, 0.1):
        found = theory.hard_core("stump", *CONTRADICTION, edge, 0.5)
        assert found.measure is not None
        assert found.upper == 0


def test_no_hard_core_is_denied_by_a_vote_that_says_nothing() -> None:
    X, y = odd_max_bit(36)
    with pytest.raises(PacboostError, match="undecided"):
        theory.hard_core("stump", X, y, 1e-9, 1 / len(X), max_rounds=80)
    X, y = odd_max_bit(12)
    found = theory.hard_core("stump", X, y, 1e-9, 1 / len(X))
    assert found.vote is not None
    assert found.lower > 0 == found.error


def test_a_density_of_one_row_is_a_density() -> None:
    X = np.arange(49.0)[:, None]
    found = theory.hard_core("stump", X, X[:, 0] > 20, 0.5, 1 / 49)
    assert found.vote is not None
    assert found.error == 0
    with pytest.raises(pacboost.errors.ParameterError, match="1/49 or more"):
        theory.hard_core("stump", X, X[:, 0] > 20, 0.5, 1 / 50)


def test_the_ends_of_a_simulation_are_paid_for_before_the_runs() -> None:
    """Whether all risks were found exactly is seen in the runs, so it must not choose the level."""
    world, delta, trials = Boxes((0.2, 0.3), (0.7, 0.9)), 0.05, 100
    found = theory.pac(theory.RectangleClassifier(), world, 60, trials=trials, delta=delta)
    assert found.undecided == 0
    level = (delta - 0.1 * delta) / 2
    assert found.lower == clopper_pearson_lower(found.failures, trials, level)
    assert found.upper == clopper_pearson(found.failures, trials, level)


def test_printed_ends_are_rounded_outward() -> None:
    world = Boxes((0.2, 0.3), (0.7, 0.9))
    for seed in range(5):
        found = theory.pac(theory.RectangleClassifier(), world, 50, trials=40, seed=seed)
        ends = re.search(r"between (\S+) and (\S+) ", found.sentence)
        assert ends is not None
        low, high = (Decimal(end) for end in ends.groups())
        assert low <= Decimal(found.lower)
        assert Decimal(found.upper) <= high
        for bound, line in zip(found.bounds, str(found).splitlines()[2:], strict=True):
            assert Decimal(line.split()[0]) >= Decimal(bound.value)
