"""Proper or improper: does the vote lie in the class of rules that the weak learner answers with?

A vote of many rules mostly does not. That is why boosting can be stronger than its learner, and why
its result is called improper in the PAC model. It does if at most one of its rules tells rows
apart, or if all that do ask one and the same question: a single rule then decides as the vote does.
"""

from __future__ import annotations

from collections.abc import Hashable

from pacboost.hypotheses.hypothesis import Hypothesis, Valued
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.word_list import WordList


def is_proper(vote: Vote) -> bool:
    """Tell whether one rule of the learner decides as the vote does.

    >>> import numpy as np
    >>> stumps = [StumpRule(0, 2.5, 2, +1, -1), StumpRule(0, 2.5, 2, +1, -1)]
    >>> is_proper(Vote(stumps, np.ones(2)))
    True
    >>> stumps[1] = StumpRule(0, 3.5, 3, -1, -1)
    >>> is_proper(Vote(stumps, np.ones(2)))
    False
    """
    asked = [questions for rule in vote.hypotheses if (questions := _questions(rule))]
    return len(asked) <= 1 or len(frozenset().union(*asked)) == 1


def _questions(rule: Hypothesis) -> frozenset[Hashable]:
    """What a rule asks of a row; nothing if it is constant."""
    if isinstance(rule, Valued):
        return _questions(rule.rule)
    if isinstance(rule, StumpRule):
        return frozenset() if rule.is_constant else frozenset([(rule.feature, rule.threshold)])
    if isinstance(rule, WordList):
        return frozenset(rule.asked.tolist())
    if isinstance(rule, TreeRule):
        return frozenset(_splits(rule))
    return frozenset([id(rule)])


def _splits(tree: TreeRule) -> list[Hashable]:
    subsets = [tree.members[k].tobytes() if k >= 0 else b"" for k in tree.member]
    columns = (tree.feature.tolist(), tree.cut.tolist(), tree.missing_left.tolist(), subsets)
    return list(zip(*columns, strict=True))
