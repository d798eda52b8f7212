"""No free lunch: averaged over all labelings, nobody beats guessing on points not seen.

The average is exact. Labels of unseen points do not reach the learner, so for each of its answers
there are as many labelings that agree as that do not.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pacboost import AdaBoostClassifier
from pacboost.theory.finite_worlds import NoFreeLunch
from pacboost.theory.single_rules import RectangleClassifier, VersionSpaceClassifier
from tests.grids import each_value

LEARNERS = [
    AdaBoostClassifier(n_estimators=5),
    RectangleClassifier(),
    VersionSpaceClassifier(grid=[0.5]),
    VersionSpaceClassifier("intervals", grid=[0.5]),
    VersionSpaceClassifier("conjunctions"),
    VersionSpaceClassifier("disjunctions"),
]
SEEN = [[0, 1, 2, 5], [3, 4, 4, 6, 7]]
pytestmark = [
    pytest.mark.filterwarnings("ignore::pacboost.errors.OneClassWarning"),
    pytest.mark.filterwarnings("ignore::pacboost.errors.NoEdgeWarning"),
]


def off_sample_error(learner: Any, seen: list[int]) -> Fraction:
    """Average over all 256 labelings of the cube, in whole numbers; None peeks at the labeling.

    Labelings that agree on the seen points give the learner the same rows, so it is fitted once.
    """
    wrong = unseen = 0
    answers: dict[bytes, Any] = {}
    for world in NoFreeLunch.every(8, features=3):
        X = world.domain()[seen]
        rest, labels = world.unseen(X), world.truth(X)
        key = labels.tobytes()
        if learner is None:
            answers[key] = world.truth(rest)
        elif key not in answers:
            answers[key] = learner.fit(X, labels).predict(rest)
        wrong += int((answers[key] != world.truth(rest)).sum())
        unseen += len(rest)
    return Fraction(wrong, unseen)


@each_value
@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_off_sample_error_is_one_half(learner: Any, seen: list[int]) -> None:
    assert off_sample_error(learner, seen) == Fraction(1, 2)


def test_a_learner_that_peeks_is_found_out() -> None:
    assert off_sample_error(None, SEEN[0]) == 0


def test_risk_on_the_whole_domain_is_half_of_what_was_not_seen() -> None:
    """Boosted stumps fit any labels of these points, so their risk is off the sample alone."""
    seen = [0, 7]
    risks, fits = [], {}
    for world in NoFreeLunch.every(8, features=3):
        X = world.domain()[seen]
        labels = world.truth(X)
        known = labels.tobytes()
        if known not in fits:
            fits[known] = AdaBoostClassifier(n_estimators=3).fit(X, labels)
        risks.append(world.risk(fits[known].predict))
    assert np.mean(risks) == 6 / 8 / 2
