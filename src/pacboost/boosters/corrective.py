"""Totally corrective boosters: every round computes new votes for all rules so far.

Votes w sum to 1, weights D to 1, with D ≤ D_1/share. For the matrix A of y·h(x), one line for each
rule,

    soft margin of w  =  min over D of D·Aw  ≤  max over rules of D·A_q  =  largest edge under D,

for any w and D: the mean margin of the worst ``share`` of the rows, and of the single worst row at
share 0. So if the learner finds the rule with the largest edge, no vote of any of its rules has a
larger soft margin than the least edge of all rounds. When the margin of the vote comes within a
tolerance of that edge, no vote can be much better, and the run ends with that proof.

The votes of the classifier are w times the factor that minimises the mean of max(0, 1 - margin),
which bounds the training error (docs/proofs/margins.md).

Rows that all rules so far treat alike form a kind and are handled as one. A rule is right or wrong
(or silent) on all rows of a kind, so they have one margin and one factor on their first weight. Few
rules make few kinds: thirty stumps distinguish 8,000 of adult's 48,842 rows. Every new rule splits
kinds in up to three.
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
from pacboost.errors import invalid
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

MAX_FACTOR = 2.0**7
"""Maximum factor of votes: larger scores would give probabilities beyond the range of doubles."""
MAX_BASE_TOTAL = 2.0**26
"""Maximum sum of base weights for which whole weights are fine enough."""


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
    """The factor of votes in the weights, if it changes every round."""
    reach: float = 0.0
    """The distance of all edges below the least edge, if it changes."""
    balanced: Balance | None = None
    """The last solution of a linear program, if the booster solves one."""
    least_edge: float = 1.0
    gap: float = np.inf
    """The least edge minus the margin."""
    factor: float = 1.0
    """The factor that turns votes of sum 1 into the votes of the classifier."""
    cast: list[Floats] = field(default_factory=list)
    """The votes after each round."""
    failed: NDArray[np.int64] | None = None
    """The weights of rows under which the last rule had less than a promised edge, if it had."""


def split_by_rule(state: CorrectiveState, agree: Agreement) -> CorrectiveState:
    """Add a rule, with vote 0 unless it is the first, and split kinds and their weights by it."""
    # rows that all rules treat alike share a kind: linear programs have a column per kind,
    # not per row
    keys = 3 * state.kinds + (agree.reshape(-1) + 1)
    occurring = np.flatnonzero(np.bincount(keys, minlength=3 * state.base.size))
    parent, value = occurring // 3, (occurring % 3 - 1).astype(np.int8)
    number = np.zeros(3 * state.base.size, dtype=np.intp)
    number[occurring] = np.arange(occurring.size)
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
    """Round the weights to integers of at least 1: an error of 0 then means no mistake."""
    units = np.rint(FRESH_TOTAL / total(state.first) * state.shares / state.base)
    weights = np.rint(np.maximum(units, 1.0)[state.kinds] * state.first)
    state.weights[:] = np.maximum(weights, 1.0).reshape(state.weights.shape)


def best_factor(margins: Floats, base: Floats) -> float:
    """Return the factor of the margins that minimises the mean of max(0, 1 - margin).

    The slope is minus the sum of base·margin over margins below 1/factor. In increasing order of
    margins, that sum is negative first and then grows; the best 1/factor is where it reaches 0."""
    order = np.argsort(margins, kind="stable")
    # ties at a margin of 0 belong to no factor
    enough = (np.cumsum((base * margins)[order]) >= 0) & (margins[order] > 0)
    if not enough.any():
        return 1.0
    return min(1 / float(margins[order[int(enough.argmax())]]), MAX_FACTOR)


ACCURACY = 1e-3
"""The accuracy of the optimisation in a round, in units of the tolerance."""
MAX_CHOSEN_SHARE = 0.99
"""Maximum share, if it is chosen automatically."""


class Corrective(RevisingBooster[CorrectiveState]):
    """Base class of corrective boosters; a subclass computes the votes and their weights."""

    potential: ClassVar[str] = "hinge"

    share: float | None
    """The share of the worst rows whose margin counts; None for twice the first rule's error."""
    tolerance: float

    def __post_init__(self) -> None:
        if self.share is not None and not 0 <= self.share < 1:
            raise invalid(
                "share",
                self.share,
                "must be at least 0 (only the worst row counts) and below 1, or None, which "
                "chooses it from the error of the first rule",
            )
        if not 0 < self.tolerance < 2:
            raise invalid("tolerance", self.tolerance, "must lie between 0 and 2")

    plain: ClassVar[bool] = True

    def share_of(self, state: CorrectiveState) -> float:
        return state.share

    @abstractmethod
    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        """Return ``state`` with new votes; it has the old ones, and 0 for the new rule."""

    @abstractmethod
    def row_weights(self, state: CorrectiveState) -> Floats:
        """Return the weight D of every kind of rows for the votes of the state."""

    def replayed(self, state: CorrectiveState) -> CorrectiveState:
        """Restore what does not follow from the votes, when a round is replayed."""
        return state

    def climb(self, state: CorrectiveState) -> Climb:
        return Climb(state.columns, state.base, state.share, ACCURACY * self.tolerance)

    def largest_entropy(self, state: CorrectiveState) -> float:
        """Return the largest KL(D ‖ D_1) under the cap: ln(1/share), or ln n for n equal rows."""
        entropy_of_rows = math.log(total(state.first) / float(state.first.min()))
        return min(entropy_of_rows, -math.log(state.share)) if state.share > 0 else entropy_of_rows

    def init(self, signs: Signs, base: Floats, targets: Floats | None = None) -> CorrectiveState:
        """Start without rules.

        Small base weights are multiplied by a power of 2. Whole weights stay whole, and a row of
        weight 3 equals three rows of weight 1, to the last bit.
        """
        first = np.repeat(np.broadcast_to(base, signs.shape[:1]), signs.shape[1])
        # a row of less than one unit would weigh 0
        first = np.maximum(first, total(first) / FRESH_TOTAL)
        # a power of 2 changes no digit, so whole weights stay whole
        low, high = math.log2(float(first.min())), math.log2(total(first) / MAX_BASE_TOTAL)
        first = first * 2.0 ** -max(min(math.floor(low), 0), math.ceil(high))
        kinds, weights = np.zeros(first.size, dtype=np.intp), np.empty(signs.shape, dtype=np.int64)
        state = CorrectiveState(signs, first, kinds, np.zeros(signs.shape), weights)
        weigh_rows(state)
        return state

    def request(self, state: CorrectiveState) -> Request:
        total = int(state.weights.sum())
        return Request(state.weights, state.signs, total, total, "error")

    def unit(self, state: CorrectiveState) -> float:
        return 1.0

    def values(self, state: CorrectiveState, sums: Sums, cells: Cells) -> CellValues:
        return np.sign(sums.pulls).astype(np.float64)

    def step(self, state: CorrectiveState, agree: Agreement, measured: Measured) -> CorrectiveState:
        least_edge = min(state.least_edge, _edge(state, agree))
        state = replace(self._with_rule(state, agree), least_edge=least_edge)
        return self._with_votes(self.corrected(state))

    def move(self, state: CorrectiveState, moved: Moved) -> CorrectiveState:
        answers = np.sign(moved.values).astype(np.int8)[moved.cells]
        return self.step(state, answers * state.signs, Measured(1, 0))

    def _with_rule(self, state: CorrectiveState, agree: Agreement) -> CorrectiveState:
        if not state.cast:
            # At twice the error of the first rule, its soft margin is 0. With a smaller share,
            # the best vote could be one of rules that cancel each other.
            chosen = min(1 - _edge(state, agree), MAX_CHOSEN_SHARE)
            state = replace(state, share=chosen if self.share is None else self.share)
        return split_by_rule(state, agree)

    def _with_votes(self, state: CorrectiveState) -> CorrectiveState:
        """Return the state with everything that follows from the votes."""
        margins = margins_of(state.columns, state.votes)
        factor = best_factor(margins, state.base)
        gap = state.least_edge - soft_margin(margins[:, None], state.base, state.share)
        state = replace(state, shares=self.row_weights(state), gap=gap, factor=factor)
        votes = whole_votes(factor * state.votes)
        state.cast.append(votes)
        margins_of_rows = margins_of(state.columns, votes)[state.kinds]
        state.margins[:] = margins_of_rows.reshape(state.margins.shape)
        weigh_rows(state)
        return state

    def memory(self, state: CorrectiveState) -> list[float]:
        # most votes of a corner of the linear program are 0
        some = np.flatnonzero(state.votes)
        votes = np.stack([some, state.votes[some]], axis=1).reshape(-1)
        return [state.least_edge, state.strength, state.reach, state.factor, *votes.tolist()]

    def recall(
        self, state: CorrectiveState, agree: Agreement, memory: list[float]
    ) -> CorrectiveState:
        state = self.replayed(self._with_rule(state, agree))
        least_edge, strength, reach, factor = memory[:4]
        votes = np.zeros(len(state.columns))
        votes[np.array(memory[4::2], dtype=np.intp)] = memory[5::2]
        state.cast.append(whole_votes(factor * votes))
        return replace(state, votes=votes, least_edge=least_edge, strength=strength, reach=reach)

    def resume(
        self, state: CorrectiveState, margins: Floats, votes: Sequence[float], memory: list[float]
    ) -> CorrectiveState:
        # ``_with_votes`` appends the last votes again
        del state.cast[-1]
        return self._with_votes(state)

    def votes(self, state: CorrectiveState) -> Floats:
        return self.votes_after(state, len(state.cast))

    def last_vote(self, state: CorrectiveState) -> float:
        return float(self.votes(state)[-1])

    def votes_after(self, state: CorrectiveState, rounds: int) -> Floats:
        return state.cast[rounds - 1] if rounds else np.empty(0)

    def costs(self, margins: Floats, rounds: int) -> Floats:
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
