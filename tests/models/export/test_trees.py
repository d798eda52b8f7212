"""Trees laid out for export give the scores of the vote, bit for bit."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote
from pacboost.models.export.trees import Trees, of_vote
from pacboost.numerics.exact import round_vote
from pacboost.samples.bins import Bins
from pacboost.sources.arrays import ArrayTable

CUTS = np.array([-1.5, 0.0, 0.1, 7.0], dtype=np.float32)
VALUES = [math.nan, -2.0, -1.5, 0.0, 0.1, float(CUTS[2]), 0.2, 7.0, 9.0]


def walked(trees: Trees, row: NDArray[np.float32]) -> NDArray[np.float64]:
    """Add up what trees say of a row, as plainly as can be."""
    total = np.zeros(trees.outputs)
    for at in trees.roots:
        while at >= 0:
            value = row[trees.feature[at]]
            if np.isnan(value):
                left = trees.missing_left[at]
            elif trees.subset[at] >= 0:
                left = int(value) in trees.subsets[trees.subset[at]]
            else:
                left = value <= trees.cut[at]
            at = trees.left[at] if left else trees.right[at]  # noqa: PLW2901
        total += trees.lines[~at]
    return total


signs = st.sampled_from([-1, 1])
stumps = st.builds(
    StumpRule, st.integers(0, 1), st.sampled_from([*CUTS.tolist(), math.inf]), st.just(0), signs,
    signs,
)  # fmt: skip
votes = st.floats(-3, 3).map(round_vote)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(stumps, votes), max_size=30), st.lists(st.sampled_from(VALUES), min_size=2)
)
def test_any_stumps_become_one_tree_a_column(
    pairs: list[tuple[StumpRule, float]], values: list[float]
) -> None:
    X = np.array(values[: len(values) // 2 * 2]).reshape(-1, 2)
    vote = Vote([rule for rule, _ in pairs], np.array([cast for _, cast in pairs]))
    trees = of_vote(vote)
    assert trees.roots.size == len({rule.feature for rule, _ in pairs})
    found = [walked(trees, row.astype(np.float32))[0] for row in X]
    assert found == vote.scores(ArrayTable(X)).tolist()


SOME, ALL, NO_LEVEL = (1, 3), (0, 1, 2, 3, 4), ()


def small_tree(levels: tuple[int, ...] | None = None) -> TreeRule:
    """A split of a category with five levels, by a cut or by levels, and one of a number."""
    bins = Bins(
        (np.arange(0.5, 4, dtype=np.float32), CUTS), np.zeros(2, np.int64), np.array([5, 0])
    )
    members = np.zeros((1, 256), dtype=np.uint8)
    members[0, [*(levels or ()), bins.missing]] = 1
    splits = [np.array(own, dtype=np.int32) for own in ([0, 1], [2, 4], [1, -2], [-1, -3])]
    feature, cut, left, right = splits
    member = np.array([-1 if levels is None else 0, -1], dtype=np.int32)
    return TreeRule(
        bins, feature, cut, np.array([False, True]), left, right, member,
        members, np.ones(2), np.ones(5), np.array([[0.5, -1.0], [2.0, 3.0], [-4.0, 0.25]]),
    )  # fmt: skip


def test_levels_missing_values_and_constants() -> None:
    bins = small_tree().bins
    constant = TreeRule.constant(bins, np.array([1.0, -1.0]))
    rules = [small_tree(SOME), small_tree(), small_tree(ALL), small_tree(NO_LEVEL), constant]
    vote = Vote(rules, np.array([1.0, 0.5, 0.25, 8.0, 2.0]), 2)
    X = np.array([[a, b] for a in [math.nan, 0, 1, 2, 3, 4] for b in VALUES])
    trees = of_vote(vote)
    assert np.array_equal(
        [walked(trees, x.astype(np.float32)) for x in X], vote.scores(ArrayTable(X))
    )
    assert trees.subsets == ((1, 3),)
    assert len(trees.roots) == 5
