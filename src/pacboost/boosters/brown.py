"""BrownBoost (Freund 2001): boosting by majority without a promised edge, in continuous time.

A run has c units of time. With s of them left, a row of margin m costs erfc((m + s)/√c) and weighs
exp(-(m + s)²/c), the slope of that: rows that are nearly lost weigh next to nothing, so that label
noise does not draw all weight upon itself. A rule gets a vote v and costs time t, such that

    mean of erfc((m + v·y·h(x) + s - t)/√c)  stays what it was,
    the rule has no edge left under the new weights, or the time is used up.

The mean starts at erfc(√c) = ε, and when no time is left rows that are wrong cost 1 or more: once
all time is used up, training error ≤ ε. c follows from ε, and nothing has to be known of edges.
With time left, costs in units of what a margin of 0 costs give training error ≤ ε/erfc(s/√c).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import erfcinv

from pacboost.boosters.base.booster import Agreement, Measured, Moved
from pacboost.boosters.base.bounded_weights import BoundedState, OneVotePerRule
from pacboost.boosters.base.filtering_booster import Floats
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.numerics.clock import Clock
from pacboost.numerics.error_function import erfc
from pacboost.numerics.exact import in_units_of_least, round_vote, whole_scale
from pacboost.numerics.same_bits import exp, total
from pacboost.samples.request import Sums
from pacboost.samples.sample import Signs


@dataclass(frozen=True)
class Brown(OneVotePerRule):
    """The rules of BrownBoost, for an error of ``epsilon``; a state's ``extra`` is (time left,).

    >>> rules = Brown(epsilon=0.1)
    >>> round(rules.time, 4)                                      # c
    1.3528
    >>> state = rules.init(np.ones((4, 1), dtype=np.int8), np.ones(1))
    >>> agree = np.array([[1], [1], [1], [-1]], dtype=np.int8)
    >>> state = rules.step(state, agree, Measured(total=4, wrong=1))
    >>> round(rules.last_vote(state), 4), round(state.extra[0], 4)  # its vote, and the time left
    (0.2909, 1.2773)
    """

    name: ClassVar[str] = "brown"
    title: ClassVar[str] = "BrownBoost"
    potential: ClassVar[str] = "error function"

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < 1:
            raise ParameterError(f"epsilon is {self.epsilon}; it must lie between 0 and 1")

    @property
    def time(self) -> float:
        """c, for which erfc(√c) = ε."""
        return float(erfcinv(self.epsilon)) ** 2

    def init(self, signs: Signs, base: Floats, targets: Floats | None = None) -> BoundedState:
        """Start with all of the time left."""
        own = in_units_of_least(base, signs.shape[1])
        weights = np.empty(signs.shape, dtype=np.int64)
        state = BoundedState(signs, np.zeros(signs.shape), weights, own, extra=(self.time,))
        return self._weigh(state)

    def values(self, state: BoundedState, sums: Sums, cells: Cells) -> CellValues:
        """Give each cell the sign of the weighted majority of its rows."""
        said: CellValues = np.sign(sums.pulls).astype(np.float64)
        return said * self._vote(state, state.signs * said[cells])

    def step(self, state: BoundedState, agree: Agreement, found: Measured) -> BoundedState:
        """Add the vote to the margins, subtract its time, and compute the new weights."""
        vote = self._vote(state, agree)
        return self._pass(state, vote, vote * agree.astype(np.float64), cast=vote)

    def move(self, state: BoundedState, moved: Moved) -> BoundedState:
        """Add the values of the cells to the margins, and do the same."""
        vote = float(np.abs(moved.values).max())
        return self._pass(state, vote, state.signs * moved.values[moved.cells], cast=1.0)

    def memory(self, state: BoundedState) -> list[float]:
        """Give the time that is left."""
        return [*state.extra]

    def resume(
        self, state: BoundedState, margins: Floats, votes: Sequence[float], memory: list[float]
    ) -> BoundedState:
        """Compute the weights of all rows from their margins and the time left."""
        state.margins[:] = margins
        state.cast.extend(votes)
        return self._weigh(replace(state, extra=tuple(memory)))

    def costs_now(self, state: BoundedState, margins: Floats, rounds: int) -> Floats:
        """Give erfc((m + s)/√c), divided by the cost of a margin of 0."""
        left, scale = state.extra[0], math.sqrt(self.time)
        ratios = erfc((margins + left) / scale) / erfc(left / scale)
        return np.where(margins > 0, ratios, np.maximum(ratios, 1.0))

    def stop(self, state: BoundedState) -> str | None:
        """Stop when the time is used up."""
        if state.extra[0] > 0:
            return None
        of = "" if state.signs.shape[1] == 1 else " of pairs of row and class"
        return f"the time is used up, so the training error{of} is at most {self.epsilon:g}"

    def _clock(self, state: BoundedState, right: Floats | Agreement) -> Clock:
        heights = state.margins.reshape(-1) + state.extra[0]
        flat = right.reshape(-1).astype(np.float64)
        return Clock(heights, state.base, flat, self.time, state.extra[0])

    def _vote(self, state: BoundedState, right: Floats | Agreement) -> float:
        return round_vote(self._clock(state, right).solve()[0])

    def _pass(self, state: BoundedState, vote: float, added: Floats, cast: float) -> BoundedState:
        """Solve for the time of the vote as it was rounded.

        Where all rows are far from 0, time hardly passes any more, nor does it matter: if they
        would cost the same without it, none is left.
        """
        clock = self._clock(state, added / vote if vote > 0 else added)
        rest = max(0.0, state.extra[0] - clock.time_of(vote, 0.0))
        state.margins[:] += added
        state.cast.append(cast)
        settled = clock.cost(state.margins.reshape(-1)) <= (1 + 1e-9) * clock.before
        return self._weigh(replace(state, extra=(0.0 if settled else rest,)))

    def _weigh(self, state: BoundedState) -> BoundedState:
        squares = np.square(state.margins.reshape(-1) + state.extra[0])
        shares = exp((squares.min() - squares) / self.time)
        shares = np.maximum(np.rint(shares * whole_scale(total(state.base * shares))), 1)
        np.maximum(np.rint(state.base * shares), 1, out=state.weights.reshape(-1), casting="unsafe")
        return replace(state, total=int(state.weights.sum()))
