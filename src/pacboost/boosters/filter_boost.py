"""FilterBoost (Bradley and Schapire 2007): logistic weights, made for examples drawn on the fly.

A row weighs q = 1/(1 + exp(margin)), and a rule of edge r gets ½ ln((1 + r)/(1 - r)). The mean of
ln(1 + exp(-margin)) starts at ln 2, and falls by at least p(1 - √(1 - r²)) in a round whose mean
weight is p. A row on which the vote is wrong or tied weighs at least ½, so

    Σ_t p_t (1 - √(1 - r_t²)) ≤ ln 2,      training error ≤ 2 p_t,

and the error is below ε after T ≤ 2 ln 2/(ε(1 - √(1 - r²))) rounds (docs/proofs/filtering.md).
Unlike the other filtering boosters, it needs neither an edge nor an error as a parameter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pacboost.boosters.base.booster import Measured
from pacboost.boosters.base.bounded_weights import BoundedWeights, Weights
from pacboost.boosters.base.filtering_booster import Floats, heaviest
from pacboost.boosters.base.parameters import check_rate
from pacboost.numerics.exact import MOST_VOTE, round_vote
from pacboost.numerics.same_bits import sigmoid
from pacboost.samples.sample import Signs


@dataclass(frozen=True)
class FilterBoost(BoundedWeights):
    """The rules of FilterBoost.

    >>> rules = FilterBoost()
    >>> round(rules.vote(Measured(total=10, wrong=3)), 4)          # ½ ln(7/3)
    0.4236
    >>> round(rules.most_rounds(edge=0.2, epsilon=0.1), 1)         # 2 ln 2/(0.1·(1 - √0.96))
    686.1
    """

    name: ClassVar[str] = "filter_boost"
    title: ClassVar[str] = "FilterBoost"
    potential: ClassVar[str] = "weight"
    error_factor: ClassVar[float] = 2.0

    learning_rate: float = 1.0

    def __post_init__(self) -> None:
        check_rate("learning_rate", self.learning_rate)

    def vote(self, found: Measured) -> float:
        """Give the vote ½ ln((1 - error)/error)."""
        return round_vote(min(self.learning_rate * found.best_vote, MOST_VOTE))

    def chances(self, margins: Floats, rounds: int, signs: Signs | None = None) -> Floats:
        """Give 1/(1 + exp(margin))."""
        return heaviest(sigmoid(-margins))

    def most_rounds(self, edge: float, epsilon: float) -> float:
        """Give 2 ln 2/(ε(1 - √(1 - r²))), and 1/ν times as much for a learning rate ν up to 1.

        The normaliser is convex in the vote and 1 where that is 0, so a part ν of the vote lowers
        the potential by no less than the same part.
        """
        if self.learning_rate > 1 or edge <= 0:
            return math.inf
        fall = 1 - math.sqrt((1 - edge) * (1 + edge))
        return 2 * math.log(2) / (epsilon * fall * self.learning_rate)

    def _based(self, units: Floats) -> Floats:
        return 2 * units  # where the margin is 0, a row has half of it

    def _fill(self, margins: Floats, base: Floats, rounds: int, weights: Weights) -> int:
        np.maximum(np.rint(base * sigmoid(-margins)), 1, out=weights, casting="unsafe")
        return int(weights.sum())
