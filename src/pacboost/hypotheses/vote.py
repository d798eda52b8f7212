"""The final vote, scored by one table per feature where it is made of stumps.

A vote of stumps is a sum of step functions, one per feature: after adding up, a row costs one
look-up per feature, whatever the number of rounds. Trees are walked on codes; lists of words are
turned over, so that a text costs what its own words stand in. Votes and values are multiples of a
fixed unit (numerics/exact.py), so each gives bit for bit what adding round by round gives.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.forest import Forest
from pacboost.hypotheses.hypothesis import FeaturePart, Hypothesis
from pacboost.hypotheses.scored_trees import ScoredTrees
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule, bins_of
from pacboost.hypotheses.word_list import WordIndex, WordList
from pacboost.kernels import bins as lookup
from pacboost.kernels.runtime.threads import each_rows
from pacboost.samples.bins import Bins, upper_cuts
from pacboost.samples.sample import unlabelled
from pacboost.samples.sparse_codes import SparseCodes
from pacboost.sources.sparse import words_of
from pacboost.sources.table import Table

Scores = NDArray[np.float64]
Kind = TypeVar("Kind", bound=Hypothesis)


@dataclass(frozen=True, eq=False)
class Vote:
    """F(x) = Σ votes[t] · hypotheses[t](x), one number a row for two classes, else one a class.

    For two classes the answer is its sign, else the class with the largest; a tie is no answer.
    """

    hypotheses: Sequence[Hypothesis]
    votes: NDArray[np.float64]
    outputs: int = 1

    def __len__(self) -> int:
        return len(self.hypotheses)

    def gains(self, columns: int) -> NDArray[np.float64]:
        """Add up the votes of what asks for each feature, or for trees what their splits won."""
        gains = np.zeros(columns)
        for hypothesis, vote in zip(self.hypotheses, self.votes, strict=True):
            gains += hypothesis.importances(abs(float(vote)), columns)
        return gains

    def scores(self, table: Table) -> Scores:
        """Return F for every row: (rows,) for one output, else (rows, outputs)."""
        scores = np.zeros((table.n_rows, self.outputs))
        for first, values in table.blocks_of(self.steps):
            self._add_steps(first, values, scores[:, 0])
        self._add_trees(table, scores)
        if self.index is not None:
            scores += self.index.scores(words_of(table))
        if self._others:
            sample = unlabelled(table)
            for hypothesis, vote in self._others:
                scores += vote * hypothesis.said(sample)
        return self._shaped(scores)

    def scores_like(self, table: Table, array: Any) -> Any:
        """Return F for every row in the memory of an array."""
        scores = np.zeros((table.n_rows, self.outputs), like=array)
        rest = self.steps or self.index is not None or self._others
        if self.trees and not rest and self._scored_trees.add_on_gpu(scores, table):
            return self._shaped(scores)
        return np.asarray(self.scores(table), like=array)

    def staged(self, table: Table) -> Iterator[Scores]:
        """Return F after each round; the array is used again for the next."""
        scores = np.zeros((table.n_rows, self.outputs))
        sample = unlabelled(table, bins_of(self.hypotheses))
        for hypothesis, vote in zip(self.hypotheses, self.votes, strict=True):
            scores += vote * hypothesis.said(sample)
            yield self._shaped(scores)

    def cells(self, table: Table) -> NDArray[np.int32]:
        """Return the cell (of a tree, the leaf) of every row in every rule, (rows, rules)."""
        sample = unlabelled(table, bins_of(self.hypotheses))
        found = np.zeros((table.n_rows, len(self.hypotheses)), dtype=np.int32)
        for number, hypothesis in enumerate(self.hypotheses):
            found[:, number] = hypothesis.cells(sample)
        return found

    def _shaped(self, scores: Scores) -> Scores:
        return scores[:, 0] if self.outputs == 1 else scores

    @cached_property
    def _others(self) -> list[tuple[Hypothesis, float]]:
        pairs = zip(self.hypotheses, self.votes, strict=True)
        known = (StumpRule, TreeRule, WordList)
        return [(rule, vote) for rule, vote in pairs if not isinstance(rule, known)]

    def _of_kind(self, kind: type[Kind]) -> list[tuple[Kind, float]]:
        pairs = zip(self.hypotheses, self.votes, strict=True)
        return [(rule, float(vote)) for rule, vote in pairs if isinstance(rule, kind)]

    @cached_property
    def steps(self) -> dict[int, FeaturePart]:
        """The step function of every feature that a stump asks for."""
        parts: dict[int, list[FeaturePart]] = {}
        for rule, vote in self._of_kind(StumpRule):
            parts.setdefault(rule.feature, []).append(rule.feature_part(vote * rule.values))
        return {feature: FeaturePart.sum(parts[feature]) for feature in sorted(parts)}

    @cached_property
    def trees(self) -> list[tuple[TreeRule, float]]:
        return self._of_kind(TreeRule)

    @cached_property
    def _scored_trees(self) -> ScoredTrees:
        return ScoredTrees([tree for tree, _ in self.trees], [vote for _, vote in self.trees])

    def _add_trees(self, table: Table, scores: Scores) -> None:
        if not self.trees:
            return
        trees, bins = self._scored_trees, self.trees[0][0].bins
        if trees.add_on_gpu(scores, table):
            return
        if table.entries is None:
            trees.add_to(scores, bins.encode(table, trees.asked))
            return
        for first, codes in SparseCodes.from_entries(table.entries, bins, trees.asked).blocks():
            trees.add_to(scores[first : first + codes.shape[1]], codes)

    @cached_property
    def index(self) -> WordIndex | None:
        """The word lists among the rules, turned over."""
        lists = self._of_kind(WordList)
        return WordIndex.of(*map(list, zip(*lists, strict=True))) if lists else None

    def _add_steps(self, first: int, values: NDArray[np.floating], scores: Scores) -> None:
        used = [j for j in self.steps if first <= j < first + values.shape[1]]
        if not used:
            return
        steps = [self.steps[j] for j in used]
        cuts, offsets = lookup.pack([upper_cuts(s.thresholds) for s in steps])
        heights = np.zeros(cuts.size)
        for start, own in zip(offsets[:-1], steps, strict=True):
            heights[start : start + own.steps.size] = own.steps[:, 0]
        missing = np.array([own.missing[0] for own in steps])
        columns = np.array(used, dtype=np.int64) - first

        def task(start: int, stop: int) -> None:
            own = scores[start:stop]
            lookup.score(values[start:stop], columns, cuts, offsets, heights, missing, own)

        each_rows(task, scores.size)


# A fingerprint of a vote: of every number in its rules, and of the votes they have.
#
# The ledger keeps it, and a certificate the fingerprint of the ledger: so a certificate cannot be
# used with other rules than those it was made for, nor with other values in the leaves of trees.

NOT_SAID = ("slope",)
"""Fields that matter while a rule is learned, and never again."""
WRITTEN_FLOAT, WRITTEN_WHOLE = np.dtype("<f8"), np.dtype("<i8")


def vote_digest(vote: Vote | Forest) -> str:
    """Return the SHA-256 of a vote or forest; of black boxes it knows no more than their names.

    >>> from pacboost.hypotheses.stump import StumpRule
    >>> rule = StumpRule(0, 2.5, 2, +1, -1)
    >>> one, other = (Vote([rule], np.array([vote])) for vote in (0.25, 0.5))
    >>> vote_digest(one) == vote_digest(one), vote_digest(one) == vote_digest(other)
    (True, False)
    """
    known = _Fingerprints()
    if isinstance(vote, Vote):
        known.asked = asked(vote.hypotheses)
    return _sha256(vote, known).hex()


def asked(rules: Sequence[Hypothesis]) -> list[int] | None:
    """Return the features that rules look at, in order; None if they are not known."""
    found: set[int] = set()
    for rule in rules:
        own = rule.features()
        if own is None:
            return None
        found |= own
    return sorted(found)


class _Fingerprints(dict[int, bytes]):
    """Those of bins by their ids, each of the features that are asked for."""

    asked: list[int] | None = None


def _sha256(value: Any, known: _Fingerprints) -> bytes:
    found: list[bytes] = []
    _collect(value, known, found)
    return hashlib.sha256(b"".join(found)).digest()


@functools.cache
def _names(kind: type) -> list[tuple[str, bytes]]:
    """The fields of a class that are part of the fingerprint, also as bytes."""
    names = (field.name for field in fields(kind))
    return [(name, name.encode()) for name in names if name not in NOT_SAID]


@functools.cache
def _shape(shape: tuple[int, ...]) -> bytes:
    return repr(shape).encode()


def _written(array: NDArray[Any]) -> tuple[bytes, bytes]:
    kind = WRITTEN_FLOAT if array.dtype.kind == "f" else WRITTEN_WHOLE
    own = array if array.dtype == kind else array.astype(kind)
    return _shape(array.shape), own.tobytes()


def _collect(value: Any, known: _Fingerprints, found: list[bytes]) -> None:
    """Add what a value is made of; of bins, which trees share, their own fingerprint."""
    if isinstance(value, np.ndarray):
        found += _written(value)
        return
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool | int | float | str | None):
        found.append(repr(value).encode())
    elif isinstance(value, Bins):
        if id(value) not in known:
            every = range(len(value.thresholds)) if known.asked is None else known.asked
            cuts = np.concatenate([np.empty(0), *(value.thresholds[j] for j in every)])
            known[id(value)] = _sha256([cuts, value.sizes, value.levels, value.middle], known)
        found.append(known[id(value)])
    elif is_dataclass(value):
        kind_of_rule: type = type(value)
        found.append(kind_of_rule.__name__.encode())
        for name, written in _names(kind_of_rule):
            found.append(written)
            own = getattr(value, name)
            if type(own) is np.ndarray:  # most fields of trees, of which there are many
                found += _written(own)
            else:
                _collect(own, known, found)
    elif isinstance(value, Sequence):
        found.append(repr(len(value)).encode())
        for entry in value:
            _collect(entry, known, found)
