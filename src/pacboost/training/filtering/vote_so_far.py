"""Where examples stand with the vote so far: their margins, and the chance to be kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.scored_trees import Ballot
from pacboost.hypotheses.vote import Vote
from pacboost.numerics.checks import probability
from pacboost.numerics.exact import wrong_classes, wrong_margins
from pacboost.numerics.same_bits import exp
from pacboost.samples.bins import Bins
from pacboost.samples.blocks import CodedTable
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
        """Return which rows the vote errs or ties on."""
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
        """Return the vote."""
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


# What a run of boosting by filtering is to do, and how much of everything it may use.

KEPT = 0.4
"""Every rule that passes its test surely has this part of the promised edge."""


@dataclass(frozen=True)
class FilteringPlan:
    """Sizes, thresholds and the failure probability.

    A sample is boosted on, with weights corrected for how it was drawn, as long as at least
    ``keep`` of it would still be kept; by the book (faithful.py), for one round.
    """

    rounds: int
    rows: int
    """The most rows a sample may have."""
    first_rows: int
    """How many the first sample has; each has half as many again as the one before."""
    epsilon: float | None = None
    delta: float = 0.05
    seed: int = 0
    edge: float | None = None
    """The edge that is promised, if one is."""
    keep: float = 0.7
    offered: int = 8
    """A refill reads at most so many times as many rows as it may keep, where reading costs."""
    share: float = 0.75
    """c: boosting goes on where μ is surely above c·ε, and stops where it is surely below ε."""

    def __post_init__(self) -> None:
        probability("delta", self.delta)
        if self.epsilon is not None and not 0 < self.epsilon < 1:
            raise ParameterError(f"epsilon is {self.epsilon}; it must lie between 0 and 1")
        if self.edge is not None and not 0 < self.edge < 1:
            raise ParameterError(
                f"edge is {self.edge}; it is a correlation, 1 - 2·error, and lies between 0 and 1"
            )

    @property
    def floor(self) -> float:
        """The advantage 1/2 - error below which a rule is rejected: half of what is promised."""
        return 0.01 if self.edge is None else self.edge / 4

    def rows_of(self, refill: int) -> int:
        """How many rows a sample is to have."""
        return int(min(self.rows, self.first_rows * 1.5 ** min(refill, 60)))

    def rows_for_edge(self, log_size: float | None, delta: float) -> int:
        """How many examples a learner needs so that half of the promised edge survives.

        8 ln(2G/delta)/gamma² for the best of G rules, gamma = edge/2: all G errors are then within
        gamma/4 of the true ones, so the rule that seems best errs at most gamma/2 more often than
        the one that is. As many as there may be where G is not known.
        """
        if log_size is None or self.edge is None:
            return self.rows
        need = 8 * (math.log(2 / delta) + log_size) / (self.edge / 2) ** 2
        return min(self.rows, math.ceil(need))


def draws_for(kept: int, mean: float, delta: float) -> int:
    """How many draws give so many kept examples, with probability 1 - delta, if μ = ``mean``.

    N = (k + L + √(L² + 2kL))/μ with L = ln(1/delta), by Chernoff's bound on the lower tail.

    >>> draws_for(500, 0.1, 0.01)
    5727
    """
    log = math.log(1 / probability("delta", delta))
    return math.ceil((kept + log + math.sqrt(log * log + 2 * kept * log)) / mean)
