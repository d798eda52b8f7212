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

from pacboost.boosters.booster import Measured, check_rate
from pacboost.boosters.bounded_weights import (
    BoundedState,
    BoundedWeights,
    Floats,
    Weights,
    check_promise,
    clipped_exponential,
    heaviest,
    mean_weight_below,
)
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
        return self.step_size

    def chances(self, margins: Floats, rounds: int, signs: Signs | None = None) -> Floats:
        return heaviest(exp(-np.maximum(self._heights(margins, rounds), 0.0)))

    def most_rounds(self, edge: float, epsilon: float) -> float:
        """Return the bound T of the module docstring; infinite for an edge too small for this θ."""
        size = self.step_size
        x = size * (1 + self.ahead)
        gain = edge - self.ahead - (math.expm1(x) - x) / size
        return 1 / (epsilon * size * gain) if gain > 0 else math.inf

    def stop(self, state: BoundedState) -> str | None:
        return mean_weight_below(state, self.epsilon)

    def _heights(self, margins: Floats, rounds: int) -> Floats:
        """λ·N: how far the margins are above what has to be exceeded by now."""
        return margins - self.step_size * self.ahead * rounds

    def _fill(self, margins: Floats, base: Floats, rounds: int, weights: Weights) -> int:
        return clipped_exponential(self._heights(margins, rounds), base, weights)


# MadaBoost's clipped weights (Domingo and Watanabe 2000), with a vote that needs no assumption.
#
# A row weighs min(1, exp(-margin)): none ever weighs more than at the start. That is the slope of
#
#     L(z) = exp(-z) for z ≥ 0, 1 - z for z < 0
#
# For s = ±1 and a > 0, L(z + as) ≤ L(z) - w·a·s + (a²/2)eᵃ·w. With the vote a = r·exp(-r) for a
# rule of edge r, the mean of L falls by at least ½ r² exp(-r) μ, where μ is the mean weight. As L
# starts at 1 and stays above 0,
#
#     Σ_t ½ r_t² exp(-r_t) μ_t ≤ 1,      training error ≤ μ_t ≤ mean L.
#
# So μ is below ε after 2 exp(r)/(ε r²) rounds of edge r or more (docs/proofs/filtering.md).


@dataclass(frozen=True)
class Mada(BoundedWeights):
    """The rules of MadaBoost.

    >>> rules = Mada()
    >>> round(rules.vote(Measured(total=10, wrong=3)), 4)        # 0.4·exp(-0.4)
    0.2681
    >>> round(rules.most_rounds(edge=0.4, epsilon=0.1), 1)       # 2·exp(0.4)/(0.1·0.16)
    186.5
    """

    name: ClassVar[str] = "mada"
    title: ClassVar[str] = "MadaBoost"
    potential: ClassVar[str] = "clipped"

    learning_rate: float = 1.0
    plain: bool = True

    def __post_init__(self) -> None:
        check_rate("learning_rate", self.learning_rate)

    def vote(self, found: Measured) -> float:
        """Return the vote r·exp(-r)."""
        return round_vote(self.learning_rate * found.edge * math.exp(-found.edge))

    def chances(self, margins: Floats, rounds: int, signs: Signs | None = None) -> Floats:
        """Return min(1, exp(-margin))."""
        return heaviest(exp(-np.maximum(margins, 0.0)))

    def most_rounds(self, edge: float, epsilon: float) -> float:
        """Return 2 exp(r)/(ε r²), and 1/(ν(2 - ν)) times as much for a learning rate ν up to 1.

        A vote of ν·r·exp(-r) lowers the mean of L by (ν - ν²/2)·r²·exp(-r)·μ, by the same steps.
        """
        rate = self.learning_rate
        if rate > 1 or edge <= 0:
            return math.inf
        return 2 * math.exp(edge) / (epsilon * edge**2) / (rate * (2 - rate))

    def _fill(self, margins: Floats, base: Floats, rounds: int, weights: Weights) -> int:
        return clipped_exponential(margins, base, weights)
