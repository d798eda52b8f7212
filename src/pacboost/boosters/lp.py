"""LPBoost (Demiriz, Bennett and Shawe-Taylor 2002): the largest soft margin, by linear programs.

After every rule the votes are those with the largest soft margin that the rules so far allow, and D
the weights under which no rule so far has an edge above that margin γ (numerics/sifting.py). The
next rule has an edge above γ, or γ is the best there is:

    soft margin = γ  ≤  best soft margin of any vote  ≤  least edge so far.

Usually few rounds, and few rules with a vote; but no bound on rounds better than the number of
rows (Warmuth, Glocer and Rätsch 2007), for D jumps from one corner to another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from pacboost.boosters.base.corrective import ACCURACY, Corrective
from pacboost.boosters.base.kinds import CorrectiveState
from pacboost.numerics.sifting import Balance, balance
from pacboost.numerics.whole_products import Floats


@dataclass(frozen=True)
class LP(Corrective):
    """The rules of LPBoost for the worst ``share`` of the rows.

    >>> import numpy as np
    >>> rules = LP(share=0.0)
    >>> state = rules.init(np.ones((3, 1), dtype=np.int8), np.ones(1))
    >>> for wrong in range(3):                          # each rule is wrong on another row
    ...     agree = np.where(np.arange(3) == wrong, -1, 1).astype(np.int8)[:, None]
    ...     state = rules.step(state, agree, None)
    >>> rules.votes(state).round(6).tolist(), round(state.gap, 6)        # a margin of 1/3: 1 each
    ([1.0, 1.0, 1.0], 0.0)
    """

    name: ClassVar[str] = "lp"
    title: ClassVar[str] = "LPBoost"

    share: float | None = None
    tolerance: float = 0.01

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        """Solve the linear program for the votes."""
        state = self.replayed(state)
        assert state.balanced is not None
        return replace(state, votes=state.balanced.votes)

    def replayed(self, state: CorrectiveState) -> CorrectiveState:
        """Solve the program, starting from the last weights: they decide which corner is found."""
        return solved(state, ACCURACY * self.tolerance)

    def row_weights(self, state: CorrectiveState) -> Floats:
        """Give the weights that solve the dual program."""
        assert state.balanced is not None
        return state.balanced.weights


def solved(state: CorrectiveState, accuracy: float) -> CorrectiveState:
    """Solve the linear program, starting from the solution of the last round."""
    start = state.balanced or Balance(state.votes, state.shares, 2.0)
    found = balance(state.columns, state.base, state.share, start, accuracy)
    return replace(state, balanced=found)
