"""Rules in a model file: consecutive rules of one kind are stored side by side.

An entry of the list has the ``tag`` of its kind, and an array for each of its fields and counts
(hypotheses/fields.py). Rules made of other rules hold a nested list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import FileError
from pacboost.hypotheses.fields import OUTPUTS, Column, Parts, RuleRun, SharedBins, counts_of
from pacboost.hypotheses.forest import LOW, Block
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.kernels.forest import LEAF
from pacboost.models.file.fields import Fields
from pacboost.registry import Registry
from pacboost.samples.bins import Bins

RULES: Registry[Hypothesis] = Registry("pacboost.hypotheses", attribute="tag")
MAX_LINES_IN_RUN = 2**16
"""A new run begins after this many lines of a count, so that checking needs little memory."""


def to_plain(rules: Sequence[Hypothesis]) -> list[dict[str, Any]]:
    """Return rules as entries of a model file."""
    return [_written(run) for run in _runs(rules)]


def _runs(rules: Sequence[Hypothesis]) -> Iterator[list[Hypothesis]]:
    """Split rules into runs of one kind."""
    run: list[Hypothesis] = []
    n_lines = 0
    for rule in rules:
        nested = any(isinstance(field, Parts) for field in rule.FIELDS.values())
        if run and (rule.tag != run[0].tag or nested or n_lines > MAX_LINES_IN_RUN):
            yield run
            run, n_lines = [], 0
        run.append(rule)
        counts = counts_of(rule.FIELDS)
        n_lines += len(getattr(rule, next(iter(counts.values())))) if counts else 0
    if run:
        yield run


def _written(run: list[Hypothesis]) -> dict[str, Any]:
    rule = run[0]
    if not rule.FIELDS:
        raise FileError(
            f"the vote holds {type(rule).__name__} rules, which are black boxes; a model file "
            "holds stumps, trees and lists of words only. Pickle the estimator, or train it with "
            "those."
        )
    entry: dict[str, Any] = {"kind": rule.tag}
    for name, field in rule.FIELDS.items():
        if isinstance(field, Column):
            entry[name] = field.joined([getattr(each, name) for each in run])
        elif isinstance(field, Parts):
            entry[name] = to_plain(getattr(rule, name))
    for count, name in counts_of(rule.FIELDS).items():
        if count not in rule.FIELDS:  # the number of rules within a rule is that of its parts
            sizes = [len(getattr(each, name)) for each in run]
            entry[count] = np.array(sizes, dtype=np.int32)
    return entry


def from_plain(
    parts: Sequence[Fields], features: int, bins: Bins | None, outputs: int
) -> list[Hypothesis]:
    """Read rules, and refuse those that no fit could have written."""
    return [rule for part in parts for rule in _read(part, features, bins, outputs)]


def _read(part: Fields, features: int, bins: Bins | None, outputs: int) -> Sequence[Hypothesis]:
    tag = part.get("kind", str)
    kind = RULES.get(tag)
    if kind is None or not kind.FIELDS:
        part.refuse("kind", f"is {tag!r:.40}, which is no kind of rule of this version")
    run = _run(part, kind, RuleRun({}, {}, features, outputs, bins))
    part.end()
    names = iter(counts_of(kind.FIELDS).values())
    with part.room.lent(kind.BYTES_TO_CHECK * len(run.arrays.get(next(names, ""), ())), part.where):
        problem = kind.problem(run)
    if problem is not None:
        part.refuse(*problem)
    rules = [kind.from_fields(fields, outputs) for fields in run.each(kind.FIELDS)]
    if rules and rules[0].values.shape[1] != outputs:
        part.refuse("kind", f"is {tag}, which answer yes or no; {outputs} outputs need others")
    return rules


def _run(part: Fields, kind: type[Hypothesis], run: RuleRun) -> RuleRun:
    """Read the arrays of an entry; only then is it known how many rules they are."""
    counts: dict[str, NDArray[Any]] = {}
    arrays: dict[str, NDArray[Any]] = {}
    rules: Sequence[Hypothesis] = ()
    size: int | None = None
    for name, field in kind.FIELDS.items():
        if isinstance(field, Parts):
            rules, size = from_plain(part.parts(name), run.features, run.bins, run.outputs), 1
            counts[name] = np.array([len(rules)])
        elif isinstance(field, SharedBins) and (run.bins is None or run.bins.missing > 255):
            part.refuse(None, f"is a {kind.tag}, which needs bins with codes of 8 bits")
    for count in counts_of(kind.FIELDS):
        if count not in counts:
            counts[count] = part.array(count, np.int32, size, within=(0, 2**31 - 1))
            size = counts[count].size
    columns = {n: field for n, field in kind.FIELDS.items() if isinstance(field, Column)}
    for name, column in sorted(columns.items(), key=lambda item: item[1].lines is not None):
        lines = size
        if column.lines is not None:
            lines = int(column.lines.of(counts[column.lines.count]).sum())
        width = int(counts[column.width][0]) if isinstance(column.width, str) else column.width
        width = run.outputs if width == OUTPUTS else width
        arrays[name] = _column(part, name, column, run, lines, width)
        size = len(arrays[name]) if size is None else size
    # a rule of three numbers is a Python object of some hundred bytes: the file bounds their
    # number
    part.room.take(kind.BYTES * (size or 0), part.where)
    return RuleRun(counts, arrays, run.features, run.outputs, run.bins, rules)


def _column(
    part: Fields, name: str, column: Column, run: RuleRun, lines: int | None, width: int
) -> NDArray[Any]:
    """Read one field of a run of rules."""
    shape = (lines, width) if width or column.bits is not None else (lines,)
    if column.bits is not None:
        packed = part.array(name, np.uint8, lines, (width + 7) // 8, within=(0, 255))
        # a bit becomes a byte, and for a moment two
        part.room.take(2 * len(packed) * width, part.where)
        low, high = column.bits
        bits = np.unpackbits(packed, axis=1, count=width).astype(column.type)
        return bits if (low, high) == (0, 1) else (high - low) * bits + column.type(low)
    stored = part.peek(name)
    if column.unit and isinstance(stored, np.ndarray) and stored.dtype in (np.int16, np.int32):
        units = part.array(name, stored.dtype, *shape)
        part.room.take(8 * units.size, f"{part.where}.{name}")
        # a power of two, so the product is exact
        return units * np.float64(column.unit)
    within = (0, run.features - 1) if column.of_features else column.within
    return part.array(name, column.type, *shape, within=within)


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
