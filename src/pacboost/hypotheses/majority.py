"""Rules made of rules: the decision of a vote, the majority of three, and a table of patterns.

They predict a class for every row, so they can vote and be saved like any other rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Cells, CellValues, Hypothesis, Names
from pacboost.hypotheses.tree import bins_of
from pacboost.hypotheses.vote import Scores, Vote
from pacboost.numerics.exact import tied
from pacboost.samples.coded_table import CodedTable
from pacboost.samples.sample import Sample, Signs, unlabelled
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.table import Table

Floats = NDArray[np.float64]


def class_values(outputs: int) -> CellValues:
    """Return the values of classes as cells: -1 and +1 for two classes, otherwise unit vectors.

    The last cell has the value 0 and is for ties.
    """
    named = np.array([[-1.0], [1.0]]) if outputs == 1 else np.eye(outputs)
    return np.vstack([named, np.zeros((1, outputs))])


def decided(scores: Scores) -> Cells:
    """Return the class with the largest score, or the number of the cell for ties.

    >>> decided(np.array([-0.5, 2.0, 0.0])).tolist()
    [0, 1, 2]
    >>> decided(np.array([[1.0, 3.0, 2.0], [2.0, 2.0, 0.0]])).tolist()
    [1, 3]
    """
    if scores.ndim == 1:
        return np.asarray(np.where(tied(scores), 2, scores > 0), dtype=np.uint32)
    numbers = np.where(tied(scores), scores.shape[1], scores.argmax(axis=1))
    return np.asarray(numbers, dtype=np.uint32)


@dataclass(eq=False)
class Decision(Hypothesis):
    """The decision of a vote, without its margin: one class for each row, or none for a tie."""

    names_classes: ClassVar[bool] = True

    vote: Vote
    values: CellValues = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.values = class_values(self.vote.outputs)

    def cells(self, sample: Sample) -> Cells:
        return decided(self.vote.scores(sample.table))

    def importances(self, vote: float, n_features: int) -> NDArray[np.float64]:
        return _importances_of(self.vote.hypotheses, vote * np.abs(self.vote.votes), n_features)

    def words(self, names: Names) -> str:
        count = len(self.vote.hypotheses)
        return f"vote of {count} rule{'s' if count != 1 else ''}"


@dataclass(eq=False)
class Three(Hypothesis):
    """The majority of three rules: the answer of the first two if they agree, else of the third.

    The third rule is evaluated only on rows where the first two differ, so most of a tree of
    majorities is skipped.
    """

    names_classes: ClassVar[bool] = True

    first: Hypothesis
    second: Hypothesis
    third: Hypothesis
    values: CellValues = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.values = class_values(self.first.values.shape[1])

    def cells(self, sample: Sample) -> Cells:
        cells = named(self.first, sample)
        differ = np.flatnonzero(cells != named(self.second, sample))
        if differ.size:
            cells[differ] = named(self.third, _part(sample, differ))
        return cells

    @property
    def rules(self) -> tuple[Hypothesis, Hypothesis, Hypothesis]:
        return self.first, self.second, self.third

    def importances(self, vote: float, n_features: int) -> NDArray[np.float64]:
        return _importances_of(self.rules, np.full(3, vote), n_features)

    def words(self, names: Names) -> str:
        texts = "; ".join(rule.words(names) for rule in self.rules)
        return f"majority of ({texts})"


def _importances_of(rules: Sequence[Hypothesis], votes: Floats, n_features: int) -> Floats:
    pairs = zip(rules, votes.tolist(), strict=True)
    return sum((rule.importances(vote, n_features) for rule, vote in pairs), np.zeros(n_features))


def named(rule: Hypothesis, sample: Sample) -> Cells:
    """Return the class that a rule predicts for every row."""
    if rule.names_classes:
        return rule.cells(sample).astype(np.uint32)
    values = rule.values[:, 0] if rule.values.shape[1] == 1 else rule.values
    return decided(values)[rule.cells(sample)]


def votes_within(rule: Hypothesis) -> list[Vote]:
    """Return the innermost votes of a rule that is made of rules."""
    if isinstance(rule, Decision):
        return [rule.vote]
    if isinstance(rule, Three):
        return [vote for part in rule.rules for vote in votes_within(part)]
    return [Vote([rule], np.ones(1), rule.values.shape[1])]


def _part(sample: Sample, rows: NDArray[np.intp]) -> Sample:
    table = sample.table
    if isinstance(table, CodedTable):
        return unlabelled(table.take(rows), sample.bins)
    part: Table = ArrayTable(sample.rows[rows], table.names, table.levels)
    return unlabelled(part, sample.bins)


PAIRS_PER_BLOCK = 2**22


@dataclass(frozen=True, eq=False)
class Pattern(Hypothesis):
    """A table from patterns to answers, which combines rules without a sum.

    The pattern of a row is the answer of each rule on it. The table holds every pattern of the
    training rows with the weight of each sign. The pattern of a row selects its answer; a new
    pattern selects the nearest one, which differs in the fewest rules, and of several the
    heaviest. ``patterns`` is (patterns, rules) of -1 and +1, ``masses`` is (patterns, 2), for the
    signs - and +.
    """

    rules: Sequence[Hypothesis]
    patterns: Signs
    masses: Floats

    @classmethod
    def of(cls, rules: Sequence[Hypothesis], answers: Signs, signs: Signs, base: Floats) -> Pattern:
        """Create the table from the answers of rules on rows, (rules, rows), and the signs."""
        packed = _packed(answers.T)
        _, first, cell = np.unique(packed, return_index=True, return_inverse=True)
        shares = np.broadcast_to(base, signs.shape)
        counts = [np.bincount(cell, shares * (signs == sign), first.size) for sign in (-1, 1)]
        masses: Floats = np.stack(counts, axis=1).astype(np.float64)
        order = np.argsort(-masses.sum(axis=1), kind="stable")  # the heaviest first
        return cls(rules, np.ascontiguousarray(answers.T[first[order]]), masses[order])

    @property
    def values(self) -> CellValues:  # type: ignore[override]
        """The value (W₊ - W₋)/(W₊ + W₋) of each pattern."""
        minus, plus = self.masses.T
        values: CellValues = ((plus - minus) / (plus + minus))[:, None]
        return values

    def cells(self, sample: Sample) -> Cells:
        if sample.bins is None:
            sample = unlabelled(sample.table, bins_of(self.rules))
        answers = np.empty((sample.n_rows, len(self.rules)), dtype=np.int8)
        for column, rule in zip(answers.T, self.rules, strict=True):
            column[:] = answers_of(rule.values[:, 0])[rule.cells(sample)]
        packed, first, cell = np.unique(_packed(answers), return_index=True, return_inverse=True)
        places = np.array([self._places.get(key.tobytes(), -1) for key in packed])
        new = places < 0
        places[new] = self._nearest(answers[first[new]])
        return places.astype(np.uint32)[cell]

    @cached_property
    def _places(self) -> dict[bytes, int]:
        return {key.tobytes(): place for place, key in enumerate(_packed(self.patterns))}

    def _nearest(self, patterns: Signs) -> NDArray[np.intp]:
        """Return the nearest line of the table for each pattern, by exact counts of agreements."""
        rows_of_table = self.patterns.astype(np.float32)
        places = np.empty(len(patterns), dtype=np.intp)
        step = max(1, PAIRS_PER_BLOCK // len(rows_of_table))
        for start in range(0, places.size, step):
            part = patterns[start : start + step].astype(np.float32)
            places[start : start + step] = (part @ rows_of_table.T).argmax(axis=1)
        return places

    def importances(self, vote: float, n_features: int) -> Floats:
        return _importances_of(self.rules, np.full(len(self.rules), vote), n_features)

    def words(self, names: Names) -> str:
        rules = "; ".join(rule.words(names) for rule in self.rules)
        return f"table of {len(self.patterns)} patterns of {len(self.rules)} rules: {rules}"


def answers_of(values: NDArray[Any]) -> Signs:
    """Turn values into answers of -1 or +1; a value of 0 counts as -1."""
    return np.where(values > 0, np.int8(1), np.int8(-1))


def _packed(answers: Signs) -> NDArray[np.void]:
    """Return the pattern of every row as bytes, so that patterns can be compared quickly."""
    bits = np.ascontiguousarray(np.packbits(answers > 0, axis=1))
    return bits.view(np.dtype((np.void, bits.shape[1])))[:, 0]


def rules_behind(vote: Vote) -> Vote:
    """Return the rules of a table, each with a vote of 1; any other vote is returned unchanged."""
    if len(vote.hypotheses) != 1 or not isinstance(vote.hypotheses[0], Pattern):
        return vote
    rules = list(vote.hypotheses[0].rules)
    return Vote(rules, np.ones(len(rules)))
