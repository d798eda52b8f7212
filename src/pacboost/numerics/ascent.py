"""Newton's method for the votes whose weights are as even as their edges allow.

With the capped entropic G below and a matrix A of what each rule is to each kind
of rows, two problems of totally corrective boosters are the same climb:

    entropy regularised:   max G(η·Aw)/η              over votes w ≥ 0 with Σw = 1
    entropy projection:    max G(Ax) - target·Σx      over x ≥ 0,  the dual of
                           min KL(d ‖ base)           over d that give no rule an edge > target

The gradient of G(Ax) is the edge of every rule under d, and minus the second derivative their
covariance over the rows that no cap holds. A step goes to the best of the quadratic
model, or part of the way, as far as that gains.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.same_bits import exp, log_of, product, solved
from pacboost.numerics.same_bits import total as sum_of
from pacboost.numerics.soft_margin import (
    Columns,
    Floats,
    edges_of,
    margins_of,
    products_of,
    soft_margin,
    whole_votes,
    whole_weights,
)

# Weights as even as they can be: the capped entropic minimum, and its gradient.
#
# Over weights d that sum to 1 with d ≤ base/share (no cap if the share is 0),
#
#     G(m) = min over d of  d·m + KL(d ‖ base)
#
# is met by d = base·min(1/share, exp(c - m)) with the one c at which they sum to 1. d is also the
# gradient of G, which is concave. For margins m = η·(votes' margins), G(m)/η is the soft margin of
# the vote, smoothed: no less, and more by at most ln(1/share)/η (Warmuth, Glocer and Vishwanathan
# 2008).


@dataclass(frozen=True, eq=False)
class Evenest:
    """Where the minimum lies."""

    value: float
    weights: Floats
    """d, rounded to multiples of 2^-52."""
    free: NDArray[np.bool_]
    """Where no cap holds d."""
    level: float
    """c."""


def evenest(heights: Floats, base: Floats, share: float, level: float = math.nan) -> Evenest:
    """Find d for base weights that sum to 1; a ``level`` from nearby makes it faster."""
    low, high = float(heights.min()), float(heights.max())
    if share <= 0:
        raised = base * exp(low - heights)
        mass = sum_of(raised)
        level = low - log_of(mass)
        free = np.ones(heights.size, dtype=np.bool_)
        return Evenest(level, whole_weights(raised / mass), free, level)
    most = log_of(1 / share)
    if not low <= level <= high:
        level = low
    while True:
        # In exp(c) the sum is concave and made of straight pieces: from the left, Newton's steps
        # stay on the left and meet each piece at most once. From the right they are held by the
        # bracket.
        free = level - heights < most
        raised = base * exp(np.minimum(level - heights, most))
        capped = sum_of(base[~free]) / share
        rest = sum_of(raised[free])
        if capped + rest <= 1:
            low = level
        else:
            high = level
        step = log_of((1 - capped) / rest) if capped < 1 and rest > 0 else math.nan
        if abs(step) <= 1e-14 * max(1.0, abs(level)) or high - low <= 1e-15 * max(1.0, abs(high)):
            break
        level = level + step if low < level + step < high else (low + high) / 2
    scale = max(1 - capped, 0.0) / rest if rest > 0 else 1.0  # what rounding has left of 1
    weights = np.where(free, np.minimum(scale * raised, base / share), base / share)
    value = level * sum_of(weights[free]) + sum_of((weights * (heights + most))[~free])
    return Evenest(value, whole_weights(weights), free, level)


# A small quadratic program over votes: none negative, perhaps with a given sum.

BestStep = Callable[[Floats, Floats, Floats, float | None], Floats]


def best_votes(H: Floats, f: Floats, start: Floats, total: float | None = None) -> Floats:
    """Minimise ½ z·Hz - f·z over z ≥ 0, with Σz = ``total`` if that is given.

    H has to be positive definite, and ``start`` allowed. An active set: go to the best z on the
    votes that are in play; one that would turn negative on the way leaves; and at the best, the
    vote that promises most comes into play. Every stop is lower than the last, so none comes twice.
    """
    z, play = start.copy(), start > 0
    slack = 1e-12 * max(1.0, float(np.abs(f).max()))
    for _ in range(10 * z.size + 10):
        price = 0.0
        if play.any():
            goal, price = _unbounded(H, f, np.flatnonzero(play), total)
            falling = goal < 0
            if falling.any():
                ways = np.full(z.size, np.inf)
                ways[falling] = z[falling] / (z[falling] - goal[falling])
                z = np.maximum(z + float(ways.min()) * (goal - z), 0.0)
                play &= ways > ways.min()
                z[~play] = 0.0
                continue
            z = goal
        promise = np.where(play, -np.inf, f - product(H, z) - price)
        best = int(promise.argmax())
        if promise[best] <= slack:
            break
        play[best] = True
    return z


def quick_step(H: Floats, slope: Floats, x: Floats, total: float | None) -> Floats:
    """Return the step from x to the best votes of a model with this slope at x."""
    return best_votes(H, slope + product(H, x), x, total) - x


def refined_step(H: Floats, slope: Floats, x: Floats, total: float | None) -> Floats:
    """Return that step, solved for once more with the votes in play known.

    Where votes are large beside the step, the difference of two votes has lost the digits that
    the step is made of.

    >>> refined_step(np.eye(2), np.array([1e-9, 0.0]), np.array([1e6, 1e6]), 2e6).tolist()
    [5e-10, -5e-10]
    """
    step = quick_step(H, slope, x, total)
    inside = x + step > 0
    out = np.where(inside, 0.0, -x)
    moved = None if total is None else -sum_of(out)
    refined = out + _unbounded(H, slope - product(H, out), np.flatnonzero(inside), moved)[0]
    return refined if (x + refined >= 0).all() else step


def _unbounded(
    H: Floats, f: Floats, rows: NDArray[np.intp], total: float | None
) -> tuple[Floats, float]:
    """The best votes of those in play, negative or not, and the price of the sum."""
    sides = np.stack([f[rows], np.ones(rows.size)], axis=1)
    free, unit = solved(H[np.ix_(rows, rows)], sides).T
    price = 0.0 if total is None else (sum_of(free) - total) / sum_of(unit)
    goal = np.zeros(f.size)
    goal[rows] = free - price * unit
    return goal, price


Enough = Callable[[Floats, Floats, float], bool]

MOST_STEPS = 60
HALVES = 0.5 ** np.arange(30)
LONGEST_STEP = 4.0
"""By how much the logarithm of a weight may change at once, unless x has grown beyond that."""
GENTLER = 4.0 ** np.arange(-4, 1)
"""Where steps at the strength that was asked for end too early, the climb takes these parts of it
one after the other: at a low strength the quadratic model is true far around."""
LEAST_GAIN = 1e-4
"""A step must bring this part of the gain that the slope predicts."""


@dataclass(frozen=True, eq=False)
class Climb:
    """What stays the same on the way: rules, rows, the cap, and how exact to be."""

    columns: Columns
    base: Floats
    share: float
    accuracy: float

    def at(self, votes: Floats, strength: float, level: float = math.nan) -> Evenest:
        """Weigh the rows for votes of sum 1, multiplied by a strength."""
        heights = strength * margins_of(self.columns, votes)
        return evenest(heights, self.base, self.share, level)

    def soft_margin(self, votes: Floats) -> float:
        """Return the soft margin of votes of sum 1."""
        return soft_margin(margins_of(self.columns, votes)[:, None], self.base, self.share)

    def regularised(self, votes: Floats, strength: float) -> Floats:
        """Return the votes of sum 1 that are best at a strength η, from any start."""

        def enough(edges: Floats, votes: Floats, strength: float) -> bool:
            return float(edges.max()) - sum_of(edges * votes) <= self.accuracy

        found = self._climb(votes, strength, 0.0, strength, enough)[0]
        edges = edges_of(self.columns, self.at(found, strength).weights)
        if enough(edges, found, strength):
            return found
        for gentler in strength * GENTLER:
            found = self._climb(found, gentler, 0.0, gentler, enough, refined_step)[0]
        return found

    def projected(self, votes: Floats, strength: float, target: float) -> tuple[Floats, float]:
        """Return x as votes of sum 1 and a strength; or votes which show that there is none.

        There is none where a vote has a soft margin above the target: under any weights, one of
        its rules has an edge of at least that. Such a vote is what margin maximisers look for.
        """

        def enough(edges: Floats, votes: Floats, strength: float) -> bool:
            if self.soft_margin(votes) >= target:
                return True
            over = edges - target
            return float(np.where(strength * votes > 0, np.abs(over), over).max()) <= self.accuracy

        return self._climb(votes, strength, target, None, enough)

    def _climb(
        self,
        votes: Floats,
        strength: float,
        target: float,
        total: float | None,
        enough: Enough,
        best_step: BestStep = quick_step,
    ) -> tuple[Floats, float]:
        """Climb G(Ax) - target·Σx from x = strength·votes, Σx being free or given."""
        here = self.at(votes, strength)
        for _ in range(MOST_STEPS):
            edges = edges_of(self.columns, here.weights)
            if enough(edges, votes, strength):
                break
            price = target if total is None else sum_of(edges * votes)
            x, slope, step = strength * votes, edges - target, np.zeros(votes.size)
            play = np.flatnonzero((x > 0) | (edges > price))
            H = self._covariance(play, here)
            step[play] = best_step(H, slope[play], x[play], total)
            if total is None:  # far away the model knows nothing, and weights vanish
                step *= min(1.0, max(LONGEST_STEP, strength) / max(sum_of(np.abs(step)), 1e-9))
            value, gain = here.value - target * strength, sum_of(slope * step)
            for part in HALVES:
                tried = x + part * step
                length = sum_of(tried)
                direction = whole_votes(tried / length) if length > 0 else votes
                length = length if total is None else total
                there = self.at(direction, length, here.level)
                if there.value - target * length >= value + LEAST_GAIN * part * gain:
                    break
            else:
                break  # what is left to gain is below the precision of doubles
            votes, strength, here = direction, length, there
        return votes, strength

    def _covariance(self, play: NDArray[np.intp], here: Evenest) -> Floats:
        """Of every two rules in play, over the rows that no cap holds; a little more."""
        weights = np.where(here.free, here.weights, 0.0)
        columns = self.columns[play]
        means = edges_of(columns, weights)
        H = products_of(columns, weights)
        H -= np.outer(means, means) / max(sum_of(weights), 1e-300)
        H[np.diag_indices_from(H)] += 1e-9 * max(1e-3, sum_of(np.diagonal(H)) / len(H))
        return H
