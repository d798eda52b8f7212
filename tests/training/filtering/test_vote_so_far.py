"""What a row weighs follows from the vote alone, whether it comes as codes or as values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.boosters.logit import Logit
from pacboost.boosters.projection import Projection
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.samples.blocks import CodedTable
from pacboost.samples.sample import Signs
from pacboost.sources.arrays import ArrayTable
from pacboost.training.filtering.rows import Floats, ScoredRows, VoteSoFar
from tests.training.filtering.setups import BOOSTERS, coded, cube, cube_bins, vote_so_far

names = [type(booster).__name__ for booster in BOOSTERS]
ALL = pytest.mark.parametrize("booster", BOOSTERS, ids=names)


@ALL
def test_codes_and_values_stand_alike(booster: FilteringBooster[Any]) -> None:
    made, world = vote_so_far(booster), cube()
    X = world.domain()
    signs = world.truth(X)[:, None]
    by_code = made.score(coded(CodedTable(cube_bins().encode(ArrayTable(X)), cube_bins()), signs))
    by_value = made.score(coded(ArrayTable(X), signs))
    np.testing.assert_array_equal(by_code.margins, by_value.margins)
    np.testing.assert_array_equal(by_code.chances, by_value.chances)
    scores = made.vote().scores(ArrayTable(X))
    np.testing.assert_array_equal(by_value.margins[:, 0], scores * signs[:, 0])


@ALL
def test_a_wrong_row_weighs_its_part(booster: FilteringBooster[Any]) -> None:
    """error ≤ factor · mean weight, point by point, whatever the votes."""
    for seed in range(20):
        made, world = vote_so_far(booster, rounds=seed, seed=seed), cube()
        X = world.domain()
        stands = made.score(coded(ArrayTable(X), world.truth(X)[:, None]))
        assert stands.chances.shape == (len(X),)
        assert (stands.chances >= 0).all()
        assert (stands.chances <= 1).all()
        wrong = stands.wrong
        if booster.error_factor:
            assert (booster.error_factor * stands.chances[wrong] >= 1).all()


def test_a_path_is_followed_rule_by_rule() -> None:
    booster = Projection(edge=0.4, epsilon=0.3)
    made, world = vote_so_far(booster, rounds=7), cube()
    X = world.domain()
    y = world.truth(X)
    path = np.full(len(X), np.log(0.3))
    for rule, memory in zip(made.rules, made.memories, strict=True):
        assert isinstance(rule, StumpRule)
        said = np.where(X[:, rule.feature] > 0.5, rule.above, -rule.above)
        path = np.minimum(path - booster.rate * said * y + memory[0], 0.0)
    stands = made.score(coded(ArrayTable(X), y[:, None]))
    assert stands.path is not None
    np.testing.assert_allclose(stands.path[:, 0], path, rtol=0, atol=1e-12)
    np.testing.assert_allclose(stands.chances, np.exp(path), rtol=1e-12)


def test_ties_are_wrong() -> None:
    one = np.array([[1], [1], [1]], dtype=np.int8)
    assert _wrong(np.array([[0.0], [-1.0], [0.5]]), one) == [True, True, False]
    signs = np.array([[1, -1, -1]] * 4, dtype=np.int8)
    scores = np.array([[1.0, 0, 0], [1.0, 1.0, 0], [0.5, 1.0, 0], [0.0, 0.0, 0.0]])
    assert _wrong(scores * signs, signs) == [False, True, True, True]


def _wrong(margins: Floats, signs: Signs) -> list[bool]:
    rows, ones = coded(ArrayTable(np.zeros((len(signs), 1))), signs), np.ones(len(signs))
    scored = ScoredRows(rows.table, rows.signs, None, rows.rows, margins, ones, ones, None)
    return scored.wrong.tolist()


def test_a_court_is_rebuilt_from_its_parts() -> None:
    made = vote_so_far(BOOSTERS[2])
    back = VoteSoFar(
        made.booster, made.bins, 1, False, list(made.rules), list(made.votes), list(made.memories)
    )
    X = ArrayTable(cube().domain())
    np.testing.assert_array_equal(back.vote().scores(X), made.vote().scores(X))
    codes = CodedTable(cube_bins().encode(X), cube_bins())
    signs = np.ones((16, 1), dtype=np.int8)
    np.testing.assert_array_equal(
        back.score(coded(codes, signs)).margins, made.score(coded(codes, signs)).margins
    )
    assert len(back) == len(made)


def test_three_classes_weigh_what_softmax_says() -> None:
    bins = cube_bins()
    made = VoteSoFar(Logit(), bins, 3, cells=True)
    made.add(TreeRule.constant(bins, np.array([0.5, -0.25, -0.25])), 1.0, [])
    signs = np.array([[1, -1, -1], [-1, 1, -1]], dtype=np.int8)
    stands = made.score(coded(ArrayTable(cube().domain()[:2]), signs))
    p = np.exp([0.5, -0.25, -0.25]) / np.exp([0.5, -0.25, -0.25]).sum()
    np.testing.assert_allclose(stands.chances, [1 - p[0], 1 - p[1]])
    assert stands.wrong(signs).tolist() == [False, True]
