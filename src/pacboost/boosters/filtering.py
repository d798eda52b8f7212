"""Boosters by filtering: FilterBoost, the measure of lecture 003, SmoothBoost and MadaBoost.

The proofs are in docs/proofs/filtering.md; r is the edge of a rule and μ the mean weight.

**FilterBoost** (Bradley and Schapire 2007): logistic weights, for examples drawn on the fly. A row
weighs 1/(1 + exp(margin)), and a rule gets ½ ln((1 + r)/(1 - r)). Then

    Σ_t μ_t (1 - √(1 - r_t²)) ≤ ln 2,      training error ≤ 2 μ_t,

and the error is below ε after T ≤ 2 ln 2/(ε(1 - √(1 - r²))) rounds. Unlike the other filtering
boosters, it needs neither an edge nor an error as a parameter.

**Measure**, the booster of lecture 003: weights that fall linearly with the majority, and equal
votes. N is the number of right rules on a row minus the number of wrong ones. With θ as the vote of
all rules, a row weighs clip(1 - θN, 0, 1) = clip(1 - margin, 0, 1). While μ is at least cε and
rules have an edge r, θ = c·ε·r gives

    T ≤ 1/(c·ε·r)²,       training error ≤ μ,       D_t ≤ D_1/μ.

``share`` is c, the part of ε that a test on draws can distinguish from ε itself; for a mean that is
known exactly, 1 suffices.

**SmoothBoost** (Servedio 2003): the majority gets a margin, and no row ever weighs too much. With
γ = edge/2 and θ = γ/(2 + γ), all votes are λ = -½ ln(1 - γ), and a row weighs
min(1, exp(-(margin - λθ·rounds))). When μ falls below ε, less than a share ε of the rows has a
normalised margin of θ or less. With the promised edge in every round, that takes at most

    T ≤ 1/(ε·λ·(r - θ - e)),   e = (exp(x) - 1 - x)/λ,   x = λ(1 + θ).

**MadaBoost** (Domingo and Watanabe 2000): a row weighs min(1, exp(-margin)), never more than at the
start, and the vote r·exp(-r) needs no assumption:

    Σ_t ½ r_t² exp(-r_t) μ_t ≤ 1,      training error ≤ μ_t,

so μ is below ε after 2 exp(r)/(ε r²) rounds of edge r or more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pacboost.boosters.booster import Floats, Measured, check_rate
from pacboost.boosters.bounded_weights import (
    BoundedState,
    BoundedWeights,
    Promised,
    Weights,
    clipped_exponential,
    heaviest,
    mean_weight_below,
    round_weights,
)
from pacboost.errors import ParameterError, invalid
from pacboost.numerics.exact import MAX_VOTE, round_vote
from pacboost.numerics.same_bits import exp, sigmoid
from pacboost.samples.sample import Signs


@dataclass(frozen=True)
class FilterBoost(BoundedWeights):
    """Logistic weights and plain votes, for examples drawn on the fly."""

    name: ClassVar[str] = "filter_boost"
    title: ClassVar[str] = "FilterBoost"
    potential: ClassVar[str] = "weight"
    error_factor: ClassVar[float] = 2.0

    learning_rate: float = 1.0

    def __post_init__(self) -> None:
        check_rate("learning_rate", self.learning_rate)

    def vote(self, measured: Measured) -> float:
        return round_vote(min(self.learning_rate * measured.best_vote, MAX_VOTE))

    def chances(self, margins: Floats, rounds: int, signs: Signs | None = None) -> Floats:
        return heaviest(sigmoid(-margins))

    def most_rounds(self, edge: float, epsilon: float) -> float:
        """Return 2 ln 2/(ε(1 - √(1 - r²))), and 1/ν times as much for a learning rate ν up to 1.

        The normaliser is convex in the vote and 1 for a vote of 0, so a part ν of the vote lowers
        the potential by at least the same part.
        """
        if self.learning_rate > 1 or edge <= 0:
            return math.inf
        # 1 - r² as a product keeps the digits of an edge near 1
        fall = 1 - math.sqrt((1 - edge) * (1 + edge))
        return 2 * math.log(2) / (epsilon * fall * self.learning_rate)

    def _based(self, units: Floats) -> Floats:
        return 2 * units  # a row of margin 0 weighs half of it

    def _fill(self, margins: Floats, base: Floats, rounds: int, weights: Weights) -> int:
        return round_weights(base * sigmoid(-margins), weights)


@dataclass(frozen=True)
class Measure(Promised):
    """A ramp of weights and equal votes, for a promised ``edge``: lecture 003."""

    name: ClassVar[str] = "measure"
    potential: ClassVar[str] = "weight"

    share: float = 0.75

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.share <= 1:
            raise invalid("share", self.share, "must be above 0 and at most 1")
        if self.slope == 0:
            raise ParameterError(
                f"share·epsilon·edge is {self.share * self.epsilon * self.edge:g}, less than the "
                "smallest vote; set a larger epsilon or edge",
                parameter="epsilon",
            )

    @property
    def slope(self) -> float:
        """θ, the vote of every rule."""
        return round_vote(self.share * self.epsilon * self.edge)

    def vote(self, measured: Measured) -> float:
        return self.slope

    def chances(self, margins: Floats, rounds: int, signs: Signs | None = None) -> Floats:
        return heaviest(np.clip(1.0 - margins, 0.0, 1.0))

    def most_rounds(self, edge: float, epsilon: float) -> float:
        """Return 1/(θ(2cεr - θ)), which is 1/θ² for the edge and epsilon of θ.

        At most this many rounds of edge r have a mean weight of cε or more; the error, which is at
        most the mean weight, is below ε earlier.
        """
        return self._rounds_above(self.share * epsilon, edge)

    @property
    def promised_rounds(self) -> float:
        """Return 1/(θ(2εr - θ)): in memory the run stops below ε, as μ is known exactly."""
        return self._rounds_above(self.epsilon, self.edge)

    def _rounds_above(self, mean: float, edge: float) -> float:
        rest = 2 * mean * edge - self.slope
        return 1 / (self.slope * rest) if rest > 0 else math.inf

    def stop(self, state: BoundedState) -> str | None:
        return mean_weight_below(state, self.epsilon)

    def _based(self, units: Floats) -> Floats:
        return units

    def _fill(self, margins: Floats, base: Floats, rounds: int, weights: Weights) -> int:
        return round_weights(base * np.clip(1.0 - margins, 0.0, 1.0), weights)


@dataclass(frozen=True)
class Smooth(Promised):
    """No row ever weighs much more than others, for a promised ``edge``."""

    name: ClassVar[str] = "smooth"
    title: ClassVar[str] = "SmoothBoost"
    potential: ClassVar[str] = "weight"

    @property
    def ahead(self) -> float:
        """θ, the normalised margin that all but a share ``epsilon`` of the rows will exceed."""
        return self.edge / (4 + self.edge)

    @property
    def step_size(self) -> float:
        """λ, the vote of every rule."""
        # log1p: promised edges are small
        return round_vote(-0.5 * math.log1p(-self.edge / 2))

    def vote(self, measured: Measured) -> float:
        return self.step_size

    def chances(self, margins: Floats, rounds: int, signs: Signs | None = None) -> Floats:
        return heaviest(exp(-np.maximum(self._heights(margins, rounds), 0.0)))

    def most_rounds(self, edge: float, epsilon: float) -> float:
        """Return the bound T of SmoothBoost; infinite if the edge is too small for this θ."""
        size = self.step_size
        x = size * (1 + self.ahead)
        # expm1(x) - x, since exp(x) - 1 - x would cancel for small votes
        gain = edge - self.ahead - (math.expm1(x) - x) / size
        return 1 / (epsilon * size * gain) if gain > 0 else math.inf

    def stop(self, state: BoundedState) -> str | None:
        return mean_weight_below(state, self.epsilon)

    def _heights(self, margins: Floats, rounds: int) -> Floats:
        """Return λ·N, the distance of margins above the threshold of this round."""
        return margins - self.step_size * self.ahead * rounds

    def _fill(self, margins: Floats, base: Floats, rounds: int, weights: Weights) -> int:
        return clipped_exponential(self._heights(margins, rounds), base, weights)


@dataclass(frozen=True)
class Mada(BoundedWeights):
    """AdaBoost whose weights never exceed those of the start."""

    name: ClassVar[str] = "mada"
    title: ClassVar[str] = "MadaBoost"
    potential: ClassVar[str] = "clipped"

    learning_rate: float = 1.0

    def __post_init__(self) -> None:
        check_rate("learning_rate", self.learning_rate)

    def vote(self, measured: Measured) -> float:
        return round_vote(self.learning_rate * measured.edge * math.exp(-measured.edge))

    def chances(self, margins: Floats, rounds: int, signs: Signs | None = None) -> Floats:
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
