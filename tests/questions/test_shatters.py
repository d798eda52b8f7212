"""Shattering agrees with the growth functions, and a learner that misses rules is not certified."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost.errors import DataError, ParameterError
from pacboost.learners.rectangle import Rectangle
from pacboost.numerics.growth import log_stump_growth


@pytest.mark.parametrize(("rows", "features"), [(3, 1), (5, 1), (4, 2), (5, 2), (6, 2)])
def test_stumps_give_no_more_labelings_than_their_growth(rows: int, features: int) -> None:
    X = np.random.default_rng(rows).normal(size=(rows, features))
    found = pacboost.shatters("stump", X)
    most = round(math.exp(log_stump_growth(rows, features)))
    assert len(found.found) <= most
    assert len(found.found) + len(found.missed) == 2**rows
    if features == 1:
        assert len(found.found) == most == 2 * rows


def test_four_points_are_shattered_by_boxes_and_five_are_not() -> None:
    cross = [[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]]
    assert pacboost.shatters(Rectangle(), cross)
    missed = pacboost.shatters(Rectangle(), [*cross, [0.0, 0.0]])
    assert not missed
    assert missed.certified
    assert [1, 1, 1, 1, -1] in missed.missed.tolist()


def test_black_boxes_are_asked_and_not_certified() -> None:
    tree = pacboost.SklearnLearner(DecisionTreeClassifier(max_depth=1))
    found = pacboost.shatters(tree, [[0.0], [1.0], [2.0]])
    assert len(found.found) == 6
    assert not found.certified
    assert "no rule was found for" in str(found)


def test_what_is_refused() -> None:
    with pytest.raises(DataError, match="2\\^15 labelings"):
        pacboost.shatters("stump", np.zeros((15, 1)))
    with pytest.raises(ParameterError, match="do not answer"):
        pacboost.shatters("tree", [[0.0], [1.0]])
