"""The majority of three rules, of which each may again be one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.decision import class_values, importances_of, named, votes_within
from pacboost.hypotheses.fields import Field, Parts, RuleRun
from pacboost.hypotheses.hypothesis import Cells, CellValues, Hypothesis, Names
from pacboost.hypotheses.vote import Vote
from pacboost.samples.coded_table import CodedTable
from pacboost.samples.sample import Sample, unlabelled
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.table import Table


@dataclass(eq=False)
class Three(Hypothesis):
    """The majority of three rules: the answer of the first two if they agree, else of the third.

    The third rule is evaluated only on rows where the first two differ, so most of a tree of
    majorities is skipped.
    """

    tag: ClassVar[str] = "three"
    FIELDS: ClassVar[Mapping[str, Field]] = {"rules": Parts()}
    names_classes: ClassVar[bool] = True

    first: Hypothesis
    second: Hypothesis
    third: Hypothesis
    values: CellValues = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.values = class_values(self.first.values.shape[1])

    @classmethod
    def from_fields(cls, fields: dict[str, Any], outputs: int) -> Three:
        return cls(*fields["rules"])

    @classmethod
    def problem(cls, run: RuleRun) -> tuple[str, str] | None:
        count = len(run.rules)
        return None if count == 3 else ("rules", f"are {count}; a majority of three has three")

    def cells(self, sample: Sample) -> Cells:
        cells = named(self.first, sample)
        differ = np.flatnonzero(cells != named(self.second, sample))
        if differ.size:
            cells[differ] = named(self.third, _part(sample, differ))
        return cells

    @property
    def rules(self) -> tuple[Hypothesis, Hypothesis, Hypothesis]:
        return self.first, self.second, self.third

    @property
    def votes_within(self) -> list[Vote]:
        return [vote for part in self.rules for vote in votes_within(part)]

    def importances(self, vote: float, n_features: int) -> NDArray[np.float64]:
        return importances_of(self.rules, np.full(3, vote), n_features)

    def words(self, names: Names) -> str:
        texts = "; ".join(rule.words(names) for rule in self.rules)
        return f"majority of ({texts})"


def _part(sample: Sample, rows: NDArray[np.intp]) -> Sample:
    table = sample.table
    # rows of codes are taken as they are: there are no values to code again
    if isinstance(table, CodedTable):
        return unlabelled(table.take(rows), sample.bins)
    part: Table = ArrayTable(sample.rows[rows], table.names, table.levels)
    return unlabelled(part, sample.bins)
