"""Trees as rules: where rows go, what is said of them, and values that keep to slopes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.hypotheses import hypothesis, vote
from pacboost.hypotheses.tree import TreeRule
from pacboost.numerics.exact import VOTE_UNIT
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import unlabelled
from pacboost.sources import arrays, levels
from tests.examples import examples
from tests.hypotheses.trees import random_rule
from tests.kernels import naive

NAMES = hypothesis.Names(("age", "colour", "size"), levels=levels.Levels({1: ("r", "g", "b")}))


def table_of(rows: list[list[float]]) -> arrays.ArrayTable:
    return arrays.ArrayTable(np.array(rows), levels=levels.Levels({1: (0, 1, 2)}))


TABLE = table_of([[1, 0, 5], [2, 1, 6], [3, 2, np.nan], [np.nan, np.nan, 7], [4, 1, 5]])


def small_tree() -> TreeRule:
    """age ≤ 2.5 or missing? then colour in {r, b}; else size known?"""
    member = np.zeros((1, 256), dtype=np.uint8)
    member[0, [0, 2]] = 1
    splits = np.array([[0, 1, 2], [1, 9, 2], [1, ~0, ~1], [2, ~2, ~3], [-1, 0, -1]], dtype=np.int32)
    feature, cut, left, right, in_subset = splits
    return TreeRule(
        fit_bins(TABLE), feature, cut, np.array([True, False, False]), left, right, in_subset,
        member, np.array([3.0, 2, 1]), np.zeros(7), np.array([[1.0], [-2], [3], [-4]]),
    )  # fmt: skip


def test_rows_go_where_the_splits_send_them() -> None:
    rule = small_tree()
    sample = unlabelled(TABLE)
    assert rule.cells(sample).tolist() == [0, 2, 3, 2, 1]
    assert rule.cells(unlabelled(TABLE, rule.bins)).tolist() == [0, 2, 3, 2, 1]
    assert vote.Vote([rule], np.array([2.0])).scores(TABLE).tolist() == [2, 6, -8, 6, -4]


@examples(50)
@given(splits=st.integers(0, 30), rows=st.integers(1, 100), seed=st.integers(0, 2**32))
def test_cells_equal_the_twins_walk(splits: int, rows: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    X = generator.integers(0, 9, (rows, 3)).astype(np.float64)
    X[generator.random(X.shape) < 0.2] = np.nan
    table = arrays.ArrayTable(X, levels=levels.Levels({1: tuple(range(9))}))
    bins = fit_bins(table)
    rule = random_rule(generator, bins, splits)
    expected = naive.walk(bins.encode(table), rule.nodes, rule.members, bins.missing)
    np.testing.assert_array_equal(rule.cells(unlabelled(table)), expected)
    np.testing.assert_array_equal(rule.cells(unlabelled(table, bins)), expected)
    scores = vote.Vote([rule, rule], np.array([1.0, 2.0])).scores(table)
    np.testing.assert_array_equal(scores, 3 * rule.values[expected, 0])


@examples(50)
@given(splits=st.integers(0, 30), seed=st.integers(0, 2**32))
def test_the_cover_of_a_node_is_that_of_its_leaves(splits: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    rule = random_rule(generator, fit_bins(TABLE), splits)
    weights = generator.integers(0, 99, splits + 1).astype(np.float64)
    values = generator.normal(size=(splits + 1, 2))
    valued = rule.valued(values, weights)
    np.testing.assert_array_equal(valued.values, values)
    np.testing.assert_array_equal(valued.cover[splits:], weights)
    for t in range(splits):
        under = [leaf for leaf in range(splits + 1) if t in dict(rule.path(leaf))]
        assert valued.cover[t] == weights[under].sum()


@examples(150)
@given(splits=st.integers(1, 25), seed=st.integers(0, 2**32))
def test_allowed_values_are_monotone_and_change_nothing_that_was(splits: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    grid = np.arange(6.0)
    points = np.stack(np.meshgrid(grid, grid, grid), axis=-1).reshape(-1, 3)
    table = arrays.ArrayTable(points)
    slopes = np.array([1, -1, 0], dtype=np.int8)
    rule = random_rule(generator, fit_bins(table), splits, slopes)
    values = rule.allowed(rule.values)
    np.testing.assert_array_equal(np.rint(values / VOTE_UNIT) * VOTE_UNIT, values)
    np.testing.assert_array_equal(rule.allowed(values), values)
    scores = values[rule.cells(unlabelled(table)), 0]
    for feature in (0, 1):
        order = np.lexsort([points[:, feature], *points[:, np.arange(3) != feature].T])
        rises = np.diff(scores[order].reshape(-1, 6), axis=1) * slopes[feature]
        assert (rises >= 0).all()


def test_without_slopes_every_value_is_allowed() -> None:
    rule = small_tree()
    assert rule.allowed(rule.values) is rule.values
    free = replace(rule, slope=np.zeros(3, dtype=np.int8))
    np.testing.assert_array_equal(free.allowed(rule.values), rule.values)


def test_values_are_moved_to_the_middle_and_no_further() -> None:
    rule = replace(small_tree(), slope=np.array([1, 0, 0], dtype=np.int8))
    before = rule.values.copy()
    moved = rule.allowed(rule.values)  # left: 1 and 3, right: -2 and -4; the middle is -0.5
    assert moved.ravel().tolist() == [-0.5, -0.5, -0.5, -0.5]
    np.testing.assert_array_equal(rule.values, before)
    falling = replace(rule, slope=np.array([-1, 0, 0], dtype=np.int8))
    np.testing.assert_array_equal(falling.allowed(rule.values), rule.values)


@pytest.mark.parametrize(
    ("leaf", "words"),
    [
        (0, "age ≤ 2.5 or missing and colour in {r, b} → +1"),
        (2, "age ≤ 2.5 or missing and colour in {g} or missing → +3"),
        (1, "age > 2.5 and size is known → -2"),
        (3, "age > 2.5 and size is missing → -4"),
    ],
)
def test_leaves_are_said_in_words(leaf: int, words: str) -> None:
    tree = small_tree()
    way = " and ".join(tree.condition(t, NAMES, left=side) for t, side in tree.path(leaf))
    assert f"{way} → {hypothesis.value_words(tree.values[leaf], NAMES)}" == words
