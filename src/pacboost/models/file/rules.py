"""Rules in a model file: consecutive rules of one kind are stored side by side.

An entry of the list names its kind and has one array for each field of its rules. Rules made of
other rules hold a nested list.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import FileError
from pacboost.hypotheses.forest import LOW, Block
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.majority import Decision, Pattern, Three
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.word_list import GRID, WordList
from pacboost.kernels.forest import LEAF
from pacboost.models.file.fields import MAX_NUMBER, Fields
from pacboost.samples.bins import Bins

BYTES_A_STUMP, BYTES_A_LIST = 300, 700
MAX_GRID_STEPS = 5_000_000
"""At most this many values are stored as steps of a grid in 16 or 32 bits; up to twice as many in
32 bits, and more as doubles: the memory to expand them is bounded by the size of the file."""

SIGNS = ("above", "missing")
STUMP: dict[str, type[np.generic]] = {
    "feature": np.int32, "threshold": np.float64, "cut": np.int64, **dict.fromkeys(SIGNS, np.int8),
}  # fmt: skip


def stumps_read(part: Fields, features: int, bins: Bins | None) -> list[StumpRule]:
    """Read stumps, and refuse those that no fit could have written."""
    feature = part.array("feature", np.int32, None, within=(0, features - 1))
    part.room.take(feature.size * BYTES_A_STUMP, part.where)
    threshold = part.array("threshold", np.float64, feature.size, within=(-MAX_NUMBER, math.inf))
    with np.errstate(over="ignore"):
        if (threshold.astype(np.float32) != threshold).any():
            part.refuse("threshold", "is no 32-bit float")
    cut = part.array("cut", np.int64, feature.size, within=(0, 2**31))
    signs = [part.array(name, np.int8, feature.size, within=(-1, 1)) for name in SIGNS]
    for name, sign in zip(SIGNS, signs, strict=True):
        if (sign == 0).any():
            part.refuse(name, "holds an answer that is neither -1 nor +1")
    part.end()
    lines = zip(*(array.tolist() for array in (feature, threshold, cut, *signs)), strict=True)
    stumps = [StumpRule(*line) for line in lines]
    if bins is not None and not all(_cuts_where_it_says(stump, bins) for stump in stumps):
        part.refuse("cut", "is not where the threshold is")
    return stumps


def _cuts_where_it_says(stump: StumpRule, bins: Bins) -> bool:
    """Check whether the thresholds of codes and of values agree."""
    thresholds = bins.thresholds[stump.feature]
    if stump.cut >= thresholds.size:
        return math.isinf(stump.threshold)
    return bool(thresholds[stump.cut] == stump.threshold)


def lists_written(lists: Sequence[WordList]) -> dict[str, Any]:
    """Concatenate lists of words; ``sizes`` holds the number of words of each."""
    values = np.concatenate([rule.values for rule in lists])
    return {
        "sizes": np.array([rule.asked.size for rule in lists], dtype=np.int32),
        "words": np.concatenate([rule.asked for rule in lists]).astype(np.int32),
        "abstains": np.array([rule.abstains for rule in lists], dtype=np.bool_),
        "every": np.array([rule.every for rule in lists], dtype=np.bool_),
        "grid": GRID,
        "values": _as_steps(values) if values.size <= 2 * MAX_GRID_STEPS else values,
    }


def _as_steps(values: NDArray[np.float64]) -> NDArray[Any]:
    """Return values as multiples of the grid in the fewest bits, if possible."""
    steps = np.rint(values / GRID)
    if not np.array_equal(steps * GRID, values):
        return values
    kinds = (np.int16, np.int32) if values.size <= MAX_GRID_STEPS else (np.int32,)
    for kind in kinds:
        if np.abs(steps).max(initial=0) <= np.iinfo(kind).max:
            return steps.astype(kind)
    return values


def lists_read(part: Fields, features: int, outputs: int) -> list[WordList]:
    """Read lists of words, and refuse those that no fit could have written."""
    sizes = part.array("sizes", np.int32, None, within=(0, features))
    total = int(sizes.sum(dtype=np.int64))
    part.room.take(sizes.size * BYTES_A_LIST, part.where)
    words = part.array("words", np.int32, total, within=(0, features - 1))
    with part.room.lent(24 * total, part.where):
        asked = np.repeat(np.arange(sizes.size) * features, sizes) + words
        asked.sort()
        if (asked[1:] == asked[:-1]).any():
            part.refuse("words", "names a word twice in one list")
        del asked
    abstains = part.array("abstains", np.bool_, sizes.size)
    every = part.array("every", np.bool_, sizes.size)
    grid = part.number("grid")
    if not 0 < grid <= 1 or math.frexp(grid)[0] != 0.5:
        part.refuse("grid", "is no power of two up to 1")
    values = _values(part, grid, total + sizes.size, outputs)
    part.end()
    ends = np.cumsum(sizes + 1, dtype=np.int64)
    if values[ends[abstains] - 1].any():
        part.refuse("values", "of a list that abstains are not 0 where no word occurs")
    words_of, values_of = (np.split(array, cuts[:-1]) for array, cuts in (
        (words, np.cumsum(sizes, dtype=np.int64)), (values, ends)))  # fmt: skip
    flags = abstains.tolist(), every.tolist()
    return list(map(WordList, words_of, values_of, *flags)) if sizes.size else []


def _values(part: Fields, grid: float, lines: int, outputs: int) -> NDArray[np.float64]:
    values = part.any("values")
    part = Fields({"values": values}, part.where, part.room)
    kind = values.dtype if isinstance(values, np.ndarray) else np.dtype(np.float64)
    if kind not in (np.int16, np.int32):
        return part.array("values", np.float64, lines, outputs)
    steps = part.array("values", kind, lines, outputs)
    part.room.take(8 * steps.size, f"{part.where}.values")
    return steps * np.float64(grid)


MAX_SPLITS_IN_RUN = 2**16
"""A new group of trees begins after this many splits, so that checking needs little memory."""
MAX_LEAVES = 2**16
BYTES_TO_CHECK_A_SPLIT = 150
BYTES_A_TREE = 2_000
INTEGER_FIELDS = ("feature", "cut", "left", "right", "member")
TREE_FIELDS: dict[str, type[np.generic]] = {
    **dict.fromkeys(INTEGER_FIELDS, np.int32),
    "missing_left": np.bool_,
    **dict.fromkeys(("gain", "cover", "values"), np.float64),
}
"""The arrays of a tree that are stored unchanged; sets of levels are packed into bits."""
MIN_INT32, MAX_INT32 = -(2**31), 2**31 - 1


def written(trees: Sequence[TreeRule]) -> dict[str, NDArray[np.generic]]:
    """Concatenate trees; ``splits`` and ``subsets`` hold their numbers for each tree."""
    joined = {name: np.concatenate([getattr(t, name) for t in trees]) for name in TREE_FIELDS}
    return {
        "splits": np.array([tree.feature.size for tree in trees], dtype=np.int32),
        "subsets": np.array([len(tree.members) for tree in trees], dtype=np.int32),
        "members": np.packbits(np.concatenate([tree.members for tree in trees]) != 0, axis=1),
        **{name: joined[name].astype(kind) for name, kind in TREE_FIELDS.items()},
    }


def read(part: Fields, features: int, bins: Bins | None, outputs: int) -> list[TreeRule]:
    """Read trees, and refuse those that no fit could have grown."""
    if bins is None or bins.missing > 255:  # a line of members has 256 places
        part.refuse(None, "trees need bins with codes of 8 bits")
    splits = part.array("splits", np.int32, None, within=(0, MAX_LEAVES - 1))
    count, total = splits.size, int(splits.sum(dtype=np.int64))
    subsets = part.array("subsets", np.int32, count, within=(0, MAX_LEAVES))
    lines = int(subsets.sum(dtype=np.int64))
    part.room.take(256 * lines + BYTES_A_TREE * count, part.where)
    bounds = (MIN_INT32, MAX_INT32)
    arrays: dict[str, NDArray[Any]] = {
        name: part.array(name, np.int32, total, within=bounds) for name in INTEGER_FIELDS
    }
    arrays["missing_left"] = part.array("missing_left", np.bool_, total)
    arrays["members"] = np.unpackbits(part.array("members", np.uint8, lines, 32), axis=1)
    arrays["gain"] = part.array("gain", np.float64, total)
    arrays["cover"] = part.array("cover", np.float64, 2 * total + count, within=(0, MAX_NUMBER))
    arrays["values"] = part.array("values", np.float64, total + count, outputs)
    part.end()
    with part.room.lent(BYTES_TO_CHECK_A_SPLIT * total, part.where):
        _refuse_impossible(part, arrays, splits, subsets, features)
    sizes = {"members": subsets, "cover": 2 * splits + 1, "values": splits + 1}
    ends = {
        name: [0, *np.cumsum(sizes.get(name, splits), dtype=np.int64).tolist()] for name in arrays
    }
    fields_of_trees = (
        {name: array[ends[name][t] : ends[name][t + 1]] for name, array in arrays.items()}
        for t in range(count)
    )
    return [TreeRule(bins=bins, **fields_of_tree) for fields_of_tree in fields_of_trees]


def _refuse_impossible(
    part: Fields,
    integers: dict[str, NDArray[Any]],
    splits: NDArray[np.int32],
    subsets: NDArray[np.int32],
    features: int,
) -> None:
    """Check that every row reaches a leaf: children follow their parent, and have only one."""
    feature, cut, member = integers["feature"], integers["cut"], integers["member"]
    if feature.size and not 0 <= feature.min() <= feature.max() < features:
        part.refuse("feature", f"asks for a feature beyond the {features} there are")
    tree = np.repeat(np.arange(splits.size), splits)
    n_splits, first = splits[tree], (np.cumsum(splits, dtype=np.int64) - splits)[tree]
    if (cut < -1).any():
        part.refuse("cut", "lies below all codes")
    if ((member < -1) | (member >= subsets[tree])).any():
        part.refuse("member", "asks for a set of levels that does not exist")
    place = np.arange(tree.size) - first
    hung: list[NDArray[np.int64]] = []
    for name in ("left", "right"):
        child = integers[name].astype(np.int64)
        inner = child >= 0
        fits = np.where(inner, (child > place) & (child < n_splits), ~child <= n_splits)
        if not fits.all():
            part.refuse(name, "names a child that is not further on in its tree")
        hung.append(np.where(inner, first + child, tree.size + first + tree + ~child))
    if np.bincount(np.concatenate(hung)).max(initial=0) > 1:
        part.refuse("right", "names a child that already has a parent")


KINDS = ("stumps", "trees", "word_lists", "three", "decision", "pattern")
BYTES_A_RULE = 1_000


def to_plain(rules: Sequence[Hypothesis]) -> list[dict[str, Any]]:
    """Return rules as entries of a model file."""
    return [_written(run) for run in _runs(rules)]


def _runs(rules: Sequence[Hypothesis]) -> Iterator[list[Any]]:
    """Split rules into runs of one kind."""
    run: list[Any] = []
    splits = 0
    for rule in rules:
        flat = type(rule) in (StumpRule, TreeRule, WordList)
        if run and (type(rule) is not type(run[0]) or not flat or splits > MAX_SPLITS_IN_RUN):
            yield run
            run, splits = [], 0
        run.append(rule)
        splits += rule.feature.size if isinstance(rule, TreeRule) else 0
    if run:
        yield run


def _written(run: list[Any]) -> dict[str, Any]:
    rule = run[0]
    if isinstance(rule, StumpRule):
        columns = {name: [getattr(stump, name) for stump in run] for name in STUMP}
        return {"kind": "stumps"} | {k: np.array(v, dtype=STUMP[k]) for k, v in columns.items()}
    if isinstance(rule, TreeRule):
        return {"kind": "trees", **written(run)}
    if isinstance(rule, WordList):
        return {"kind": "word_lists", **lists_written(run)}
    if isinstance(rule, Three):
        return {"kind": "three", "rules": to_plain([rule.first, rule.second, rule.third])}
    if isinstance(rule, Decision):
        votes = rule.vote.votes.astype(np.float64)
        return {"kind": "decision", "rules": to_plain(rule.vote.hypotheses), "votes": votes}
    if isinstance(rule, Pattern):
        patterns = np.packbits(rule.patterns > 0, axis=1)
        return {
            "kind": "pattern", "rules": to_plain(rule.rules), "patterns": patterns,
            "masses": rule.masses,
        }  # fmt: skip
    raise FileError(
        f"the vote holds {type(rule).__name__} rules, which are black boxes; a model file "
        "holds stumps, trees and lists of words only. Pickle the estimator, or train it with those."
    )


def from_plain(
    parts: Sequence[Fields], features: int, bins: Bins | None, outputs: int
) -> list[Hypothesis]:
    """Read rules, and refuse those that no fit could have written."""
    return [rule for part in parts for rule in _read(part, features, bins, outputs)]


def _read(part: Fields, features: int, bins: Bins | None, outputs: int) -> Sequence[Hypothesis]:
    kind = part.word("kind", KINDS)
    if kind == "trees":
        return read(part, features, bins, outputs)
    if kind == "word_lists":
        return lists_read(part, features, outputs)
    if kind != "decision" and outputs != 1 and kind != "three":
        part.refuse("kind", f"is {kind}, which answer yes or no; {outputs} outputs need others")
    if kind == "stumps":
        return stumps_read(part, features, bins)
    part.room.take(BYTES_A_RULE, part.where)
    rules = from_plain(part.parts("rules"), features, bins, outputs)
    rule: Hypothesis
    if kind == "three":
        if len(rules) != 3:
            part.refuse("rules", f"are {len(rules)}; a majority of three has three")
        rule = Three(*rules)
    elif kind == "decision":
        rule = Decision(Vote(rules, part.array("votes", np.float64, len(rules)), outputs))
    else:
        bits = part.array("patterns", np.uint8, None, (len(rules) + 7) // 8, within=(0, 255))
        masses = part.array("masses", np.float64, len(bits), 2, within=(0, MAX_NUMBER))
        if not len(bits) or not (masses.sum(axis=1) > 0).all():
            part.refuse("masses", "give a pattern that no row had")
        part.room.take(3 * len(bits) * len(rules), part.where)
        patterns = np.unpackbits(bits, axis=1, count=len(rules)).astype(np.int8)
        rule = Pattern(rules, 2 * patterns - np.int8(1), masses)
    part.end()
    return [rule]


NODES_PER_CHECK = 2**18
"""Nodes of a forest that are checked at a time: a thousand trees have some ten million."""


def block_read(part: Fields, features: int, classes: int) -> Block:
    """Read the trees of a block of a forest."""
    nodes = part.array("nodes", np.uint64, None, within=(0, np.inf))
    firsts = part.array("firsts", np.int64, None, within=(0, nodes.size))
    bases = part.array("bases", np.int64, firsts.size, within=(0, np.inf))
    table = part.array("table", np.float32, None, classes if classes > 2 else 1)
    part.end()
    starts_at_zero = firsts.size >= 2 and firsts[0] == bases[0] == 0
    ascending = (firsts[1:] > firsts[:-1]).all() and (bases[1:] >= bases[:-1]).all()
    if not (starts_at_zero and ascending):
        part.refuse("firsts", "do not give the start of every tree")
    if firsts[-1] != nodes.size or bases[-1] != len(table):
        part.refuse("firsts", "are not those of as many nodes and lines")
    for start in range(0, nodes.size, NODES_PER_CHECK):
        _refuse_impossible_nodes(part, Block(nodes, firsts, table, bases), start, features, classes)
    return Block(nodes, firsts, table, bases)


def _refuse_impossible_nodes(
    part: Fields, block: Block, start: int, features: int, classes: int
) -> None:
    """Check, for some nodes, that rows reach a leaf and that every leaf has a value.

    Children follow their parent within their tree; so the last node of a tree has to be a leaf.
    """
    nodes = block.nodes[start : start + NODES_PER_CHECK]
    number = np.arange(start, start + nodes.size)
    tree = np.searchsorted(block.firsts, number, side="right") - 1
    sizes, place = np.diff(block.firsts)[tree], number - block.firsts[tree]
    feature, payload = nodes >> np.uint64(41), (nodes & LOW).astype(np.int64)
    leaf, inner = feature == LEAF, feature != LEAF
    if not (feature[inner] < features).all():
        part.refuse("nodes", f"ask for a feature beyond the {features} there are")
    children = (payload > place + 1) & (payload < sizes)
    if not children[inner].all() or not leaf[place == sizes - 1].all():
        part.refuse("nodes", "name a child that is not further on in its tree")
    if classes > 2:
        fits = payload < classes + np.diff(block.bases)[tree]
    else:
        fits = np.isfinite(payload.astype(np.uint32).view(np.float32))
    if not fits[leaf].all():
        part.refuse("nodes", "hold a leaf without a value")
