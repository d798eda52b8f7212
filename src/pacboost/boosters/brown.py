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
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import erfcinv

from pacboost.boosters.booster import Agreement, Floats, Measured, Moved
from pacboost.boosters.bounded_weights import BoundedState, OneVotePerRule
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.numerics.exact import VOTE_UNIT, in_units_of_least, round_vote, whole_scale
from pacboost.numerics.same_bits import exp, total
from pacboost.numerics.same_bits import total as sum_of
from pacboost.samples.sample import Signs, Sums

# The complementary error function, with the same bits on every build of SciPy.
#
# For x ≥ 0, exp(x²)·erfc(x) is smooth in t = 1/(1 + x/2), from 0 at infinity to 1 at t = 1. Divided
# by t it is a series of Chebyshev polynomials in 2t - 1, whose coefficients were computed with 50
# digits from the definition.

COEFFICIENTS = (
    1.1540674772329393, 0.3554369212704985, 0.06509515882878653, 0.003671142395836639,
    -0.0011128447433526325, -0.0001607582991537808, 3.278031574173137e-05, 5.442441645505016e-06,
    -1.5154665553171482e-06, -1.4297608181169865e-07, 8.234608827419493e-08,
    -1.2962846852306563e-09, -4.154721631015199e-09, 6.347058278362811e-10, 1.4320822712256225e-10,
    -6.160390105204585e-11, 2.0612138554721698e-12, 3.5714931488477042e-12, -8.586422843251796e-13,
    -6.14560021379063e-14, 7.418725748596617e-14, -1.2895042755032325e-14, -2.358726385710632e-15,
    1.5729349381685912e-15, -2.2782966239546465e-16, -6.31233045075643e-17, 3.5916763531814925e-17,
    -5.049809149847729e-18,
)  # fmt: skip


def erfc(values: Floats | float) -> Floats:
    """Return 1 - erf(x), of numbers below 0 and above; small results are as exact as large ones.

    >>> erfc(np.array([0.0, 1.0, 5.0, -3.0])).round(9).tolist()
    [1.0, 0.157299207, 0.0, 1.99997791]
    """
    x = np.asarray(values, dtype=np.float64)
    size = np.abs(x)
    t = 1.0 / (1.0 + 0.5 * size)
    double = 2.0 * (2.0 * t - 1.0)
    last = before = np.zeros(x.shape)
    for coefficient in COEFFICIENTS[:0:-1]:  # Clenshaw's recurrence
        last, before = double * last - before + coefficient, last
    scaled = t * (0.5 * double * last - before + 0.5 * COEFFICIENTS[0])
    near = np.minimum(np.rint(size * 16.0) / 16.0, 64.0)  # its square is exact
    small = scaled * (exp(-near * near) * exp(-(size - near) * (size + near)))
    return np.asarray(np.where(x >= 0, small, 2.0 - small))


# The vote of a rule and the time that it costs: the two equations of BrownBoost.
#
# A row at height z = margin + time left costs erfc(z/√c) and weighs w = exp(-z²/c). A vote v and a
# time t move it to z + v·a - t, where a is y·h(x). The mean cost shall stay the same, which makes t
# a function of v with slope E_w[a], the edge that is left; and v shall be where that has come to 0,
# or the time to its end. The slope of the edge itself is -(2/c)·E_w[z(a - edge)²], so both
# equations are solved by Newton's steps, held between a vote that is too small and one that is too
# large.


STEPS = 200
"""More than bisection needs to come down to the last bit."""


@dataclass(frozen=True, eq=False)
class Clock:
    """One round: the height of each row, its mass, and whether the rule is right on it.

    >>> clock = Clock(np.full(4, 1.0), np.ones(1), np.array([1.0, 1, 1, -1]), total=1.0, left=1.0)
    >>> vote, time = clock.solve()
    >>> round(vote, 4), round(time, 4), abs(round(clock.edge_after(vote, time), 9))
    (0.2975, 0.0769, 0.0)
    """

    heights: Floats
    masses: Floats
    """One for each row, or one for all."""
    right: Floats
    total: float
    """c, the time of the whole run."""
    left: float
    """What is left of it."""

    def moved(self, vote: float, time: float) -> Floats:
        """Return the heights after a vote that costs this time."""
        heights: Floats = self.heights + (vote * self.right - time)
        return heights

    def cost(self, heights: Floats) -> float:
        """Add up what rows at these heights cost."""
        return sum_of(self.masses * erfc(heights / math.sqrt(self.total)))

    @cached_property
    def before(self) -> float:
        """What they cost now."""
        return self.cost(self.heights)

    def time_of(self, vote: float, guess: float) -> float:
        """Find the time that a vote costs: never more than the vote, nor less than minus that."""
        low, high, time = -vote, vote, min(max(guess, -vote), vote)
        steepness = 2 / math.sqrt(math.pi * self.total)
        for _ in range(STEPS):
            heights = self.moved(vote, time)
            excess = self.cost(heights) - self.before
            if abs(excess) <= 1e-14 * self.before or high - low <= 1e-14 * vote:
                break
            low, high = (low, time) if excess > 0 else (time, high)
            weights = self.masses * exp(-np.square(heights) / self.total)
            slope = steepness * sum_of(weights)
            nearer = time - excess / slope if slope > 0 else math.nan
            time = nearer if low < nearer < high else (low + high) / 2
        return time

    def _edge(self, heights: Floats) -> tuple[float, float]:
        """Return the edge under the weights of these heights, and how it changes with the vote."""
        squares = np.square(heights)
        weights = self.masses * exp((squares.min() - squares) / self.total)
        weight = sum_of(weights)
        edge = sum_of(weights * self.right) / weight
        bent = sum_of(weights * heights * np.square(self.right - edge)) / weight
        return edge, -2 / self.total * bent

    def edge_after(self, vote: float, time: float) -> float:
        """Return the edge that is left."""
        return self._edge(self.moved(vote, time))[0]

    def solve(self) -> tuple[float, float]:
        """Return vote and time, up to rounding."""
        low, high, vote, time, most = 0.0, math.inf, 0.0, 0.0, 0.0
        for _ in range(STEPS):
            edge, slope = self._edge(self.moved(vote, time))
            # time passes as long as there is an edge: if less has passed, there was none between
            beyond = time < most or time >= self.left
            settled = abs(edge) <= 1e-12 and not beyond
            if settled or abs(time - self.left) <= 1e-13 * self.left or high - low <= VOTE_UNIT:
                break
            enough = edge <= 0 or beyond
            low, high, most = (low, vote, most) if enough else (vote, high, time)
            nearer = [vote - edge / slope] if slope < 0 else []
            nearer += [vote + (self.left - time) / edge] if edge > 0 else []
            vote, last = _between(low, high, nearer), vote
            time = self.time_of(vote, time + edge * (vote - last))
        return vote, min(time, self.left)


def _between(low: float, high: float, wanted: list[float]) -> float:
    """Return the smallest wanted number if it lies between; else the middle, or twice ``low``."""
    first = min(wanted, default=math.inf)
    if low < first < high:
        return first
    return 2 * max(low, 0.5) if math.isinf(high) else (low + high) / 2


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
        own = in_units_of_least(base, signs.shape[1])
        weights = np.empty(signs.shape, dtype=np.int64)
        state = BoundedState(signs, np.zeros(signs.shape), weights, own, extra=(self.time,))
        return self._weigh(state)

    def values(self, state: BoundedState, sums: Sums, cells: Cells) -> CellValues:
        said: CellValues = np.sign(sums.pulls).astype(np.float64)
        return said * self._vote(state, state.signs * said[cells])

    def step(self, state: BoundedState, agree: Agreement, found: Measured) -> BoundedState:
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
        left, scale = state.extra[0], math.sqrt(self.time)
        ratios = erfc((margins + left) / scale) / erfc(left / scale)
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
