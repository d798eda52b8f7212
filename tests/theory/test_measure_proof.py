"""The sheet of lecture 003 in fractions holds on runs of the measure, and broken twins fail."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from pacboost import BoostClassifier
from pacboost.boosters.filtering import Measure
from pacboost.errors import DataError, ParameterError
from pacboost.sources.toy import lecture_points
from pacboost.theory import proof, weights
from pacboost.theory.learners import Scripted
from pacboost.theory.measure_proof import MeasureProof, Wholes, prove

X, y = lecture_points()
PROMISE, LINE, RECORD = 1, 3, 4
"""Places of three inequalities in a round."""


def fitted(booster: Measure, learner: object = "stump", rounds: int = 400) -> BoostClassifier:
    return BoostClassifier(booster, learner, rounds).fit(X, y)


def test_the_sheet_of_the_ten_points() -> None:
    sheet = proof(fitted(Measure(0.3, 0.1, share=1.0)), X, y)
    assert isinstance(sheet, MeasureProof)
    assert sheet.holds
    assert (sheet.slope, sheet.most_rounds) == (Fraction(3, 100), 1111)
    second = sheet[1]
    assert second.floors.tolist() == [1, 1, -1, -1, -1, 1, 1, 1, 1, 1]
    assert list(second.measure[:3]) == [Fraction(97, 100), Fraction(97, 100), 1]
    assert (second.mean, second.advantage) == (Fraction(979, 1000), Fraction(397, 1000))
    assert list(second.collected[:3]) == [Fraction(197, 100), Fraction(197, 100), 0]
    assert sum(sheet.up.values()) + sum(sheet.down.values()) == 10 * len(sheet)
    gained = sum(step.advantage for step in sheet.rounds)
    assert gained == sum(sheet[-1].collected) / 10 <= sheet.line(len(sheet))
    assert "every inequality holds" in str(sheet)


def test_weights_of_rows_and_many_rows() -> None:
    weights = np.arange(1.0, 11.0) / 3
    model = BoostClassifier(Measure(0.2, 0.1), "stump", 30).fit(X, y, weights)
    assert proof(model, X, y, weights).holds
    tumours, kind = load_breast_cancer(return_X_y=True)
    assert proof(BoostClassifier("measure", "stump", 30).fit(tumours, kind), tumours, kind).holds


class Steep(Measure):
    """A measure that falls twice as fast as its edge and error allow: the usual slip."""

    @property
    def slope(self) -> float:
        return 2 * super().slope


def test_a_steep_measure_fails_in_the_first_round_whose_weights_differ() -> None:
    sheet = proof(fitted(Steep(0.3, 0.1, share=1.0)), X, y)
    assert sheet.broken[0] == (2, sheet[1].claims[RECORD])
    assert "broken in round 2, distance of μ" in str(sheet)


def test_a_broken_promise_fails_in_its_round() -> None:
    # The third rule has an edge of .1 or less, of the .3 promised.
    learner = Scripted({3: (0, 5.0, 1)})
    sheet = proof(fitted(Measure(0.3, 0.1, share=1.0), learner, 5), X, y)
    assert sheet.broken == ((3, sheet[2].claims[PROMISE]),)


def naive(floors: Wholes, numerator: int, denominator: int) -> Wholes:
    """Keep what the vote gets wrong, and nothing else."""
    return np.where(floors <= 0, denominator, 0)


def test_the_naive_filter_crosses_the_line() -> None:
    theta, rounds = Fraction(1, 10), 40
    ride = [np.array([1 if i % 2 == 0 else -1], dtype=np.int8) for i in range(rounds)]
    rules = ["up and down"] * rounds
    # Up from floor 0 it collects 1, and back from floor 1 it pays nothing.
    found = prove(ride, np.ones(1), Fraction(1, 2), 2 * theta, rules, [1.0] * rounds, naive)
    first = next(number for number, claim in found.broken if claim.claim.startswith("largest A"))
    line = [1 / (2 * theta) + theta * i / 2 for i in range(rounds + 1)]
    assert first == next(i for i in range(1, rounds + 1) if -(-i // 2) > line[i])
    lecture = prove(ride, np.ones(1), Fraction(1, 2), 2 * theta, rules, [1.0] * rounds)
    assert all(step.claims[LINE].holds for step in lecture.rounds)


def test_crossings_of_a_ride_below_the_ground() -> None:
    rides = [np.array([step], dtype=np.int8) for step in (1, -1, -1, -1, 1, 1)]
    sheet = prove(rides, np.ones(1), Fraction(1, 2), Fraction(1, 5), list("abcdef"), [1.0] * 6)
    assert all(step.claims[2].holds for step in sheet.rounds)
    assert (sheet.up, sheet.down) == ({0: 1, -1: 1, -2: 1}, {0: 1, -1: 1, -2: 1})


def test_what_is_refused() -> None:
    model = fitted(Measure(0.3, 0.1), rounds=5)
    for rows, labels in ((X[:9], y[:9]), (X, -y)):
        with pytest.raises(DataError, match="not the 10 rows"):
            proof(model, rows, labels)
    with pytest.raises(ParameterError, match="not those of"):
        proof(model.set_params(booster=Measure(0.2, 0.1)), X, y)


def test_the_measure_is_a_hard_core() -> None:
    """D_M ≤ D/μ in every round: no row weighs more than 1/μ times its share."""
    model = fitted(Measure(0.3, 0.1, share=1.0))
    sheet = proof(model, X, y)
    for t in range(1, len(sheet) + 1):
        heaviest = weights(model, t, X, y).heaviest(1)[0][1]
        assert heaviest <= 1 / (10 * float(sheet[t - 1].mean)) + 1e-9
