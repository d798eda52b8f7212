"""ERLPBoost (Warmuth, Glocer and Vishwanathan 2008): LPBoost with even weights, and a bound.

    D_t = argmin over D ≤ D_1/share of   largest edge of a rule so far + KL(D ‖ D_1)/η,

whose dual is the soft margin of votes, smoothed (numerics/ascent.py). With ρ_t the smoothed margin
and δ_t the least over rounds of edge + KL/η, less ρ_t, a round gains δ_t²/(8η) at least. So, with

    η = max(1/2, 2 ln(1/share)/ε),       T ≤ max(8/ε, 32 ln(1/share)/ε²)

rounds bring δ_t to ε/2, and smoothing hides at most ln(1/share)/η ≤ ε/2 of the margin.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from pacboost.boosters.base.corrective import Corrective
from pacboost.boosters.base.kinds import CorrectiveState
from pacboost.numerics.whole_products import Floats


@dataclass(frozen=True)
class ERLP(Corrective):
    """The rules of ERLPBoost for the worst ``share`` of the rows, to within ``tolerance``.

    >>> import math
    >>> rules = ERLP(share=0.1, tolerance=0.1)
    >>> round(rules.eta(math.log(10)), 2), round(rules.most_rounds(math.log(10)))
    (46.05, 7368)
    """

    name: ClassVar[str] = "erlp"
    title: ClassVar[str] = "ERLPBoost"

    share: float | None = None
    tolerance: float = 0.01

    def eta(self, largest_entropy: float) -> float:
        """Give η for the largest possible relative entropy."""
        return max(0.5, 2 * largest_entropy / self.tolerance)

    def most_rounds(self, largest_entropy: float) -> float:
        """Give the bound T of the module docstring."""
        return 16 * self.eta(largest_entropy) / self.tolerance

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        """Find the votes with the largest smoothed margin."""
        strength = self.eta(self.largest_entropy(state))
        return replace(state, votes=self.climb(state).regularised(state.votes, strength))

    def row_weights(self, state: CorrectiveState) -> Floats:
        """Give D_t, which the votes determine."""
        return self.climb(state).at(state.votes, self.eta(self.largest_entropy(state))).weights
