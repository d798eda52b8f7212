"""Shapes: a constant and one step function for each feature are the vote, bit for bit."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost import BoostClassifier
from pacboost.boosters.booster import whole_values
from pacboost.hypotheses import hypothesis, tree, word_list
from pacboost.hypotheses.partial_dependence import partial_dependence
from pacboost.hypotheses.shapes import shapes
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.vote import Vote
from pacboost.kernels.threads import using
from pacboost.numerics.exact import VOTE_UNIT, round_vote
from pacboost.samples.bins import Bins
from pacboost.samples.sample import unlabelled
from pacboost.sources import arrays, sparse
from pacboost.sources.levels import Levels
from tests.examples import examples
from tests.hypotheses.trees import random_rule
from tests.word_samples import some_presence

LEVELS = 5
CATEGORY = 2
NAMES = hypothesis.Names(None, ("a", "b", "c"), Levels(dict.fromkeys(range(9), tuple("vwxyz"))))
Doubles = NDArray[np.float64]


def some_bins(generator: np.random.Generator) -> Bins:
    """Two columns of numbers, and one of five levels."""
    numbers = [
        np.unique(np.round(generator.normal(size=generator.integers(1, 30)), 2).astype(np.float32))
        for _ in range(2)
    ]
    levels = np.arange(0.5, LEVELS - 1, dtype=np.float32)
    return Bins((*numbers, levels), np.zeros(3, np.int64), np.array([0, 0, LEVELS]))


def some_values(generator: np.random.Generator, cells: int, outputs: int) -> Doubles:
    return np.rint(generator.normal(size=(cells, outputs)) / VOTE_UNIT) * VOTE_UNIT


def some_stump(generator: np.random.Generator, bins: Bins) -> StumpRule:
    feature = int(generator.integers(3))
    thresholds = bins.thresholds[feature]
    cut = int(generator.integers(thresholds.size + 1))
    threshold = float(thresholds[cut]) if cut < thresholds.size else math.inf
    above, missing = (int(sign) for sign in generator.choice([-1, 1], 2))
    return StumpRule(feature, threshold, cut, above, missing)


def some_rule(generator: np.random.Generator, bins: Bins, outputs: int) -> hypothesis.Hypothesis:
    kind = generator.random()
    if kind < 0.5:
        return random_rule(generator, bins, int(kind < 0.43), outputs=outputs)
    stump = some_stump(generator, bins)
    if outputs == 1 and kind < 0.8:
        return stump
    return hypothesis.Valued(stump, some_values(generator, 2, outputs))


def some_vote(generator: np.random.Generator, rounds: int, outputs: int) -> Vote:
    bins = some_bins(generator)
    rules = [some_rule(generator, bins, outputs) for _ in range(rounds)]
    votes = [
        round_vote(generator.normal()) if isinstance(rule, StumpRule) else 1.0 for rule in rules
    ]
    return Vote(rules, np.array(votes), outputs)


def some_table(generator: np.random.Generator, rows: int) -> arrays.ArrayTable:
    """Hundredths as doubles, many of which round to a threshold that they do not equal."""
    values = np.round(generator.normal(size=(rows, 3)), 2)
    values[:, CATEGORY] = generator.integers(LEVELS, size=rows)
    values[generator.random(values.shape) < 0.15] = np.nan
    return arrays.ArrayTable(values)


@examples(60)
@given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.sampled_from([1, 3]))
def test_shapes_add_up_to_the_scores_bit_for_bit(seed: int, rounds: int, outputs: int) -> None:
    generator = np.random.default_rng(seed)
    vote, table = some_vote(generator, rounds, outputs), some_table(generator, 50)
    result = shapes(vote, NAMES)
    scores = vote.scores(table)
    assert result.scores(table).shape == scores.shape
    assert np.array_equal(result.scores(table), scores)
    rows = table.rows()
    by_hand = result.intercept + sum(part.at(rows[:, j]) for j, part in result.features.items())
    assert np.array_equal(np.broadcast_to(by_hand, (50, outputs)), scores.reshape(50, -1))
    for k in range(outputs):
        assert np.array_equal(result.of(k).scores(table), scores.reshape(50, -1)[:, k])


@examples(30)
@given(st.integers(0, 2**32 - 1))
def test_shapes_hold_no_step_that_does_not_change_and_one_value_a_level(seed: int) -> None:
    result = shapes(some_vote(np.random.default_rng(seed), 30, 3), NAMES)
    for j, part in result.features.items():
        assert part.name == f"x{j}"
        assert part.values.shape == (part.thresholds.size + 1, 3)
        assert part.span == max(np.ptp([*part.values[:, k], part.missing[k]]) for k in range(3))
        if part.levels:
            assert (j, part.levels) == (CATEGORY, tuple("vwxyz"))
        elif j != CATEGORY:
            assert (part.values[1:] != part.values[:-1]).any(axis=1).all()


def test_the_same_stumps_as_trees_have_the_same_shapes() -> None:
    generator = np.random.default_rng(1)
    bins = some_bins(generator)
    stumps = [some_stump(generator, bins) for _ in range(40)]
    stumps = [stump for stump in stumps if stump.feature != CATEGORY and not stump.is_constant]
    one = np.zeros(1, np.int32)
    trees = [
        tree.TreeRule(
            bins, one + stump.feature, one + stump.cut, np.array([stump.missing == -stump.above]),
            one - 1, one - 2, one - 1, np.empty((0, 256), np.uint8), np.ones(1), np.ones(3),
            np.array([[-stump.above], [stump.above]], dtype=np.float64),
        )
        for stump in stumps
    ]  # fmt: skip
    votes = np.array([round_vote(v) for v in generator.normal(size=len(stumps))])
    one_way, other = (shapes(Vote(rules, votes), NAMES) for rules in (stumps, trees))
    assert list(one_way.features) == list(other.features)
    for j, part in one_way.features.items():
        assert np.array_equal(part.thresholds, other[j].thresholds)
        assert np.array_equal(part.values, other[j].values)
        assert np.array_equal(part.missing, other[j].missing)


def test_constants_are_the_intercept() -> None:
    bins = some_bins(np.random.default_rng(0))
    rules = [
        StumpRule.constant(1),
        StumpRule(1, math.inf, 99, +1, -1),
        tree.TreeRule.constant(bins, np.array([4.0])),
        hypothesis.Valued(StumpRule.constant(-1), np.array([[8.0], [16.0]])),
    ]
    result = shapes(Vote(rules, np.array([1.0, 2.0, 1.0, 1.0])), NAMES)
    assert result.intercept.tolist() == [1 - 2 + 4 + 8]
    assert not result.features
    assert shapes(Vote([], np.empty(0), 3), NAMES).intercept.tolist() == [0, 0, 0]


RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))
X[RNG.random(X.shape) < 0.05] = np.nan
Y = np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 1]) + np.nan_to_num(X[:, 2]) > 0


def slow(rule: tree.TreeRule, node: int, feature: int, value: float) -> np.ndarray:
    """Follow one value down a tree; both ways where another feature is asked for."""
    if node < 0:
        return np.asarray(rule.values[~node])
    splits = rule.feature.size
    remaining, right = int(rule.left[node]), int(rule.right[node])
    ways = [slow(rule, child, feature, value) for child in (remaining, right)]
    if rule.feature[node] == feature:
        threshold = rule.bins.thresholds[feature][rule.cut[node] :][:1]
        at_left = rule.missing_left[node] if np.isnan(value) else not (value > threshold).any()
        return ways[0] if at_left else ways[1]
    covers = [rule.cover[c if c >= 0 else splits + ~c] for c in (remaining, right)]
    return np.asarray((covers[0] * ways[0] + covers[1] * ways[1]) / sum(covers))


@pytest.mark.parametrize("classes", [2, 3])
def test_curves_are_averages_over_the_other_columns(classes: int) -> None:
    y = np.digitize(np.nan_to_num(X[:, 0]) + Y, [-0.5, 0.8]) if classes == 3 else Y
    model = BoostClassifier(n_estimators=8, max_leaves=6, random_state=0).fit(X, y).model_
    result = partial_dependence(model.vote, model.say(), range(4))
    assert {0, 1, 2} <= set(result.features)
    values = np.array([-1.5, -0.2, 0.0, 0.4, 2.0, np.nan])
    for feature, shape in result.features.items():
        expected = np.array([
            sum(cast * slow(rule, 0 if rule.feature.size else -1, feature, value)
                for rule, cast in model.vote.trees)
            for value in values
        ])  # fmt: skip
        assert shape.at(values) + result.intercept == pytest.approx(expected)


MANY = examples(80)


def some_list(generator: np.random.Generator, words: int, outputs: int) -> word_list.WordList:
    asked = generator.permutation(words)[: generator.integers(0, words + 1)].astype(np.int32)
    values = whole_values(generator.normal(size=(asked.size + 1, outputs)))
    rule = word_list.WordList(asked, values, bool(asked.size and generator.random() < 0.5))
    return rule.valued(rule.allowed(values), np.ones(len(values)))


def by_hand(rule: word_list.WordList, row: Doubles) -> Doubles:
    """What a list says of one row, read from its beginning."""
    for place, word in enumerate(rule.asked):
        if row[word]:
            return np.asarray(rule.values[place])
    return np.asarray(rule.values[-1])


@given(some_presence(), st.sampled_from([1, 3]), st.integers(0, 2**32 - 1))
@MANY
def test_vote_of_lists(presence: Doubles, outputs: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    rules = [some_list(generator, presence.shape[1], outputs) for _ in range(9)]
    vote = Vote(rules, np.ones(9), outputs)
    expected = [sum(by_hand(rule, row) for rule in rules) for row in presence]
    dense = arrays.ArrayTable(presence)
    for table in (dense, sparse.words_of(dense)):
        *_, last = vote.staged(table)
        scores = vote.scores(table)
        assert np.array_equal(scores, last)
        assert np.array_equal(scores.reshape(-1, outputs), np.array(expected))


def test_any_number_of_threads_gives_the_same_scores() -> None:
    generator = np.random.default_rng(1)
    table = sparse.words_of(arrays.ArrayTable((generator.random((40_000, 8)) < 0.3).astype(float)))
    vote = Vote([some_list(generator, 8, 3) for _ in range(20)], np.ones(20), 3)
    alone = vote.scores(table)
    with using(3):
        assert np.array_equal(vote.scores(table), alone)


@pytest.mark.parametrize("words", [255, 256, 300])
def test_lists_longer_than_a_byte_counts(words: int) -> None:
    table = sparse.words_of(arrays.ArrayTable(np.eye(words + 1)))
    rule = word_list.WordList(np.arange(words, dtype=np.int32), np.zeros((words + 1, 1)))
    assert rule.cells(unlabelled(table)).tolist() == list(range(words + 1))


def test_abstaining_lists_keep_silent_and_others_speak() -> None:
    values = np.ones((3, 2))
    rule = word_list.WordList(np.array([0, 1], np.int32), values)
    assert rule.allowed(values).tolist() == [[1, 1], [1, 1], [0, 0]]
    assert values.tolist() == [[1, 1]] * 3
    speaking = word_list.WordList(rule.asked, values, abstains=False)
    assert speaking.allowed(values).tolist() == values.tolist()


def test_no_value_is_a_negative_zero() -> None:
    """A file holds whole steps of the grid; what it gives back has to be the same bits."""
    rule = word_list.WordList(np.array([0], np.int32), np.zeros((2, 1)))
    accepted = rule.allowed(np.array([[-1e-9], [-0.0]]))
    assert not np.signbit(accepted).any()
