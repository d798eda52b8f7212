"""Shattering agrees with the growth functions, and a learner that misses rules is not certified."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost.errors import DataError, ParameterError
from pacboost.numerics.growth import log_stump_growth
from pacboost.theory.learners import Rectangle
from pacboost.theory.pac_learning import Shattering


@pytest.mark.parametrize(("rows", "features"), [(3, 1), (5, 1), (4, 2), (5, 2), (6, 2)])
def test_stumps_give_no_more_labelings_than_their_growth(rows: int, features: int) -> None:
    X = np.random.default_rng(rows).normal(size=(rows, features))
    found = pacboost.theory.shatters("stump", X)
    most = round(math.exp(log_stump_growth(rows, features)))
    assert len(found.found) <= most
    assert len(found.found) + len(found.missed) == 2**rows
    if features == 1:
        assert len(found.found) == most == 2 * rows


def test_four_points_are_shattered_by_boxes_and_five_are_not() -> None:
    cross = [[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]]
    assert pacboost.theory.shatters(Rectangle(), cross)
    missed = pacboost.theory.shatters(Rectangle(), [*cross, [0.0, 0.0]])
    assert not missed
    assert missed.certified
    assert [1, 1, 1, 1, -1] in missed.missed.tolist()


def agrees_with_all_stumps(found: Shattering, X: NDArray[np.float64]) -> bool:
    """Compare with the labelings of every stump: each feature, each cut and both signs."""
    given = set()
    for column in X.T:
        for cut in (-np.inf, *column):
            above = np.where(column > cut, 1, -1)
            given |= {tuple(above.tolist()), tuple((-above).tolist())}
    named = {tuple(signs) for signs in found.found.tolist()}
    missed = {tuple(signs) for signs in found.missed.tolist()}
    return named == given and not named & missed and len(named) + len(missed) == 2 ** len(X)


def test_labelings_are_those_of_all_stumps_and_a_twin_that_claims_one_more_is_rejected() -> None:
    for seed in range(6):
        X = np.random.default_rng(seed).normal(size=(5, 2)).round(1)
        found = pacboost.theory.shatters("stump", X)
        assert agrees_with_all_stumps(found, X)
        one, rest = found.missed[:1], found.missed[1:]
        twin = replace(found, found=np.concatenate([found.found, one]), missed=rest)
        assert not agrees_with_all_stumps(twin, X)
        forgetful = replace(
            found, found=found.found[1:], missed=np.concatenate([found.missed, found.found[:1]])
        )
        assert not agrees_with_all_stumps(forgetful, X)


def test_black_boxes_are_asked_and_not_certified() -> None:
    tree = pacboost.learners.SklearnLearner(DecisionTreeClassifier(max_depth=1))
    found = pacboost.theory.shatters(tree, [[0.0], [1.0], [2.0]])
    assert len(found.found) == 6
    assert not found.certified
    assert "no rule was found for" in str(found)


def test_what_is_refused() -> None:
    with pytest.raises(DataError, match="2\\^15 labelings"):
        pacboost.theory.shatters("stump", np.zeros((15, 1)))
    with pytest.raises(ParameterError, match="do not answer"):
        pacboost.theory.shatters("tree", [[0.0], [1.0]])
