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
from dataclasses import replace
from typing import ClassVar

import numpy as np

from pacboost.boosters.booster import Agreement, Measured, Moved, RevisingBooster
from pacboost.boosters.kinds import (
    CorrectiveState,
    best_factor,
    cast_votes,
    one_kind,
    split_by_rule,
)
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.numerics.ascent import Climb
from pacboost.numerics.same_bits import total
from pacboost.numerics.soft_margin import Floats, margins_of, soft_margin, whole_votes
from pacboost.samples.sample import Request, Signs, Sums

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

    @property
    def plain(self) -> bool:
        """A rule gets one vote."""
        return True

    def share_of(self, state: CorrectiveState) -> float:
        """Return the share that was set, or chosen by the first rule."""
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
        """Start with D_1 proportional to the base weights."""
        return one_kind(signs, base)

    def request(self, state: CorrectiveState) -> Request:
        """Ask for the rule with the largest edge."""
        total = int(state.weights.sum())
        return Request(state.weights, state.signs, total, total, "error")

    def unit(self, state: CorrectiveState) -> float:
        """The unit is 1: the value of a cell is -1, +1 or 0."""
        return 1.0

    def values(self, state: CorrectiveState, sums: Sums, cells: Cells) -> CellValues:
        """Return each cell the sign of the weighted majority of its rows."""
        return np.sign(sums.pulls).astype(np.float64)

    def step(self, state: CorrectiveState, agree: Agreement, found: Measured) -> CorrectiveState:
        """Add a rule, and find new votes and weights."""
        least = min(state.least, _edge(state, agree))
        return self._with_votes(self.corrected(replace(self._with_rule(state, agree), least=least)))

    def move(self, state: CorrectiveState, moved: Moved) -> CorrectiveState:
        """Add the signs of the cells as a rule."""
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
        return cast_votes(
            replace(
                state,
                shares=self.row_weights(state),
                gap=state.least - soft_margin(margins[:, None], state.base, state.share),
                factor=best_factor(margins, state.base),
            )
        )

    def memory(self, state: CorrectiveState) -> list[float]:
        """Return least edge, strength, reach and factor, and the votes of sum 1 that are not 0."""
        some = np.flatnonzero(state.votes)
        votes = np.stack([some, state.votes[some]], axis=1).reshape(-1)
        return [state.least, state.strength, state.reach, state.factor, *votes.tolist()]

    def recall(
        self, state: CorrectiveState, agree: Agreement, memory: list[float]
    ) -> CorrectiveState:
        """Add a rule, with the votes that were found in the earlier run."""
        state = self.replayed(self._with_rule(state, agree))
        least, strength, reach, factor = memory[:4]
        votes = np.zeros(len(state.columns))
        votes[np.array(memory[4::2], dtype=np.intp)] = memory[5::2]
        state.cast.append(whole_votes(factor * votes))
        return replace(state, votes=votes, least=least, strength=strength, reach=reach)

    def resume(
        self, state: CorrectiveState, margins: Floats, votes: Sequence[float], memory: list[float]
    ) -> CorrectiveState:
        """Compute the weights of all rows from the last votes."""
        del state.cast[-1]
        return self._with_votes(state)

    def votes(self, state: CorrectiveState) -> Floats:
        """Return the current votes of all rounds."""
        return self.votes_after(state, len(state.cast))

    def last_vote(self, state: CorrectiveState) -> float:
        """Return the current vote of the newest round."""
        return float(self.votes(state)[-1])

    def votes_after(self, state: CorrectiveState, rounds: int) -> Floats:
        """Return the votes as they were after so many rounds."""
        return state.cast[rounds - 1] if rounds else np.empty(0)

    def costs(self, margins: Floats, rounds: int) -> Floats:
        """Return max(0, 1 - margin)."""
        return np.maximum(1 - margins, 0.0)

    def stop(self, state: CorrectiveState) -> str | None:
        """Stop when the gap is within the tolerance."""
        if state.gap <= self.tolerance:
            return (
                f"the margin is within {self.tolerance:g} of the least edge: if the learner found "
                "the best rules, no vote has a larger one"
            )
        return None


def _edge(state: CorrectiveState, agree: Agreement) -> float:
    """Return the edge of a rule under the current weights."""
    return int((state.weights * agree).sum()) / int(state.weights.sum())
