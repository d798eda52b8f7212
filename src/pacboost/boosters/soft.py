"""SoftBoost (Warmuth, Glocer and Rätsch 2007): weights as near to D_1 as small edges allow.

    D_{t+1} = argmin KL(D ‖ D_1)  over D ≤ D_1/share that give no rule so far an edge above γ_t - g,

γ_t being the least edge so far. Its multipliers are votes (numerics/ascent.py). The new rule has an
edge of γ_t or more under D_t, and g less under D_{t+1}, so KL(D_{t+1} ‖ D_t) ≥ g²/2, by which
KL(D_t ‖ D_1) ≤ ln(1/share) grows in every round: after at most 2 ln(1/share)/g² rounds there is no
such D. The multipliers prove it, for they are a vote with a soft margin of γ_t - g at least.

With g = ε from the start, as in the paper, edges fall by ε a round for long. So g starts at 1 or
less and falls to a quarter whenever such a vote is found, to end with ε:

    T ≤ 1 + 2 ln(1/share)/ε² · (1 + 1/16 + 1/256 + ...)   rounds (ln n for share 0 and n equal rows)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from pacboost.boosters.base.corrective import Corrective
from pacboost.boosters.base.kinds import CorrectiveState
from pacboost.numerics.whole_products import Floats


class Projecting(Corrective):
    """SoftBoost and TotalBoost, which differ only in the share."""

    def most_rounds(self, largest_entropy: float) -> float:
        """Give the bound T of the module docstring, for the largest possible relative entropy."""
        return 1 + 32 * largest_entropy / (15 * self.tolerance**2)

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        """Project; where no projection exists, lower the reach and try again."""
        climb, reach = self.climb(state), state.reach or self._first_reach
        votes, strength = state.votes, state.strength
        while True:
            votes, strength = climb.projected(votes, strength, state.least - reach)
            if reach == self.tolerance or climb.soft_margin(votes) < state.least - reach:
                return replace(state, votes=votes, strength=strength, reach=reach)
            reach = max(reach / 4, self.tolerance)

    @property
    def _first_reach(self) -> float:
        """Give the largest ε·4^k that is not above 1, or ε."""
        steps = max(0, math.floor(math.log(1 / self.tolerance, 4)))
        return float(self.tolerance * 4.0**steps)

    def row_weights(self, state: CorrectiveState) -> Floats:
        """Give the projected weights."""
        return self.climb(state).at(state.votes, state.strength).weights


@dataclass(frozen=True)
class Soft(Projecting):
    """The rules of SoftBoost for the worst ``share`` of the rows, to within ``tolerance``.

    >>> import math
    >>> round(Soft(share=0.1, tolerance=0.1).most_rounds(math.log(10)), 1)
    492.2
    """

    name: ClassVar[str] = "soft"
    title: ClassVar[str] = "SoftBoost"

    share: float | None = None
    tolerance: float = 0.01
