"""Where examples stand with the vote so far: their margins, and the chance to be kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.base.filtering_booster import FilteringBooster
from pacboost.hypotheses.ballot import Ballot
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.vote import Vote
from pacboost.numerics.mistakes import wrong_classes, wrong_margins
from pacboost.numerics.same_bits import exp
from pacboost.samples.bins import Bins
from pacboost.samples.coded import CodedTable
from pacboost.samples.sample import Sample, Signs
from pacboost.sources.table import Table
from pacboost.training.run.resume import followed

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RowMargins:
    """What the vote makes of some rows."""

    margins: Floats
    """y·F(x), (rows, outputs)."""
    chances: Floats
    """The weight of each row, in [0, 1]."""
    path: Floats | None = None
    """Log weights, for boosters that go by the path."""

    def wrong(self, signs: Signs) -> NDArray[np.bool_]:
        """Tell which rows the vote errs or ties on."""
        if self.margins.shape[1] == 1:
            return wrong_margins(self.margins[:, 0])
        return wrong_classes(self.margins * signs, signs.argmax(axis=1))


@dataclass(eq=False)
class VoteSoFar:
    """The rules so far and their votes: they score every example that is drawn."""

    booster: FilteringBooster[Any]
    bins: Bins | None
    outputs: int
    cells: bool
    """Whether rules hold values of their own, so that all votes are 1."""
    rules: list[Hypothesis] = field(default_factory=list)
    votes: list[float] = field(default_factory=list)
    memories: list[list[float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._ballot = None if self.bins is None else Ballot(self.bins, self.outputs)
        past, self.rules = self.rules, []
        votes, self.votes = self.votes, []
        memories, self.memories = self.memories, []
        for rule, vote, memory in zip(past, votes, memories, strict=True):
            self.add(rule, vote, memory)

    def __reduce__(self) -> tuple[Any, ...]:
        """Send rules and votes alone: what scores by codes is larger, and quickly made again."""
        parts = (self.rules, self.votes, self.memories)
        return VoteSoFar, (self.booster, self.bins, self.outputs, self.cells, *parts)

    def __len__(self) -> int:
        return len(self.rules)

    @property
    def by_codes(self) -> bool:
        """Whether what the rules say of a row follows from its codes alone."""
        return self._ballot is not None

    def add(self, rule: Hypothesis, vote: float, memory: Sequence[float]) -> None:
        """Take in a rule of a finished round."""
        if self._ballot is not None and not self._ballot.add(rule, vote):
            self._ballot = None
        self.rules.append(rule)
        self.votes.append(vote)
        self.memories.append(list(memory))

    def vote(self) -> Vote:
        """Give the vote."""
        return Vote(list(self.rules), np.array(self.votes), self.outputs)

    def score(self, table: Table, signs: Signs) -> RowMargins:
        """Score rows, and say with what chance each is kept."""
        margins = self._scores(table) * signs
        if not self.booster.by_path:
            chances = self.booster.chances(margins, len(self), signs)
            return RowMargins(margins, chances.reshape(-1) if chances.ndim > 1 else chances)
        sample = Sample(table, signs, bins=self.bins)
        path = followed(self.booster, sample, self.rules, self.memories, cells=self.cells)
        return RowMargins(margins, exp(path).max(axis=1), path)

    def _scores(self, table: Table) -> Floats:
        if self._ballot is not None and isinstance(table, CodedTable):
            return self._ballot.scores(table.codes)
        return self.vote().scores(table).reshape(table.n_rows, -1)
