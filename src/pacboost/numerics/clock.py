"""The vote of a rule and the time that it costs: the two equations of BrownBoost.

A row at height z = margin + time left costs erfc(z/√c) and weighs w = exp(-z²/c). A vote v and a
time t move it to z + v·a - t, where a is y·h(x). The mean cost shall stay the same, which makes t a
function of v with slope E_w[a], the edge that is left; and v shall be where that has come to 0, or
the time to its end. The slope of the edge itself is -(2/c)·E_w[z(a - edge)²], so both equations are
solved by Newton's steps, held between a vote that is too small and one that is too large.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.error_function import erfc
from pacboost.numerics.exact import VOTE_UNIT
from pacboost.numerics.same_bits import exp
from pacboost.numerics.same_bits import total as sum_of

Floats = NDArray[np.float64]

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
        """Give the heights after a vote that costs this time."""
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
        """Give the edge under the weights of these heights, and how it changes with the vote."""
        squares = np.square(heights)
        weights = self.masses * exp((squares.min() - squares) / self.total)
        weight = sum_of(weights)
        edge = sum_of(weights * self.right) / weight
        bent = sum_of(weights * heights * np.square(self.right - edge)) / weight
        return edge, -2 / self.total * bent

    def edge_after(self, vote: float, time: float) -> float:
        """Give the edge that is left."""
        return self._edge(self.moved(vote, time))[0]

    def solve(self) -> tuple[float, float]:
        """Give vote and time, up to rounding."""
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
    """Give the smallest wanted number if it lies between; else the middle, or twice ``low``."""
    first = min(wanted, default=math.inf)
    if low < first < high:
        return first
    return 2 * max(low, 0.5) if math.isinf(high) else (low + high) / 2
