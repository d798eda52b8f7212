"""Rules in a model file: those of one kind that follow each other lie side by side.

An entry of the list names its kind. Rules that are made of rules hold a list of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pacboost.errors import FileError
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.majority import Decision, Three
from pacboost.hypotheses.pattern import Pattern
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.word_list import WordList
from pacboost.models.file.encoding import flat_rules, tree_rules
from pacboost.models.file.encoding.fields import LARGEST, Fields
from pacboost.samples.bins import Bins

KINDS = ("stumps", "trees", "word_lists", "three", "decision", "pattern")
BYTES_A_RULE = 1_000


def to_plain(rules: Sequence[Hypothesis]) -> list[dict[str, Any]]:
    """Give rules as entries of a model file."""
    return [_written(run) for run in _runs(rules)]


def _runs(rules: Sequence[Hypothesis]) -> Iterator[list[Any]]:
    """Cut rules into runs that lie side by side."""
    run: list[Any] = []
    splits = 0
    for rule in rules:
        flat = type(rule) in (StumpRule, TreeRule, WordList)
        if run and (type(rule) is not type(run[0]) or not flat or splits > tree_rules.LONGEST_RUN):
            yield run
            run, splits = [], 0
        run.append(rule)
        splits += rule.feature.size if isinstance(rule, TreeRule) else 0
    if run:
        yield run


def _written(run: list[Any]) -> dict[str, Any]:
    rule = run[0]
    if isinstance(rule, StumpRule):
        return {"kind": "stumps", **flat_rules.stumps_written(run)}
    if isinstance(rule, TreeRule):
        return {"kind": "trees", **tree_rules.written(run)}
    if isinstance(rule, WordList):
        return {"kind": "word_lists", **flat_rules.lists_written(run)}
    if isinstance(rule, Three):
        return {"kind": "three", "rules": to_plain([rule.first, rule.second, rule.third])}
    if isinstance(rule, Decision):
        votes = rule.vote.votes.astype(np.float64)
        return {"kind": "decision", "rules": to_plain(rule.vote.hypotheses), "votes": votes}
    if isinstance(rule, Pattern):
        patterns = np.packbits(rule.patterns > 0, axis=1)
        return {
            "kind": "pattern",
            "rules": to_plain(rule.rules),
            "patterns": patterns,
            "masses": rule.masses,
        }
    raise FileError(
        f"the vote holds {type(rule).__name__} rules, which are black boxes; a model file "
        "holds stumps, trees and lists of words only. Pickle the estimator, or train it with those."
    )


def from_plain(
    parts: Sequence[Fields], features: int, bins: Bins | None, outputs: int
) -> list[Hypothesis]:
    """Read rules, and refuse what no fit could have written."""
    return [rule for part in parts for rule in _read(part, features, bins, outputs)]


def _read(part: Fields, features: int, bins: Bins | None, outputs: int) -> Sequence[Hypothesis]:
    kind = part.word("kind", KINDS)
    if kind == "trees":
        return tree_rules.read(part, features, bins, outputs)
    if kind == "word_lists":
        return flat_rules.lists_read(part, features, outputs)
    if kind != "decision" and outputs != 1 and kind != "three":
        part.refuse("kind", f"is {kind}, which answer yes or no; {outputs} outputs need others")
    if kind == "stumps":
        return flat_rules.stumps_read(part, features, bins)
    part.room.take(BYTES_A_RULE, part.where)
    rules = from_plain(part.parts("rules"), features, bins, outputs)
    made: Hypothesis
    if kind == "three":
        if len(rules) != 3:
            part.refuse("rules", f"are {len(rules)}; a majority of three has three")
        made = Three(*rules)
    elif kind == "decision":
        made = Decision(Vote(rules, part.array("votes", np.float64, len(rules)), outputs))
    else:
        made = _pattern(part, rules)
    part.end()
    return [made]


def _pattern(part: Fields, rules: list[Hypothesis]) -> Pattern:
    bits = part.array("patterns", np.uint8, None, (len(rules) + 7) // 8, within=(0, 255))
    masses = part.array("masses", np.float64, len(bits), 2, within=(0, LARGEST))
    if not len(bits) or not (masses.sum(axis=1) > 0).all():
        part.refuse("masses", "give a pattern that no row had")
    part.room.take(3 * len(bits) * len(rules), part.where)
    seen = np.unpackbits(bits, axis=1, count=len(rules)).astype(np.int8)
    return Pattern(rules, 2 * seen - np.int8(1), masses)
