"""What totally corrective boosters share: every round finds new votes for all rules so far.

Votes w sum to 1, weights D to 1, with D ≤ D_1/share. For the matrix A of y·h(x), one line a rule,

    soft margin of w  =  min over D of D·Aw  ≤  max over rules of D·A_q  =  largest edge under D,

whatever w and D: the mean margin of the worst ``share`` of the rows, and of the single worst row at
share 0. So if the learner finds the rule with the largest edge, no vote of any of its rules has a
larger soft margin than the least edge of all rounds. When the margin of the vote comes within a
tolerance of that edge, there is nothing more to gain, and the run ends with that proof.

The votes that are cast are w times the factor that makes the mean of max(0, 1 - margin) least,
which bounds the training error (docs/proofs/margins.md).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Agreement, Measured, Moved, RevisingBooster
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.numerics.ascent import Climb
from pacboost.numerics.exact import FRESH_TOTAL
from pacboost.numerics.same_bits import total
from pacboost.numerics.soft_margin import (
    Balance,
    Columns,
    Floats,
    margins_of,
    soft_margin,
    whole_votes,
    whole_weights,
)
from pacboost.samples.sample import Request, Signs, Sums

# Kinds of rows: rows that all rules so far treat alike are handled as one.
#
# A rule is right or wrong (or silent) on all rows of a kind, so votes give them one margin and the
# evenest weights give them one factor on what they weighed at first. Few rules make few kinds:
# thirty stumps distinguish 8,000 of adult's 48,842 rows. Every new rule splits kinds in up to
# three.

LARGEST_FACTOR = 2.0**7
"""Scores of more would make probabilities that no double holds."""
MOST_BASE = 2.0**26
"""What base weights may sum to, so that whole weights are fine enough."""


@dataclass(frozen=True, eq=False)
class CorrectiveState:
    """Rules over kinds of rows with votes and weights, and the margins and weights of rows."""

    signs: Signs
    first: Floats
    """D_1 of every row and output, flat and not normalised."""
    kinds: NDArray[np.intp]
    """The kind of each row and output."""
    margins: Floats
    weights: NDArray[np.int64]
    base: Floats = field(default_factory=lambda: np.ones(1))
    """D_1 of every kind."""
    shares: Floats = field(default_factory=lambda: np.ones(1))
    """D of every kind."""
    columns: Columns = field(default_factory=lambda: np.empty((0, 1), dtype=np.int8))
    votes: Floats = field(default_factory=lambda: np.empty(0))
    """The votes, which sum to 1."""
    share: float = 0.0
    """The share of the worst rows whose mean margin counts."""
    strength: float = 0.0
    """The factor of votes in the weights, where it changes every round."""
    reach: float = 0.0
    """How far below the least edge all edges are brought, where that distance changes."""
    balanced: Balance | None = None
    """The last solution, of boosters that solve linear programs."""
    least: float = 1.0
    """The least edge of all rounds."""
    gap: float = np.inf
    """The least edge minus the margin."""
    factor: float = 1.0
    """The factor that turns votes of sum 1 into the votes of the classifier."""
    cast: list[Floats] = field(default_factory=list)
    """The votes as they were after each round."""


def split_by_rule(state: CorrectiveState, agree: Agreement) -> CorrectiveState:
    """Add a rule, with vote 0 unless it is the first, and split kinds and their weights by it."""
    keys = 3 * state.kinds + (agree.reshape(-1) + 1)
    found = np.flatnonzero(np.bincount(keys, minlength=3 * state.base.size))
    parent, value = found // 3, (found % 3 - 1).astype(np.int8)
    number = np.zeros(3 * state.base.size, dtype=np.intp)
    number[found] = np.arange(found.size)
    kinds = number[keys]
    base: Floats = np.bincount(kinds, weights=state.first) / total(state.first)
    part = base / state.base[parent]
    balanced = state.balanced
    if balanced is not None:
        weights = whole_weights(balanced.weights[parent] * part)
        balanced = Balance(np.append(balanced.votes, 0.0), weights, np.inf)
    return replace(
        state,
        kinds=kinds,
        base=base,
        shares=whole_weights(state.shares[parent] * part),
        columns=np.concatenate([state.columns[:, parent], value[None]]),
        votes=np.append(state.votes, 0.0 if state.votes.size else 1.0),
        balanced=balanced,
    )


def weigh_rows(state: CorrectiveState) -> None:
    """Round the weights to integers of at least 1.

    An error of 0 then means that a rule has no mistakes, not only where weights are.
    """
    whole = np.rint(FRESH_TOTAL / total(state.first) * state.shares / state.base)
    weights = np.rint(np.maximum(whole, 1.0)[state.kinds] * state.first)
    state.weights[:] = np.maximum(weights, 1.0).reshape(state.weights.shape)


def best_factor(margins: Floats, base: Floats) -> float:
    """Find the factor of the margins that minimises the mean of max(0, 1 - margin).

    The slope is minus the sum of base·margin over margins below 1/factor. From below, that sum is
    negative at first and then grows; where it comes to 0 is the best 1/factor.

    >>> best_factor(np.array([-0.2, 0.1, 0.4, 0.8]), np.full(4, 0.25))      # -0.2 + 0.1 + 0.4 > 0
    2.5
    """
    order = np.argsort(margins, kind="stable")
    enough = (np.cumsum((base * margins)[order]) >= 0) & (margins[order] > 0)
    if not enough.any():
        return 1.0
    return min(1 / float(margins[order[int(enough.argmax())]]), LARGEST_FACTOR)


ACCURACY = 1e-3
"""How exactly a round's own problem is solved, in units of the tolerance."""
MOST_SHARE = 0.99
"""What a share that is chosen may come to."""


class Corrective(RevisingBooster[CorrectiveState]):
    """What corrective boosters share; a subclass finds the votes and the weights for them."""

    potential: ClassVar[str] = "hinge"

    share: float | None
    """The share of the worst rows whose margin counts; None for twice the first rule's error."""
    tolerance: float

    def __post_init__(self) -> None:
        if self.share is not None and not 0 <= self.share < 1:
            raise ParameterError(
                f"share is {self.share}; it must be 0 (the worst row counts) or more, and below 1 "
                "(all rows count, and no weight could change); None chooses by the first rule"
            )
        if not 0 < self.tolerance < 2:
            raise ParameterError(f"tolerance is {self.tolerance}; it must lie between 0 and 2")

    plain: ClassVar[bool] = True

    def share_of(self, state: CorrectiveState) -> float:
        return state.share

    @abstractmethod
    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        """Find new votes; the state holds those of the last round, and 0 for the newest rule."""

    @abstractmethod
    def row_weights(self, state: CorrectiveState) -> Floats:
        """Return the weight D of every kind of rows for the votes of the state."""

    def replayed(self, state: CorrectiveState) -> CorrectiveState:
        """Repeat the part of ``corrected`` that cannot be derived from the votes it found."""
        return state

    def climb(self, state: CorrectiveState) -> Climb:
        """Prepare the ascent on the rules so far."""
        return Climb(state.columns, state.base, state.share, ACCURACY * self.tolerance)

    def largest_entropy(self, state: CorrectiveState) -> float:
        """The largest KL(D ‖ D_1) that the cap allows: ln(1/share), or ln n for n equal rows."""
        most = math.log(total(state.first) / float(state.first.min()))
        return min(most, -math.log(state.share)) if state.share > 0 else most

    def init(self, signs: Signs, base: Floats, targets: Floats | None = None) -> CorrectiveState:
        """Start without rules.

        Small base weights are multiplied by a power of 2. Those that are whole stay so, and a row
        of weight 3 is three rows of weight 1, to the last bit.
        """
        first = np.repeat(np.broadcast_to(base, signs.shape[:1]), signs.shape[1])
        first = np.maximum(first, total(first) / FRESH_TOTAL)
        low, high = math.log2(float(first.min())), math.log2(total(first) / MOST_BASE)
        first = first * 2.0 ** -max(min(math.floor(low), 0), math.ceil(high))
        kinds, weights = np.zeros(first.size, dtype=np.intp), np.empty(signs.shape, dtype=np.int64)
        state = CorrectiveState(signs, first, kinds, np.zeros(signs.shape), weights)
        weigh_rows(state)
        return state

    def request(self, state: CorrectiveState) -> Request:
        total = int(state.weights.sum())
        return Request(state.weights, state.signs, total, total, "error")

    def unit(self, state: CorrectiveState) -> float:
        """The unit is 1: the value of a cell is -1, +1 or 0."""
        return 1.0

    def values(self, state: CorrectiveState, sums: Sums, cells: Cells) -> CellValues:
        return np.sign(sums.pulls).astype(np.float64)

    def step(self, state: CorrectiveState, agree: Agreement, found: Measured) -> CorrectiveState:
        least = min(state.least, _edge(state, agree))
        return self._with_votes(self.corrected(replace(self._with_rule(state, agree), least=least)))

    def move(self, state: CorrectiveState, moved: Moved) -> CorrectiveState:
        said = np.sign(moved.values).astype(np.int8)[moved.cells]
        return self.step(state, said * state.signs, Measured(1, 0))

    def _with_rule(self, state: CorrectiveState, agree: Agreement) -> CorrectiveState:
        """Add a rule; the first rule decides the share, if none was set.

        Of a share of twice its error it is wrong on half: a soft margin of 0. With less, the best
        vote could be one of rules that contradict each other, and say nothing.
        """
        if not state.cast:
            chosen = min(1 - _edge(state, agree), MOST_SHARE)
            state = replace(state, share=chosen if self.share is None else self.share)
        return split_by_rule(state, agree)

    def _with_votes(self, state: CorrectiveState) -> CorrectiveState:
        """Derive everything else from the votes."""
        margins = margins_of(state.columns, state.votes)
        factor = best_factor(margins, state.base)
        gap = state.least - soft_margin(margins[:, None], state.base, state.share)
        state = replace(state, shares=self.row_weights(state), gap=gap, factor=factor)
        votes = whole_votes(factor * state.votes)
        state.cast.append(votes)
        own = margins_of(state.columns, votes)[state.kinds]
        state.margins[:] = own.reshape(state.margins.shape)
        weigh_rows(state)
        return state

    def memory(self, state: CorrectiveState) -> list[float]:
        some = np.flatnonzero(state.votes)
        votes = np.stack([some, state.votes[some]], axis=1).reshape(-1)
        return [state.least, state.strength, state.reach, state.factor, *votes.tolist()]

    def recall(
        self, state: CorrectiveState, agree: Agreement, memory: list[float]
    ) -> CorrectiveState:
        state = self.replayed(self._with_rule(state, agree))
        least, strength, reach, factor = memory[:4]
        votes = np.zeros(len(state.columns))
        votes[np.array(memory[4::2], dtype=np.intp)] = memory[5::2]
        state.cast.append(whole_votes(factor * votes))
        return replace(state, votes=votes, least=least, strength=strength, reach=reach)

    def resume(
        self, state: CorrectiveState, margins: Floats, votes: Sequence[float], memory: list[float]
    ) -> CorrectiveState:
        del state.cast[-1]
        return self._with_votes(state)

    def votes(self, state: CorrectiveState) -> Floats:
        return self.votes_after(state, len(state.cast))

    def last_vote(self, state: CorrectiveState) -> float:
        return float(self.votes(state)[-1])

    def votes_after(self, state: CorrectiveState, rounds: int) -> Floats:
        return state.cast[rounds - 1] if rounds else np.empty(0)

    def costs(self, margins: Floats, rounds: int) -> Floats:
        """Return max(0, 1 - margin)."""
        return np.maximum(1 - margins, 0.0)

    def stop(self, state: CorrectiveState) -> str | None:
        if state.gap <= self.tolerance:
            return (
                f"the margin is within {self.tolerance:g} of the least edge: if the learner found "
                "the best rules, no vote has a larger one"
            )
        return None


def _edge(state: CorrectiveState, agree: Agreement) -> float:
    return int((state.weights * agree).sum()) / int(state.weights.sum())
