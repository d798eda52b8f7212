"""The vote: tables give bit for bit what adding round by round gives."""

import math
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.hypotheses.decision import Decision
from pacboost.hypotheses.function import Function
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.three import Three
from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.vote_digest import vote_digest
from pacboost.kernels import threads
from pacboost.numerics.exact import MAX_VOTE, round_vote
from pacboost.samples.bins import Bins
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.sparse import SparseTable
from pacboost.sources.table import Table
from tests.examples import examples
from tests.hypotheses.rules import BINS, STUMP, TREE, WORDS

Doubles = NDArray[np.float64]


def some_values(generator: np.random.Generator, rows: int, columns: int) -> Doubles:
    """Hundredths as doubles: many of them round to a threshold that they do not equal."""
    values = np.round(generator.normal(size=(rows, columns)), 2)
    values[generator.random(values.shape) < 0.1] = np.nan
    return values


def some_stump(generator: np.random.Generator, columns: int) -> StumpRule:
    threshold = float(np.float32(np.round(generator.normal(), 2)))
    if generator.random() < 0.1:
        threshold = math.inf
    above, missing = (int(s) for s in generator.choice([-1, 1], 2))
    return StumpRule(int(generator.integers(columns)), threshold, 0, above, missing)


def some_vote(generator: np.random.Generator, rounds: int, columns: int) -> Vote:
    stumps = [some_stump(generator, columns) for _ in range(rounds)]
    votes = [round_vote(v) for v in generator.uniform(-MAX_VOTE, MAX_VOTE, rounds)]
    return Vote(stumps, np.array(votes))


def added_up(vote: Vote, table: Table) -> Doubles:
    """The last of the staged scores."""
    last = np.zeros(table.n_rows)
    for scores in vote.staged(table):
        last = scores
    return last


def by_hand(vote: Vote, values: NDArray[np.floating]) -> list[float]:
    """The scores by the definition, one row and one stump at a time."""
    scores = []
    for row in values:
        total = 0.0
        for stump, v in zip(vote.hypotheses, vote.votes.tolist(), strict=True):
            assert isinstance(stump, StumpRule)
            x = np.float32(row[stump.feature])
            answer = stump.above if x > np.float32(stump.threshold) else -stump.above
            total += v * (stump.missing if np.isnan(x) else answer)
        scores.append(total)
    return scores


@examples(40)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(0, 40),
    columns=st.integers(1, 6),
    rounds=st.integers(0, 30),
)
def test_scores_equal_the_definition(seed: int, rows: int, columns: int, rounds: int) -> None:
    generator = np.random.default_rng(seed)
    values = some_values(generator, rows, columns)
    vote = some_vote(generator, rounds, columns)
    table = ArrayTable(values)
    assert vote.scores(table).tolist() == by_hand(vote, values)
    assert added_up(vote, table).tolist() == by_hand(vote, values)


def test_more_than_255_thresholds_on_one_feature_do_as_well() -> None:
    generator = np.random.default_rng(0)
    cuts = np.arange(-300, 300) / 100
    stumps = [StumpRule(1, float(np.float32(c)), 0, 1, -1) for c in generator.permutation(cuts)]
    vote = Vote(stumps, np.array([round_vote(v) for v in generator.uniform(-1, 1, 600)]))
    table = ArrayTable(some_values(generator, 3000, 2))
    assert vote.steps[1].thresholds.size == 600
    np.testing.assert_array_equal(vote.scores(table), added_up(vote, table))


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_many_rows_do_as_well_on_any_number_of_threads(n_jobs: int) -> None:
    generator = np.random.default_rng(1)
    table = ArrayTable(some_values(generator, 70_001, 3))
    vote = some_vote(generator, 20, 3)
    with threads.using(n_jobs):
        np.testing.assert_array_equal(vote.scores(table), added_up(vote, table))


@pytest.mark.parametrize("kind", ["float32", "columns", "frame", "sparse", "ints"])
def test_any_table_scores_like_its_array(kind: str) -> None:
    generator = np.random.default_rng(2)
    values = some_values(generator, 500, 4)
    table: Table
    if kind == "float32":
        table = ArrayTable(values.astype(np.float32))
    elif kind == "columns":
        table = ArrayTable(np.asfortranarray(values))
    elif kind == "frame":
        table = FrameTable.learn(pl.DataFrame(values, schema=list("abcd"), nan_to_null=True))
    elif kind == "sparse":
        values[generator.random(values.shape) < 0.7] = 0.0
        table = SparseTable(sp.csr_array(values))
    else:
        values = generator.integers(-3, 4, (500, 4)).astype(np.float64)
        table = ArrayTable(values.astype(np.int64))
    vote = some_vote(generator, 60, 4)
    expected = vote.scores(ArrayTable(values))
    np.testing.assert_array_equal(vote.scores(table), expected)
    np.testing.assert_array_equal(added_up(vote, table), expected)


def test_black_boxes_vote_beside_stumps() -> None:
    rules: list[Hypothesis] = [
        StumpRule(0, 1.5, 0, 1, -1),
        Function(lambda rows: rows[:, 1], "second"),
    ]
    vote = Vote(rules, np.array([0.5, 2.0]))
    table = ArrayTable(np.array([[1.0, -1.0], [2.0, -1.0], [2.0, 4.0]]))
    assert vote.scores(table).tolist() == [-2.5, -1.5, 2.5]
    assert added_up(vote, table).tolist() == [-2.5, -1.5, 2.5]


def test_staged_gives_the_score_after_every_round() -> None:
    generator = np.random.default_rng(3)
    table = ArrayTable(some_values(generator, 50, 3))
    vote = some_vote(generator, 10, 3)
    for t, scores in enumerate(vote.staged(table), start=1):
        first = Vote(vote.hypotheses[:t], vote.votes[:t])
        np.testing.assert_array_equal(scores, first.scores(table))


RULES = [STUMP, TREE, WORDS, Three(STUMP, STUMP, TREE), Decision(Vote([STUMP], np.ones(1)))]
OTHERS: list[Any] = [
    [replace(STUMP, threshold=np.nextafter(0.5, 1)), *RULES[1:]],
    [STUMP, replace(TREE, values=TREE.values + 2.0**-40), *RULES[2:]],
    [STUMP, replace(TREE, cover=TREE.cover * 2), *RULES[2:]],
    [STUMP, replace(TREE, bins=Bins(BINS.thresholds, np.array([1]))), *RULES[2:]],
    [*RULES[:2], replace(WORDS, abstains=False), *RULES[3:]],
    [*RULES[:2], replace(WORDS, asked=WORDS.asked + 1), *RULES[3:]],
    [*RULES[:3], Three(STUMP, TREE, STUMP), RULES[4]],
    [*RULES[:4], Decision(Vote([STUMP], np.full(1, 2.0)))],
    RULES[::-1],
    RULES[:-1],
]


def digest(rules: list[Any]) -> str:
    return vote_digest(Vote(rules, np.ones(len(rules))))


def test_equal_votes_have_equal_fingerprints() -> None:
    equal = replace(TREE, bins=copy(BINS), values=TREE.values.copy())
    assert digest(RULES) == digest([STUMP, equal, *RULES[2:]])
    number: Any = np.int64(0)
    assert digest([replace(STUMP, feature=number)]) == digest([STUMP])
    sloped = replace(TREE, slope=np.empty(0, np.int8))
    assert digest([sloped]) == digest([TREE])


@pytest.mark.parametrize("number", range(len(OTHERS)))
def test_whatever_differs_shows(number: int) -> None:
    assert digest(OTHERS[number]) != digest(RULES)


def test_votes_show() -> None:
    assert vote_digest(Vote([STUMP], np.ones(1))) != vote_digest(Vote([STUMP], np.zeros(1)))
