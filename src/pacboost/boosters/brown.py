"""BrownBoost (Freund 2001): boosting by majority without a promised edge, in continuous time.

A run has c units of time. With s of them left, a row of margin m costs erfc((m + s)/√c) and weighs
exp(-(m + s)²/c), the slope of the cost: rows that are nearly lost weigh almost nothing, so that
label noise does not attract all weight. A rule gets a vote v and costs time t, such that

    mean of erfc((m + v·y·h(x) + s - t)/√c)  stays the same,
    the rule has no edge left under the new weights, or the time is used up.

The mean starts at erfc(√c) = ε, and when no time is left wrong rows cost 1 or more: once all time
is used up, training error ≤ ε. c follows from ε, and no edge has to be promised. With time left,
costs in units of the cost of a margin of 0 give training error ≤ ε/erfc(s/√c).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import erfcinv

from pacboost.boosters.booster import Agreement, Floats, Measured, Moved
from pacboost.boosters.bounded_weights import BoundedState, OneVotePerRule, round_weights
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.numerics.checks import probability
from pacboost.numerics.exact import VOTE_UNIT, in_units_of_least, round_vote, whole_scale
from pacboost.numerics.same_bits import erfc, exp, total
from pacboost.samples.sample import Signs, Sums

MAX_STEPS = 200
"""Maximum number of steps of a root search: more than bisection needs for the last bit."""


@dataclass(frozen=True, eq=False)
class Clock:
    """The equations of one round for the vote of a rule and the time that it costs.

    A row at height z = margin + time left costs erfc(z/√c) and weighs w = exp(-z²/c). A vote v and
    a time t move it to z + v·a - t, with a = y·h(x). The mean cost stays the same, which makes t a
    function of v; v is the vote at which the remaining edge is 0, or at which no time is left. Both
    equations are solved by Newton's steps within a bracket.
    """

    heights: Floats
    masses: Floats
    """The masses of rows: one for each row, or one for all."""
    right: Floats
    """a = y·h(x) of each row."""
    total: float
    """c, the time of the run."""
    remaining: float

    def moved(self, vote: float, time: float) -> Floats:
        heights: Floats = self.heights + (vote * self.right - time)
        return heights

    def cost(self, heights: Floats) -> float:
        return total(self.masses * erfc(heights / math.sqrt(self.total)))

    @cached_property
    def before(self) -> float:
        return self.cost(self.heights)

    def time_of(self, vote: float, guess: float) -> float:
        """Return the time that a vote costs, which lies between -vote and vote."""
        low, high, time = -vote, vote, min(max(guess, -vote), vote)
        steepness = 2 / math.sqrt(math.pi * self.total)
        for _ in range(MAX_STEPS):
            heights = self.moved(vote, time)
            excess = self.cost(heights) - self.before
            # 14 digits: a sum of doubles over rows has no more to give
            if abs(excess) <= 1e-14 * self.before or high - low <= 1e-14 * vote:
                break
            low, high = (low, time) if excess > 0 else (time, high)
            weights = self.masses * exp(-np.square(heights) / self.total)
            slope = steepness * total(weights)
            # Newton's step, or half the interval if it leaves it: the cost is not convex in time
            nearer = time - excess / slope if slope > 0 else math.nan
            time = nearer if low < nearer < high else (low + high) / 2
        return time

    def _edge(self, heights: Floats) -> tuple[float, float]:
        """Return the edge under the weights of these heights, and its slope in the vote."""
        squares = np.square(heights)
        # relative to the largest weight, since all may underflow far from 0
        weights = self.masses * exp((squares.min() - squares) / self.total)
        weight = total(weights)
        edge = total(weights * self.right) / weight
        bent = total(weights * heights * np.square(self.right - edge)) / weight
        return edge, -2 / self.total * bent

    def edge_after(self, vote: float, time: float) -> float:
        return self._edge(self.moved(vote, time))[0]

    def solve(self) -> tuple[float, float]:
        """Return vote and time, up to rounding."""
        low, high, vote, time, longest = 0.0, math.inf, 0.0, 0.0, 0.0
        for _ in range(MAX_STEPS):
            edge, slope = self._edge(self.moved(vote, time))
            # time grows with the vote while there is an edge: if it fell, the edge was 0 in between
            beyond = time < longest or time >= self.remaining
            settled = abs(edge) <= 1e-12 and not beyond
            used_up = abs(time - self.remaining) <= 1e-13 * self.remaining
            if settled or used_up or high - low <= VOTE_UNIT:
                break
            # a vote is long enough once its rule has no edge left, or the time is over
            enough = edge <= 0 or beyond
            low, high, longest = (low, vote, longest) if enough else (vote, high, time)
            nearer = [vote - edge / slope] if slope < 0 else []
            nearer += [vote + (self.remaining - time) / edge] if edge > 0 else []
            vote, last = _between(low, high, nearer), vote
            time = self.time_of(vote, time + edge * (vote - last))
        return vote, min(time, self.remaining)


def _between(low: float, high: float, candidates: list[float]) -> float:
    """Return the smallest candidate if it lies in (``low``, ``high``), else a point to try next.

    That point is the midpoint, or about twice ``low`` if ``high`` is infinite.
    """
    first = min(candidates, default=math.inf)
    if low < first < high:
        return first
    return 2 * max(low, 0.5) if math.isinf(high) else (low + high) / 2


@dataclass(frozen=True)
class Brown(OneVotePerRule):
    """Give up rows that stay wrong for long: for label noise.

    A state's ``extra`` is (time left,).
    """

    name: ClassVar[str] = "brown"
    title: ClassVar[str] = "BrownBoost"
    potential: ClassVar[str] = "error function"

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        probability("epsilon", self.epsilon)

    @property
    def time(self) -> float:
        """c, for which erfc(√c) = ε."""
        return float(erfcinv(self.epsilon)) ** 2

    def init(self, signs: Signs, base: Floats, targets: Floats | None = None) -> BoundedState:
        units = in_units_of_least(base, signs.shape[1])
        weights = np.empty(signs.shape, dtype=np.int64)
        state = BoundedState(signs, np.zeros(signs.shape), weights, units, extra=(self.time,))
        return self._weigh(state)

    def values(self, state: BoundedState, sums: Sums, cells: Cells) -> CellValues:
        answers: CellValues = np.sign(sums.pulls).astype(np.float64)
        return answers * self._vote(state, state.signs * answers[cells])

    def step(self, state: BoundedState, agree: Agreement, measured: Measured) -> BoundedState:
        vote = self._vote(state, agree)
        return self._pass(state, vote, vote * agree.astype(np.float64), cast=vote)

    def move(self, state: BoundedState, moved: Moved) -> BoundedState:
        vote = float(np.abs(moved.values).max())
        return self._pass(state, vote, state.signs * moved.values[moved.cells], cast=1.0)

    def memory(self, state: BoundedState) -> list[float]:
        return [*state.extra]

    def resume(
        self, state: BoundedState, margins: Floats, votes: Sequence[float], memory: list[float]
    ) -> BoundedState:
        return super().resume(replace(state, extra=tuple(memory)), margins, votes, memory)

    def costs_now(self, state: BoundedState, margins: Floats, rounds: int) -> Floats:
        """Return erfc((m + s)/√c), divided by the cost of a margin of 0."""
        remaining, scale = state.extra[0], math.sqrt(self.time)
        ratios = erfc((margins + remaining) / scale) / erfc(remaining / scale)
        # rounding may bring a tie to just below 1, and the loop refuses costs that bound nothing
        return np.where(margins > 0, ratios, np.maximum(ratios, 1.0))

    def stop(self, state: BoundedState) -> str | None:
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
        """Solve for the time of the rounded vote, and return the state after it.

        If all rows are far from 0, almost no time passes: the run ends if the rows would cost the
        same without the remaining time.
        """
        clock = self._clock(state, added / vote if vote > 0 else added)
        rest = max(0.0, state.extra[0] - clock.time_of(vote, 0.0))
        state.margins[:] += added
        state.cast.append(cast)
        # otherwise the last rounds would take ever less time, and the run would not end
        settled = clock.cost(state.margins.reshape(-1)) <= (1 + 1e-9) * clock.before
        return self._weigh(replace(state, extra=(0.0 if settled else rest,)))

    def _weigh(self, state: BoundedState) -> BoundedState:
        squares = np.square(state.margins.reshape(-1) + state.extra[0])
        shares = exp((squares.min() - squares) / self.time)
        shares = np.maximum(np.rint(shares * whole_scale(total(state.base * shares))), 1)
        return replace(state, total=round_weights(state.base * shares, state.weights.reshape(-1)))
