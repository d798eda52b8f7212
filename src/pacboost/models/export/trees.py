"""All rules of a vote as trees in one list, which every exported program walks.

Rules of one column add up to a step function, which is a search tree: a row takes a few comparisons
however many rounds used the column. The scores are the same bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.forest import LOW, Forest
from pacboost.hypotheses.hypothesis import FeaturePart
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote
from pacboost.kernels.forest import LEAF

Whole = NDArray[np.int64]
Lines = NDArray[np.float64]
Subset = tuple[int, ...]

NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Trees:
    """Splits of trees; a child is the number of a split, or ``~line`` with the values of a leaf.

    A value of at most ``cut``, compared as 32-bit float, goes left; if ``subset`` is not -1, the
    levels in that line of ``subsets`` do. So an infinite cut sends all values one way.
    """

    feature: Whole
    cut: NDArray[np.float32]
    missing_left: NDArray[np.bool_]
    left: Whole
    right: Whole
    subset: Whole
    subsets: tuple[Subset, ...]
    roots: Whole
    lines: Lines
    """(lines, outputs)"""

    @property
    def outputs(self) -> int:
        """Number of outputs of a row."""
        return int(self.lines.shape[1])

    @classmethod
    def join(cls, parts: Iterable[Trees], outputs: int) -> Trees:
        """Concatenate trees; equal subsets and equal lines are stored once."""
        all_parts = [cls.none(outputs), *parts]
        splits = np.cumsum([0, *(part.feature.size for part in all_parts)])
        firsts = np.cumsum([0, *(len(part.lines) for part in all_parts)])
        lines, line = np.unique(
            np.concatenate([part.lines for part in all_parts]), axis=0, return_inverse=True
        )
        distinct = dict.fromkeys(subset for part in all_parts for subset in part.subsets)
        subsets = {subset: number for number, subset in enumerate(distinct)}

        def moved(children: Whole, part: int) -> Whole:
            leaf = children < 0
            out: Whole = children + splits[part]
            out[leaf] = ~line.ravel()[~children[leaf] + firsts[part]]
            return out

        def numbered(part: Trees) -> Whole:
            numbers = np.array([subsets[s] for s in part.subsets] + [-1], dtype=np.int64)
            return numbers[part.subset]

        def joined(name: str) -> NDArray[Any]:
            return np.concatenate([getattr(part, name) for part in all_parts])

        def children(name: str) -> Whole:
            return np.concatenate([moved(getattr(p, name), k) for k, p in enumerate(all_parts)])

        return cls(
            feature=joined("feature"), cut=joined("cut"), missing_left=joined("missing_left"),
            left=children("left"), right=children("right"),
            subset=np.concatenate([numbered(part) for part in all_parts]), subsets=tuple(subsets),
            roots=children("roots"), lines=lines,
        )  # fmt: skip

    @classmethod
    def none(cls, outputs: int) -> Trees:
        """Return no trees."""
        cuts, flags = np.empty(0, dtype=np.float32), np.empty(0, dtype=np.bool_)
        return cls(NONE, cuts, flags, NONE, NONE, NONE, (), NONE, np.empty((0, outputs)))

    @classmethod
    def always(cls, line: Lines) -> Trees:
        """Return the tree of a single leaf."""
        return replace(cls.none(line.size), roots=np.array([~0]), lines=line.reshape(1, -1))


def splits_of(vote: Vote | Forest) -> int:
    """Count the splits of all trees."""
    if isinstance(vote, Forest):
        return (vote.n_nodes - len(vote)) // 2
    return sum(tree.feature.size for tree, _ in vote.trees)


def of_vote(vote: Vote | Forest) -> Trees:
    """Lay out a vote of stumps and trees; a forest tree by tree, as its sums may depend on that."""
    if isinstance(vote, Forest):
        parts = (_of_grown(vote, tree.nodes, tree.table) for tree in vote.trees())
        return Trees.join(parts, vote.classes if vote.many else 1)
    steps: dict[int, list[FeaturePart]] = {}
    always, trees = np.zeros(vote.outputs), list[Trees]()
    for feature, part in vote.steps.items():
        steps[feature] = [part]
    for rule, cast in vote.trees:
        if not rule.feature.size:
            always = always + cast * rule.values[0]
        elif rule.feature.size == 1 and rule.member[0] < 0:
            part = rule.feature_part(cast * rule.values)
            steps.setdefault(int(rule.feature[0]), []).append(part)
        else:
            trees.append(_of_tree(rule, cast))
    # a thousand stumps on ten columns are ten searches
    searches = [_search(feature, FeaturePart.sum(steps[feature])) for feature in sorted(steps)]
    constant = [Trees.always(always)] if always.any() else []
    return Trees.join([*constant, *searches, *trees], vote.outputs)


def _of_tree(rule: TreeRule, vote: float) -> Trees:
    bins, chosen = rule.bins, rule.member >= 0
    missing_left = rule.missing_left.copy()
    missing_left[chosen] = rule.members[rule.member[chosen], bins.missing] != 0
    subset: Whole = np.full(rule.feature.size, -1)
    subsets: list[Subset] = []
    pairs = zip((bins.thresholds[feature] for feature in rule.feature), rule.cut, strict=True)
    # a cut above all thresholds asks whether the value is known: infinity sends all known
    # ones left
    cuts = np.array([t[c] if c < t.size else np.inf for t, c in pairs], dtype=np.float32)
    for split in np.flatnonzero(chosen):
        inside = rule.members[rule.member[split], : bins.levels[rule.feature[split]]] != 0
        # some runtimes take an empty set for the end of the list
        if inside.all() or not inside.any():  # all levels go one way
            cuts[split] = np.inf if inside.all() else -np.inf
        else:
            subset[split] = len(subsets)
            subsets.append(tuple(np.flatnonzero(inside).tolist()))
    return Trees(
        rule.feature.astype(np.int64), cuts, missing_left, rule.left.astype(np.int64),
        rule.right.astype(np.int64), subset, tuple(subsets), np.zeros(1, dtype=np.int64),
        vote * rule.values,
    )  # fmt: skip


def _search(feature: int, part: FeaturePart) -> Trees:
    """Return the tree that finds the step of a value by halving."""
    cuts, heights = part.thresholds, part.steps
    splits = list(_halving(0, cuts.size, 1))  # split 0 tests for a missing value
    first = 1 if cuts.size else ~0
    children = np.array([(first, ~len(heights)), *(split[1:] for split in splits)])
    count = len(children)
    return Trees(
        np.full(count, feature), np.array([np.inf, *(cuts[s[0]] for s in splits)], np.float32),
        np.zeros(count, dtype=np.bool_), children[:, 0], children[:, 1], np.full(count, -1), (),
        np.zeros(1, dtype=np.int64), np.vstack([heights, part.missing]),
    )  # fmt: skip


def _halving(low: int, high: int, number: int) -> Iterator[tuple[int, int, int]]:
    """Return (cut, left, right) of the splits over cuts low to high, numbered from ``number``."""
    if low == high:
        return
    middle = (low + high) // 2
    left = number + 1 if middle > low else ~low
    right = number + 1 + middle - low if high > middle + 1 else ~high
    yield middle, left, right
    yield from _halving(low, middle, number + 1)
    yield from _halving(middle + 1, high, number + 1 + middle - low)


def _of_grown(forest: Forest, nodes: NDArray[np.uint64], table: NDArray[np.float32]) -> Trees:
    feature, payload = (nodes >> np.uint64(41)), (nodes & LOW).astype(np.int64)
    leaf = feature == LEAF
    inner = np.flatnonzero(~leaf)
    number = np.where(leaf, ~(np.cumsum(leaf) - 1), np.cumsum(~leaf) - 1)
    features = feature[inner].astype(np.int64)
    cut = ((nodes[inner] >> np.uint64(32)) & np.uint64(255)).astype(np.int64)
    sizes = np.array([column.size for column in forest.bins.thresholds], dtype=np.int64)
    firsts, has_cut = np.cumsum(sizes) - sizes, cut < sizes[features]
    cuts = np.full(features.size, np.inf, dtype=np.float32)
    cuts[has_cut] = np.concatenate(forest.bins.thresholds)[(firsts[features] + cut)[has_cut]]
    return Trees(
        features, cuts, ((nodes[inner] >> np.uint64(40)) & np.uint64(1)).astype(np.bool_),
        number[inner + 1], number[payload[inner]], np.full(inner.size, -1), (), number[:1],
        _leaf_values(forest, payload[leaf], table.astype(np.float64)),
    )  # fmt: skip


def _leaf_values(forest: Forest, payload: Whole, table: Lines) -> Lines:
    if not forest.many:
        values = payload.astype(np.uint32).view(np.float32).astype(np.float64)
        hard = forest.hard and forest.classes > 0
        return (values > 0.5 if hard else values).astype(np.float64)[:, None]
    pure = np.eye(forest.classes)
    mixed = pure[table.argmax(axis=1)] if forest.hard else table
    lines: Lines = np.concatenate([pure, mixed])[payload]
    return lines
