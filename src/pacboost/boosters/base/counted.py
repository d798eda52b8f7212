"""What a promised edge makes of counts: the part of boosting by majority that needs no rows.

k rules are promised, each right with probability p = (1 + edge)/2 on whatever weights. A row that r
of the first i got right is lost with probability b_r^i, and the next rule decides about it with
probability a_r^i (numerics/coins.py). All that is asked of a margin is how many were right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pacboost.boosters.base.booster import Measured
from pacboost.boosters.base.bounded_weights import BoundedWeights, check_promise
from pacboost.boosters.base.filtering_booster import Floats, heaviest
from pacboost.numerics.coins import Wholes, fewest_coins, log_deciding, losing
from pacboost.numerics.exact import round_vote
from pacboost.samples.sample import Signs


@dataclass(frozen=True)
class Counted(BoundedWeights):
    """A promised ``edge`` and an error of ``epsilon``, and the tables that follow from them."""

    edge: float = 0.1
    epsilon: float = 0.05

    def __post_init__(self) -> None:
        check_promise(self.edge, self.epsilon)

    @property
    def _right(self) -> float:
        """The probability p that a rule is right."""
        return (1 + self.edge) / 2

    @cached_property
    def rounds(self) -> int:
        """The number of rounds k."""
        return fewest_coins(self._right, self.epsilon)

    @property
    def last_round(self) -> float:
        """The number of rounds k, after which weights are not defined."""
        return self.rounds

    @property
    def rate(self) -> float:
        """The vote of every rule, which is AdaBoost's vote for the promised edge."""
        return round_vote(math.atanh(self.edge))

    def vote(self, found: Measured) -> float:
        """Give every rule the same vote."""
        return self.rate

    def most_rounds(self, edge: float, epsilon: float) -> float:
        """Give k, if edge and epsilon are at least those that k was computed for."""
        return self.rounds if edge >= self.edge and epsilon >= self.epsilon else math.inf

    def potentials(self, rounds: int) -> Floats:
        """Give b_r^i after i = ``rounds`` rounds, for r = 0 … i."""
        return losing(self.rounds, rounds, self._right, np.arange(rounds + 1))

    def weights(self, rounds: int) -> Floats:
        """Give a_r^i for the same; all weights are 0 after the last round."""
        weights: Floats = np.exp(log_deciding(self.rounds, rounds, self._right))
        return weights

    def half(self, rounds: int) -> float:
        """Give b_r^i for r = ⌊i/2⌋: half of the rules were right, rounded down."""
        return float(self.potentials(rounds)[rounds // 2])

    def costs(self, margins: Floats, rounds: int) -> Floats:
        """Give b_r^i divided by ``half``: at least 1 where the vote errs or ties."""
        return self.potentials(rounds)[self.count(margins, rounds)] / self.half(rounds)

    def chances(self, margins: Floats, rounds: int, signs: Signs | None = None) -> Floats:
        """Give a_r^i divided by the largest of them."""
        weights = self.weights(rounds)
        return heaviest((weights / (weights.max() or 1.0))[self.count(margins, rounds)])

    def coin_below(self, rounds: int) -> float:
        """Accept a constant rule where μ is so small that it adds at most ε/2k to the mean of b.

        All such rounds together add at most ε/2, so that 1.5 ε is what is promised in the end.
        """
        largest = float(self.weights(rounds).max())
        return min(1.0, self.epsilon / (2 * self.rounds * self._right * largest))

    def count(self, margins: Floats, rounds: int) -> Wholes:
        """Give r; for monotone trees, whose values were moved, a lower bound on r."""
        right = np.floor((margins / self.rate + rounds) / 2 + 1e-6)
        return np.clip(right, 0, rounds).astype(np.int64)
