"""MLPBoost (Mitsuboshi, Hatano and Takimoto 2022): as few rounds as LPBoost, with a bound.

Two candidates for the votes in every round: a step of Frank and Wolfe, as in the corrective
ERLPBoost, and the votes of LPBoost. The one with the larger smoothed margin is taken, so a round
gains what the step alone would, and the bound of the step holds whatever the other candidate does:

    T ≤ max(8/ε, 32 ln(1/share)/ε²).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from pacboost.boosters.base.corrective import ACCURACY
from pacboost.boosters.base.kinds import CorrectiveState
from pacboost.boosters.corrective_erlp import CorrectiveERLP
from pacboost.boosters.lp import solved


@dataclass(frozen=True)
class MLP(CorrectiveERLP):
    """The rules of MLPBoost.

    >>> import numpy as np
    >>> rules = MLP(share=0.0)
    >>> state = rules.init(np.ones((3, 1), dtype=np.int8), np.ones(1))
    >>> for wrong in range(3):                          # each rule is wrong on another row
    ...     agree = np.where(np.arange(3) == wrong, -1, 1).astype(np.int8)[:, None]
    ...     state = rules.step(state, agree, None)
    >>> state.votes.round(6).tolist()
    [0.333333, 0.333333, 0.333333]
    """

    name: ClassVar[str] = "mlp"
    title: ClassVar[str] = "MLPBoost"

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        """Take the candidate with the larger smoothed margin."""
        state = self.replayed(state)
        assert state.balanced is not None
        climb, strength = self.climb(state), self.eta(self.largest_entropy(state))
        candidates = (self.stepped(state), state.balanced.votes)
        values = [climb.at(votes, strength).value for votes in candidates]
        return replace(state, votes=candidates[values[1] > values[0]])

    def replayed(self, state: CorrectiveState) -> CorrectiveState:
        """Solve LPBoost's program, starting from the solution of the last round."""
        return solved(state, ACCURACY * self.tolerance)
