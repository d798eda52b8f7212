"""Word lists: the first word speaks, and turned over they say the same bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.boosters.booster import whole_values
from pacboost.hypotheses.hypothesis import Names
from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.word_list import WordList
from pacboost.kernels.runtime.threads import using
from pacboost.samples.sample import unlabelled
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.sparse import words_of
from tests.word_samples import some_presence

Doubles = NDArray[np.float64]
MANY = settings(max_examples=80, deadline=None)


def some_list(generator: np.random.Generator, words: int, outputs: int) -> WordList:
    asked = generator.permutation(words)[: generator.integers(0, words + 1)].astype(np.int32)
    values = whole_values(generator.normal(size=(asked.size + 1, outputs)))
    rule = WordList(asked, values, bool(asked.size and generator.random() < 0.5))
    return rule.valued(rule.allowed(values), np.ones(len(values)))


def by_hand(rule: WordList, row: Doubles) -> Doubles:
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
    wanted = [sum(by_hand(rule, row) for rule in rules) for row in presence]
    dense = ArrayTable(presence)
    for table in (dense, words_of(dense)):
        *_, last = vote.staged(table)
        scores = vote.scores(table)
        assert np.array_equal(scores, last)
        assert np.array_equal(scores.reshape(-1, outputs), np.array(wanted))


def test_any_number_of_threads_gives_the_same_scores() -> None:
    generator = np.random.default_rng(1)
    table = words_of(ArrayTable((generator.random((40_000, 8)) < 0.3).astype(float)))
    vote = Vote([some_list(generator, 8, 3) for _ in range(20)], np.ones(20), 3)
    alone = vote.scores(table)
    with using(3):
        assert np.array_equal(vote.scores(table), alone)


def test_words_beyond_those_of_the_lists_say_nothing() -> None:
    table = words_of(ArrayTable(np.eye(5)))
    rule = WordList(np.array([1], np.int32), np.array([[2.0], [-1.0]]), abstains=False)
    assert Vote([rule], np.ones(1)).scores(table).tolist() == [-1, 2, -1, -1, -1]


@pytest.mark.parametrize("words", [255, 256, 300])
def test_lists_longer_than_a_byte_counts(words: int) -> None:
    table = words_of(ArrayTable(np.eye(words + 1)))
    rule = WordList(np.arange(words, dtype=np.int32), np.zeros((words + 1, 1)))
    assert rule.cells(unlabelled(table)).tolist() == list(range(words + 1))


def test_in_words() -> None:
    names = Names(lambda j: f"w{j}", ("a", "b", "c"))
    values = np.array([[0.5, 0, 0], [0, 0.25, 0], [0, 0, -0.0]])
    asked = np.array([4, 2], np.int32)
    rule = WordList(asked, values)
    assert rule.words(names) == "if it contains 'w4' → a +0.5, else if it contains 'w2' → b +0.25"
    assert WordList(asked, values, abstains=False).words(names).endswith("→ b +0.25, else a +0")
    long = WordList(np.arange(6, dtype=np.int32), np.ones((7, 3)))
    assert long.words(names).endswith("else if it contains 'w3' → a +1, else … (2 more)")
    assert WordList.constant(3).words(names) == "always a +0"


def test_abstaining_lists_keep_silent_and_others_speak() -> None:
    values = np.ones((3, 2))
    rule = WordList(np.array([0, 1], np.int32), values)
    assert rule.allowed(values).tolist() == [[1, 1], [1, 1], [0, 0]]
    assert values.tolist() == [[1, 1]] * 3
    speaking = WordList(rule.asked, values, abstains=False)
    assert speaking.allowed(values).tolist() == values.tolist()


def test_no_value_is_a_negative_zero() -> None:
    """A file holds whole steps of the grid; what it gives back has to be the same bits."""
    rule = WordList(np.array([0], np.int32), np.zeros((2, 1)))
    kept = rule.allowed(np.array([[-1e-9], [-0.0]]))
    assert not np.signbit(kept).any()
