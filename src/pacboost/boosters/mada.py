"""MadaBoost's clipped weights (Domingo and Watanabe 2000), with a vote that needs no assumption.

A row weighs min(1, exp(-margin)): none ever weighs more than at the start. That is the slope of

    L(z) = exp(-z) for z ≥ 0, 1 - z for z < 0

For s = ±1 and a > 0, L(z + as) ≤ L(z) - w·a·s + (a²/2)eᵃ·w. With the vote a = r·exp(-r) for a rule
of edge r, the mean of L falls by at least ½ r² exp(-r) μ, where μ is the mean weight. As L starts
at 1 and stays above 0,

    Σ_t ½ r_t² exp(-r_t) μ_t ≤ 1,      training error ≤ μ_t ≤ mean L.

So μ is below ε after 2 exp(r)/(ε r²) rounds of edge r or more (docs/proofs/filtering.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pacboost.boosters.base.booster import Measured
from pacboost.boosters.base.bounded_weights import BoundedWeights, Weights, clipped_exponential
from pacboost.boosters.base.filtering_booster import Floats, heaviest
from pacboost.boosters.base.parameters import check_rate
from pacboost.numerics.exact import round_vote
from pacboost.numerics.same_bits import exp
from pacboost.samples.sample import Signs


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
        """Give the vote r·exp(-r)."""
        return round_vote(self.learning_rate * found.edge * math.exp(-found.edge))

    def chances(self, margins: Floats, rounds: int, signs: Signs | None = None) -> Floats:
        """Give min(1, exp(-margin))."""
        return heaviest(exp(-np.maximum(margins, 0.0)))

    def most_rounds(self, edge: float, epsilon: float) -> float:
        """Give 2 exp(r)/(ε r²), and 1/(ν(2 - ν)) times as much for a learning rate ν up to 1.

        A vote of ν·r·exp(-r) lowers the mean of L by (ν - ν²/2)·r²·exp(-r)·μ, by the same steps.
        """
        rate = self.learning_rate
        if rate > 1 or edge <= 0:
            return math.inf
        return 2 * math.exp(edge) / (epsilon * edge**2) / (rate * (2 - rate))

    def _fill(self, margins: Floats, base: Floats, rounds: int, weights: Weights) -> int:
        return clipped_exponential(margins, base, weights)
