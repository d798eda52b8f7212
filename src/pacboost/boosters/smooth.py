"""SmoothBoost (Servedio 2003): the majority gets a margin, and no row ever weighs too much.

With γ = edge/2 and θ = γ/(2 + γ), let N be the sum of y·h(x) - θ over all rounds: how far a row's
margin is ahead of θ. It weighs M = min(1, (1 - γ)^(N/2)). When the mean weight falls below ε, fewer
than a share ε of the rows have a normalised margin y·F/‖votes‖₁ of θ or less, not only of 0.

All votes are the same, λ = -½ ln(1 - γ): then M = min(1, exp(-(margin - λθ·rounds))). With the edge
kept in every round, the mean weight is below ε after

    T ≤ 1/(ε·λ·(r - θ - e)),   e = (exp(x) - 1 - x)/λ,   x = λ(1 + θ)

rounds, which is less than Servedio's 2/(ε γ² √(1 - γ)) (docs/proofs/filtering.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pacboost.boosters.base.booster import Measured
from pacboost.boosters.base.bounded_weights import (
    BoundedState,
    BoundedWeights,
    Weights,
    check_promise,
    clipped_exponential,
    mean_weight_below,
)
from pacboost.boosters.base.filtering_booster import Floats, heaviest
from pacboost.numerics.exact import round_vote
from pacboost.numerics.same_bits import exp
from pacboost.samples.sample import Signs


@dataclass(frozen=True)
class Smooth(BoundedWeights):
    """The rules of SmoothBoost, for a promised ``edge`` and an error of ``epsilon``.

    >>> rules = Smooth(edge=0.2, epsilon=0.1)
    >>> round(rules.ahead, 4), round(rules.most_rounds(edge=0.2, epsilon=0.1))    # Servedio: 2108
    (0.0476, 1544)
    """

    name: ClassVar[str] = "smooth"
    title: ClassVar[str] = "SmoothBoost"
    potential: ClassVar[str] = "weight"

    edge: float = 0.1
    epsilon: float = 0.05

    def __post_init__(self) -> None:
        check_promise(self.edge, self.epsilon)

    @property
    def ahead(self) -> float:
        """θ, the normalised margin that all but a share ``epsilon`` of the rows will exceed."""
        return self.edge / (4 + self.edge)

    @property
    def step_size(self) -> float:
        """λ, the vote of every rule."""
        return round_vote(-0.5 * math.log1p(-self.edge / 2))

    def vote(self, found: Measured) -> float:
        """Give every rule the same vote."""
        return self.step_size

    def chances(self, margins: Floats, rounds: int, signs: Signs | None = None) -> Floats:
        """Give the measure M of each row."""
        return heaviest(exp(-np.maximum(self._heights(margins, rounds), 0.0)))

    def most_rounds(self, edge: float, epsilon: float) -> float:
        """Give the bound T of the module docstring; infinite for an edge too small for this θ."""
        size = self.step_size
        x = size * (1 + self.ahead)
        gain = edge - self.ahead - (math.expm1(x) - x) / size
        return 1 / (epsilon * size * gain) if gain > 0 else math.inf

    def stop(self, state: BoundedState) -> str | None:
        """Stop once the mean weight is below epsilon."""
        return mean_weight_below(state, self.epsilon)

    def _heights(self, margins: Floats, rounds: int) -> Floats:
        """λ·N: how far the margins are above what has to be exceeded by now."""
        return margins - self.step_size * self.ahead * rounds

    def _fill(self, margins: Floats, base: Floats, rounds: int, weights: Weights) -> int:
        return clipped_exponential(self._heights(margins, rounds), base, weights)
