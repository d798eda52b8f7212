"""Rules made of rules: what a vote decides, and the majority of three.

Both name a class for every row, so they can vote, be voted on and be saved like any other rule.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Cells, CellValues, Hypothesis, Names
from pacboost.hypotheses.vote import Scores, Vote
from pacboost.numerics.exact import tied
from pacboost.samples.blocks import CodedTable
from pacboost.samples.sample import Sample, unlabelled
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.table import Table


def class_values(outputs: int) -> CellValues:
    """What naming a class says: -1 or +1 for two classes, else 1 for the class that is named.

    A last cell says nothing; it is for ties.
    """
    named = np.array([[-1.0], [1.0]]) if outputs == 1 else np.eye(outputs)
    return np.vstack([named, np.zeros((1, outputs))])


def decided(scores: Scores) -> Cells:
    """Return the number of the class that has the largest score, or that of the cell for ties.

    >>> decided(np.array([-0.5, 2.0, 0.0])).tolist()
    [0, 1, 2]
    >>> decided(np.array([[1.0, 3.0, 2.0], [2.0, 2.0, 0.0]])).tolist()
    [1, 3]
    """
    if scores.ndim == 1:
        return np.asarray(np.where(tied(scores), 2, scores > 0), dtype=np.uint32)
    numbers = np.where(tied(scores), scores.shape[1], scores.argmax(axis=1))
    return np.asarray(numbers, dtype=np.uint32)


@dataclass(frozen=True, eq=False)
class Decision(Hypothesis):
    """What a vote decides, however close it was: one class for each row, or nothing for a tie."""

    names_classes: ClassVar[bool] = True

    vote: Vote
    values: CellValues = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", class_values(self.vote.outputs))

    def cells(self, sample: Sample) -> Cells:
        return decided(self.vote.scores(sample.table))

    def importances(self, vote: float, n_features: int) -> NDArray[np.float64]:
        shares = np.zeros(n_features)
        for rule, own in zip(self.vote.hypotheses, self.vote.votes, strict=True):
            shares += rule.importances(vote * abs(float(own)), n_features)
        return shares

    def words(self, names: Names) -> str:
        count = len(self.vote.hypotheses)
        return f"vote of {count} rule{'s' if count != 1 else ''}"


@dataclass(frozen=True, eq=False)
class Three(Hypothesis):
    """The majority of three rules: what the first two say where they agree, else what the third.

    For two classes that is the majority. The third is asked only where it decides, so a tree of
    majorities is far from being walked whole.
    """

    names_classes: ClassVar[bool] = True

    first: Hypothesis
    second: Hypothesis
    third: Hypothesis
    values: CellValues = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", class_values(self.first.values.shape[1]))

    def cells(self, sample: Sample) -> Cells:
        cells = named(self.first, sample)
        differ = np.flatnonzero(cells != named(self.second, sample))
        if differ.size:
            cells[differ] = named(self.third, _part(sample, differ))
        return cells

    @property
    def rules(self) -> tuple[Hypothesis, Hypothesis, Hypothesis]:
        """All three."""
        return self.first, self.second, self.third

    def importances(self, vote: float, n_features: int) -> NDArray[np.float64]:
        return sum(
            (rule.importances(vote, n_features) for rule in self.rules), np.zeros(n_features)
        )

    def words(self, names: Names) -> str:
        said = "; ".join(rule.words(names) for rule in self.rules)
        return f"majority of ({said})"


def named(rule: Hypothesis, sample: Sample) -> Cells:
    """Return the number of the class that a rule names for every row."""
    if rule.names_classes:
        return rule.cells(sample).astype(np.uint32)
    values = rule.values[:, 0] if rule.values.shape[1] == 1 else rule.values
    return decided(values)[rule.cells(sample)]


def votes_within(rule: Hypothesis) -> list[Vote]:
    """Return the votes that rules are made of, down to those that are made of none."""
    if isinstance(rule, Decision):
        return [rule.vote]
    if isinstance(rule, Three):
        return [vote for part in rule.rules for vote in votes_within(part)]
    return [Vote([rule], np.ones(1), rule.values.shape[1])]


def _part(sample: Sample, rows: NDArray[np.intp]) -> Sample:
    """Some rows of a sample, with the codes they have."""
    table = sample.table
    if isinstance(table, CodedTable):
        return unlabelled(table.take(rows), sample.bins)
    part: Table = ArrayTable(sample.rows[rows], table.names, table.levels)
    return unlabelled(part, sample.bins)
