"""Smooth weights by projection (after Barak, Hardt and Kale 2009), in as few rounds as AdaBoost.

After every rule, weights are multiplied by exp(-η·y·h(x)) with η = edge, and then projected, in
relative entropy, to the weights under which no row weighs more than 1/ε times its first weight:

    M_t(x) = min(1, c_t · M_{t-1}(x) · exp(-η·y·h_t(x))),       c_t such that the mean of M is ε.

All votes are η, so the vote is the plain majority. With Z_t = Σ D_t exp(-η·y·h_t),

    training error ≤ max(ε, ∏ Z_t),       below ε after more than 2 ln(1/ε)/edge² rounds,

a number of rounds that hardly grows as ε falls (docs/proofs/filtering.md). The price: the mean
weight does not bound the error, and the weight of a row depends on the path of its margin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Agreement, Floats, Measured, Moved
from pacboost.boosters.bounded_weights import BoundedState, Promised, Weights, clipped_exponential
from pacboost.errors import ParameterError
from pacboost.numerics.exact import round_vote
from pacboost.numerics.same_bits import exp, total
from pacboost.samples.sample import Signs


@dataclass(frozen=True)
class Projection(Promised):
    """Weights are projected to those that are smooth enough, for a promised ``edge``."""

    name: ClassVar[str] = "projection"
    potential: ClassVar[str] = "projected"
    error_factor: ClassVar[float] = 0.0
    by_path: ClassVar[bool] = True

    @property
    def floor(self) -> float:
        return self.epsilon

    @property
    def rate(self) -> float:
        return round_vote(self.edge)

    def vote(self, measured: Measured) -> float:
        return self.rate

    def chances(self, margins: Floats, rounds: int, signs: Signs | None = None) -> Floats:
        """Raise ParameterError, because margins do not determine the weights."""
        raise ParameterError("projection weighs rows by their path: follow it, round by round")

    def start(self, shape: tuple[int, ...]) -> Floats:
        """Return ln ε for all rows, so that their mean weight is ε.

        A row that every rule gets wrong has the largest weight. A caller may divide all
        probabilities by the weight of such a row: the distribution is the same, with fewer draws.
        """
        return np.full(shape, math.log(self.epsilon))

    def follow(
        self, log_weights: Floats, agree: NDArray[np.number[Any]], memory: Sequence[float]
    ) -> Floats:
        """Return ln M_t from ln M_{t-1}; ``memory`` is [ln c_t]."""
        # the projection caps weights at 1, after all were raised to the same mean
        after: Floats = np.minimum(log_weights - self.rate * agree + memory[0], 0.0)
        return after

    def most_rounds(self, edge: float, epsilon: float) -> float:
        """Return ln(1/ε)/(η(r - η/2)), which is 2 ln(1/ε)/r² for the promised edge."""
        rest = edge - self.rate / 2
        if rest <= 0 or epsilon < self.epsilon:
            return math.inf
        return math.log(1 / epsilon) / (self.rate * rest)

    def stop(self, state: BoundedState) -> str | None:
        if len(state.cast) > self.most_rounds(self.edge, self.epsilon):
            return (
                f"rules of edge {self.edge:g} need no more rounds for an error of {self.epsilon:g}"
            )
        return None

    def step(self, state: BoundedState, agree: Agreement, measured: Measured) -> BoundedState:
        return super().step(self._projected(state, agree), agree, measured)

    def move(self, state: BoundedState, moved: Moved) -> BoundedState:
        agree = state.signs * moved.values[moved.cells] / self.rate
        return super().move(self._projected(state, agree), moved)

    def memory(self, state: BoundedState) -> list[float]:
        return [state.shift]

    def resume(
        self, state: BoundedState, margins: Floats, votes: Sequence[float], memory: list[float]
    ) -> BoundedState:
        """Raise ParameterError: only ``continue_on_other_rows`` takes the necessary log weights."""
        raise ParameterError("projection continues from the path of every row: pass log weights")

    def continue_on_other_rows(
        self,
        state: BoundedState,
        margins: Floats,
        votes: Sequence[float],
        log_weights: Floats | None = None,
    ) -> BoundedState:
        if log_weights is None:
            raise ParameterError("projection needs the log weights of the rows, from follow")
        state.margins[:] = margins
        state.cast.extend(votes)
        return self._weigh(replace(state, log_weights=log_weights.reshape(margins.shape)))

    def _projected(self, state: BoundedState, agree: NDArray[np.number[Any]]) -> BoundedState:
        """Solve for c_t, then update the log weights of all rows."""
        assert state.log_weights is not None
        raised = exp(state.log_weights - self.rate * agree).reshape(-1)
        base = np.ones(1) if state.base.size == 1 else exp(state.base - state.base.max())
        shift = math.log(capped_scale(raised, base, self.epsilon))
        return replace(
            state, log_weights=self.follow(state.log_weights, agree, [shift]), shift=shift
        )

    def _fill(self, margins: Floats, base: Floats, rounds: int, weights: Weights) -> int:
        return clipped_exponential(-margins, base, weights)


def capped_scale(raised: Floats, base: Floats, mean: float) -> float:
    """Return the c for which the weighted mean of min(1, c·raised) is ``mean``; never above it.

    The mean is concave in c and made of straight pieces. Newton's steps from the left stay on the
    left and meet each piece at most once, so they end at the exact solution."""
    shares = np.broadcast_to(base, raised.shape)
    target = mean * total(shares)
    products = shares * raised
    scale, capped = target / total(products), -1
    while True:
        over = scale * raised >= 1
        count = int(np.count_nonzero(over))
        if count == capped:
            return scale
        capped = count
        rest = total(products[~over])
        if rest > 0:
            scale = max(scale, (target - total(shares[over])) / rest)
