"""The decision of a vote as a rule, which can vote and be saved as any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.fields import Column, Field, FieldLines, Parts
from pacboost.hypotheses.hypothesis import Cells, CellValues, Hypothesis, Names
from pacboost.hypotheses.vote import Scores, Vote
from pacboost.numerics.exact import tied
from pacboost.samples.sample import Sample

Floats = NDArray[np.float64]


def class_values(outputs: int) -> CellValues:
    """Return the values of classes as cells: -1 and +1 for two classes, otherwise unit vectors.

    The last cell has the value 0 and is for ties.
    """
    named = np.array([[-1.0], [1.0]]) if outputs == 1 else np.eye(outputs)
    # a tie names no class, and adds nothing
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

    tag: ClassVar[str] = "decision"
    FIELDS: ClassVar[Mapping[str, Field]] = {
        "rules": Parts(), "votes": Column(np.float64, FieldLines("rules"))
    }  # fmt: skip
    names_classes: ClassVar[bool] = True

    vote: Vote
    values: CellValues = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.values = class_values(self.vote.outputs)

    @classmethod
    def from_fields(cls, fields: dict[str, Any], outputs: int) -> Decision:
        return cls(Vote(fields["rules"], fields["votes"], outputs))

    @property
    def rules(self) -> Sequence[Hypothesis]:
        return self.vote.hypotheses

    @property
    def votes(self) -> Floats:
        return self.vote.votes

    @property
    def votes_within(self) -> list[Vote]:
        return [self.vote]

    def cells(self, sample: Sample) -> Cells:
        return decided(self.vote.scores(sample.table))

    def importances(self, vote: float, n_features: int) -> NDArray[np.float64]:
        return importances_of(self.vote.hypotheses, vote * np.abs(self.vote.votes), n_features)

    def words(self, names: Names) -> str:
        count = len(self.vote.hypotheses)
        return f"vote of {count} rule{'s' if count != 1 else ''}"


def importances_of(rules: Sequence[Hypothesis], votes: Floats, n_features: int) -> Floats:
    """Return the sum of the importances of rules with these votes."""
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
    return rule.votes_within or [Vote([rule], np.ones(1), rule.values.shape[1])]
