"""Rules as plain numbers, for the model file, and back."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import FileError
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.majority import Decision, Three
from pacboost.hypotheses.pattern import Pattern
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.word_list import GRID, WordList
from pacboost.samples.bins import Bins


def to_plain(rule: Hypothesis) -> dict[str, Any]:
    """Give a rule as numbers and lists; null stands for a threshold above all values."""
    if isinstance(rule, StumpRule):
        content = asdict(rule)
        return {**content, "threshold": None if math.isinf(rule.threshold) else rule.threshold}
    if isinstance(rule, Three):
        return {"three": [to_plain(part) for part in (rule.first, rule.second, rule.third)]}
    if isinstance(rule, Decision):
        inner = [to_plain(part) for part in rule.vote.hypotheses]
        return {"decision": inner, "votes": rule.vote.votes.tolist()}
    if isinstance(rule, Pattern):
        return {
            "patterns": [line.tobytes().hex() for line in np.packbits(rule.patterns > 0, axis=1)],
            "masses": rule.masses.tolist(),
            "rules": [to_plain(part) for part in rule.rules],
        }
    if isinstance(rule, WordList):
        return {
            "words": rule.asked.tolist(),
            "abstains": rule.abstains,
            "values": np.rint(rule.values / GRID).astype(np.int64).tolist(),  # whole steps of it
        }
    if not isinstance(rule, TreeRule):
        raise FileError(
            f"the vote holds {type(rule).__name__} rules, which are black boxes; a model file "
            "holds stumps and trees only. Pickle the estimator, or train it with those."
        )
    return {
        "feature": rule.feature.tolist(),
        "cut": rule.cut.tolist(),
        "missing_left": rule.missing_left.astype(int).tolist(),
        "left": rule.left.tolist(),
        "right": rule.right.tolist(),
        "member": rule.member.tolist(),
        "members": [np.flatnonzero(line).tolist() for line in rule.members],
        "gain": rule.gain.tolist(),
        "cover": rule.cover.tolist(),
        "values": rule.values.tolist(),
    }


def from_plain(content: dict[str, Any], features: int, bins: Bins | None, outputs: int) -> Any:
    """Read a rule, and refuse one that no fit could have written."""
    if "above" in content:
        threshold = math.inf if content["threshold"] is None else content["threshold"]
        stump = StumpRule(**{**content, "threshold": threshold})
        if not 0 <= stump.feature < features:
            raise ValueError(f"a rule asks for a feature beyond the {features} there are")
        return stump
    if "patterns" in content:
        parts = [from_plain(part, features, bins, outputs) for part in content["rules"]]
        return _pattern(parts, content["patterns"], np.array(content["masses"], dtype=np.float64))
    if "three" in content:
        parts = [from_plain(part, features, bins, outputs) for part in content["three"]]
        return Three(*parts)
    if "decision" in content:
        inner = [from_plain(part, features, bins, outputs) for part in content["decision"]]
        votes = np.array(content["votes"], dtype=np.float64)
        if votes.shape != (len(inner),):
            raise ValueError("the rules and votes of a member are not as many")
        return Decision(Vote(inner, votes, outputs))
    if "words" in content:
        return _word_list(content, features, outputs)
    if bins is None:
        raise ValueError("a tree needs bins, and the file has none")
    members = np.zeros((len(content["members"]), 256), dtype=np.uint8)
    for line, codes in zip(members, content["members"], strict=True):
        line[codes] = 1
    tree = TreeRule(
        bins=bins,
        feature=_whole(content["feature"]),
        cut=_whole(content["cut"]),
        missing_left=np.array(content["missing_left"], dtype=np.bool_),
        left=_whole(content["left"]),
        right=_whole(content["right"]),
        member=_whole(content["member"]),
        members=members,
        gain=np.array(content["gain"], dtype=np.float64),
        cover=np.array(content["cover"], dtype=np.float64),
        values=np.array(content["values"], dtype=np.float64).reshape(-1, outputs),
    )
    _refuse_impossible(tree, features)
    return tree


def _pattern(rules: list[Any], patterns: list[str], masses: NDArray[np.float64]) -> Pattern:
    bits = np.array([list(bytes.fromhex(line)) for line in patterns], dtype=np.uint8)
    ok = bits.shape == (len(masses), (len(rules) + 7) // 8) and masses.shape == (len(bits), 2)
    if not (ok and len(bits) and (masses >= 0).all() and (masses.sum(axis=1) > 0).all()):
        raise ValueError("a table of patterns does not hang together")
    seen = np.unpackbits(bits, axis=1, count=len(rules)).astype(np.int8)
    return Pattern(rules, 2 * seen - np.int8(1), masses)


def _word_list(content: dict[str, Any], features: int, outputs: int) -> WordList:
    asked = _whole(content["words"])
    values = GRID * np.array(content["values"], dtype=np.float64).reshape(-1, outputs)
    known = bool(((asked >= 0) & (asked < features)).all()) and np.unique(asked).size == asked.size
    silent = not content["abstains"] or not values[-1:].any()
    if not (known and silent and len(values) == asked.size + 1 and np.isfinite(values).all()):
        raise ValueError("a list of words does not hang together")
    return WordList(asked, values, bool(content["abstains"]))


def _whole(numbers: list[int]) -> NDArray[np.int32]:
    return np.array(numbers, dtype=np.int32)


def _refuse_impossible(tree: TreeRule, features: int) -> None:
    """Check that every row comes to a leaf: children lie further on, and each is hung once."""
    splits, leaves = tree.feature.size, len(tree.values)
    children = np.concatenate([tree.left, tree.right])
    parents = np.tile(np.arange(splits), 2)
    hung = np.sort(np.concatenate([[0], np.where(children >= 0, children, splits + ~children)]))
    if splits == 0:
        hung = np.arange(leaves)
    ok = all(
        array.size == splits for array in (tree.cut, tree.missing_left, tree.member, tree.gain)
    )
    ok = ok and tree.left.size == tree.right.size == splits and leaves == splits + 1
    ok = ok and np.array_equal(hung, np.arange(splits + leaves))
    ok = ok and bool((children[children >= 0] > parents[children >= 0]).all())
    ok = ok and bool(((tree.feature >= 0) & (tree.feature < features)).all())
    ok = ok and bool((tree.member < len(tree.members)).all())
    ok = ok and tree.bins.missing < 256  # a line of members has that many places
    if not (ok and np.isfinite(tree.values).all() and tree.cover.size == splits + leaves):
        raise ValueError("a tree does not hang together")
