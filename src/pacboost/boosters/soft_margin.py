"""Boosters that maximise the soft margin: LPBoost and its relatives with a bound on rounds.

**LPBoost** (Demiriz, Bennett and Shawe-Taylor 2002), by linear programs. After every rule the votes
are those with the largest soft margin that the rules so far allow, and D the weights under which no
rule so far has an edge above that margin γ (numerics/soft_margin.py). The next rule has an edge
above γ, or γ is optimal. It usually needs few rounds, and few rules get a vote; but no bound on
rounds is better than the number of rows (Warmuth, Glocer and Rätsch 2007).

**ERLPBoost** (Warmuth, Glocer and Vishwanathan 2008): LPBoost with even weights, and a bound.

    D_t = argmin over D ≤ D_1/share of   largest edge of a rule so far + KL(D ‖ D_1)/η,
    η = max(1/2, 2 ln(1/share)/ε),       T ≤ max(8/ε, 32 ln(1/share)/ε²).

The dual is the soft margin of votes, smoothed by at most ε/2 (numerics/capped_entropy.py).

**Corrective ERLPBoost** (Shalev-Shwartz and Singer 2010): the weights of ERLPBoost, but a round
changes the votes by one step of Frank and Wolfe only, with the same bound on rounds:

    w  ←  (1 - a)·w + a·(all to the newest rule),      a where the smoothed margin is largest.

**MLPBoost** (Mitsuboshi, Hatano and Takimoto 2022) takes either such a step or the votes of
LPBoost, whichever has the larger smoothed margin: as few rounds as LPBoost, with the same bound.

**SoftBoost** (Warmuth, Glocer and Rätsch 2007): weights as close to D_1 as small edges allow.

    D_{t+1} = argmin KL(D ‖ D_1) over D ≤ D_1/share with no edge of a rule so far above γ_t - g,

with γ_t the least edge so far. Its multipliers are votes (numerics/ascent.py); after at most
2 ln(1/share)/g² rounds there is no such D, and they have a soft margin of at least γ_t - g. With
g = ε from the start, as in the paper, edges fall by ε per round for a long time. So g starts at 1
or less and falls to a quarter whenever there is such a vote, down to ε:

    T ≤ 1 + 2 ln(1/share)/ε² · (1 + 1/16 + 1/256 + ...) rounds (ln n for share 0 and n equal rows)

**TotalBoost** (Warmuth, Liao and Rätsch 2006): SoftBoost without a cap on the weights, so that the
margin of the worst row counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq

from pacboost.boosters.corrective import ACCURACY, Corrective, CorrectiveState
from pacboost.numerics.capped_entropy import evenest
from pacboost.numerics.same_bits import total
from pacboost.numerics.soft_margin import Balance, Floats, balance, margins_of, whole_votes


@dataclass(frozen=True)
class LP(Corrective):
    """Solve a linear program for the votes in every round."""

    name: ClassVar[str] = "lp"
    title: ClassVar[str] = "LPBoost"

    share: float | None = None
    tolerance: float = 0.01

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        state = self.replayed(state)
        assert state.balanced is not None
        return replace(state, votes=state.balanced.votes)

    def replayed(self, state: CorrectiveState) -> CorrectiveState:
        return solved(state, ACCURACY * self.tolerance)

    def row_weights(self, state: CorrectiveState) -> Floats:
        assert state.balanced is not None
        return state.balanced.weights


def solved(state: CorrectiveState, accuracy: float) -> CorrectiveState:
    """Solve the linear program, starting from the last weights, which determine the corner."""
    start = state.balanced or Balance(state.votes, state.shares, 2.0)
    solution = balance(state.columns, state.base, state.share, start, accuracy)
    return replace(state, balanced=solution)


@dataclass(frozen=True)
class ERLP(Corrective):
    """LPBoost made smooth by entropy."""

    name: ClassVar[str] = "erlp"
    title: ClassVar[str] = "ERLPBoost"

    share: float | None = None
    tolerance: float = 0.01

    def eta(self, largest_entropy: float) -> float:
        """Return η for the largest possible relative entropy."""
        return max(0.5, 2 * largest_entropy / self.tolerance)

    def most_rounds(self, largest_entropy: float) -> float:
        """Return the bound T of ERLPBoost in the module docstring."""
        return 16 * self.eta(largest_entropy) / self.tolerance

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        strength = self.eta(self.largest_entropy(state))
        return replace(state, votes=self.climb(state).regularised(state.votes, strength))

    def row_weights(self, state: CorrectiveState) -> Floats:
        return self.climb(state).at(state.votes, self.eta(self.largest_entropy(state))).weights


@dataclass(frozen=True)
class CorrectiveERLP(ERLP):
    """ERLPBoost that changes one vote at a time."""

    name: ClassVar[str] = "corrective_erlp"
    title: ClassVar[str] = "Corrective ERLPBoost"

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        return replace(state, votes=self.stepped(state))

    def stepped(self, state: CorrectiveState) -> Floats:
        """Return the votes after a step towards the newest rule."""
        newest, strength = np.eye(state.votes.size)[-1], self.eta(self.largest_entropy(state))
        before = margins_of(state.columns, state.votes)
        direction = state.columns[-1] - before

        def slope(part: float) -> float:
            heights = strength * (before + part * direction)
            return total(direction * evenest(heights, state.base, state.share).weights)

        # the newest rule does not help: its edge is the least so far
        if slope(0.0) <= 0:
            return state.votes
        # the objective is concave along the way, so its slope has one zero
        part = 1.0 if slope(1.0) >= 0 else float(brentq(slope, 0.0, 1.0, xtol=1e-12))
        return whole_votes((1 - part) * state.votes + part * newest)


class Projecting(Corrective):
    """Base class of SoftBoost and TotalBoost, which differ only in the share."""

    def most_rounds(self, largest_entropy: float) -> float:
        """Return the bound T of SoftBoost, for the largest possible relative entropy."""
        return 1 + 32 * largest_entropy / (15 * self.tolerance**2)

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        """Project the weights; if there is no projection, lower the reach and try again."""
        climb, reach = self.climb(state), state.reach or self._first_reach
        votes, strength = state.votes, state.strength
        while True:
            votes, strength = climb.projected(votes, strength, state.least_edge - reach)
            if reach == self.tolerance or climb.soft_margin(votes) < state.least_edge - reach:
                return replace(state, votes=votes, strength=strength, reach=reach)
            # from far to near: most rounds end at the first reach, which is the cheapest to solve
            reach = max(reach / 4, self.tolerance)

    @property
    def _first_reach(self) -> float:
        """Return the first tolerance to try: the largest ε·4^k up to 1, or ε if it is above 1."""
        steps = max(0, math.floor(math.log(1 / self.tolerance, 4)))
        return float(self.tolerance * 4.0**steps)

    def row_weights(self, state: CorrectiveState) -> Floats:
        return self.climb(state).at(state.votes, state.strength).weights


@dataclass(frozen=True)
class Soft(Projecting):
    """TotalBoost that may ignore the worst ``share`` of the rows."""

    name: ClassVar[str] = "soft"
    title: ClassVar[str] = "SoftBoost"

    share: float | None = None
    tolerance: float = 0.01


@dataclass(frozen=True)
class MLP(CorrectiveERLP):
    """Take the better of the steps of LPBoost and ERLPBoost."""

    name: ClassVar[str] = "mlp"
    title: ClassVar[str] = "MLPBoost"

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        state = self.replayed(state)
        assert state.balanced is not None
        climb, strength = self.climb(state), self.eta(self.largest_entropy(state))
        candidates = (self.stepped(state), state.balanced.votes)
        values = [climb.at(votes, strength).value for votes in candidates]
        return replace(state, votes=candidates[values[1] > values[0]])

    def replayed(self, state: CorrectiveState) -> CorrectiveState:
        return solved(state, ACCURACY * self.tolerance)


@dataclass(frozen=True)
class Total(Projecting):
    """Weights under which all rules so far are bad, to within ``tolerance``.

    >>> import math
    >>> round(Total(tolerance=0.1).most_rounds(math.log(1000)), 1)
    1474.7
    """

    name: ClassVar[str] = "total"
    title: ClassVar[str] = "TotalBoost"

    share: ClassVar[float] = 0.0  # type: ignore[misc]
    tolerance: float = 0.01
