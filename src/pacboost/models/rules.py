"""Rules as plain numbers, for the model file, and back."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import FileError
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.samples.bins import Bins


def to_plain(rule: Hypothesis) -> dict[str, Any]:
    """Give a stump or a tree as numbers and lists; null stands for a threshold above all values."""
    if isinstance(rule, StumpRule):
        content = asdict(rule)
        return {**content, "threshold": None if math.isinf(rule.threshold) else rule.threshold}
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
