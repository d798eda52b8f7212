"""The fingerprint of a vote: other for whatever is other in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pacboost.hypotheses.digest import vote_digest
from pacboost.hypotheses.majority import Decision, Three
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.word_list import WordList
from pacboost.samples.bins import Bins

BINS = Bins((np.array([0.5], dtype=np.float32),), np.array([0]))
STUMP = StumpRule(0, 0.5, 0, 1, 1)
TREE = TreeRule.constant(BINS, np.array([0.25]))
WORDS = WordList(np.array([3], dtype=np.int32), np.array([[1.0], [0.0]]))
RULES = [STUMP, TREE, WORDS, Three(STUMP, STUMP, TREE), Decision(Vote([STUMP], np.ones(1)))]
OTHERS: list[Any] = [
    [replace(STUMP, threshold=np.nextafter(0.5, 1)), *RULES[1:]],
    [STUMP, replace(TREE, values=TREE.values + 2.0**-40), *RULES[2:]],
    [STUMP, replace(TREE, cover=TREE.cover * 2), *RULES[2:]],
    [STUMP, replace(TREE, bins=replace(BINS, middle=np.array([1]))), *RULES[2:]],
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
    copy = replace(TREE, bins=replace(BINS), values=TREE.values.copy())
    assert digest(RULES) == digest([STUMP, copy, *RULES[2:]])
    number: Any = np.int64(0)
    assert digest([replace(STUMP, feature=number)]) == digest([STUMP])
    sloped = replace(TREE, slope=np.empty(0, np.int8))
    assert digest([sloped]) == digest([TREE])


@pytest.mark.parametrize("number", range(len(OTHERS)))
def test_whatever_differs_shows(number: int) -> None:
    assert digest(OTHERS[number]) != digest(RULES)


def test_votes_show() -> None:
    assert vote_digest(Vote([STUMP], np.ones(1))) != vote_digest(Vote([STUMP], np.zeros(1)))
