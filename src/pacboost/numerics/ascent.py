"""Newton's method for the votes whose weights are as even as their edges allow.

With the capped entropic minimum G (capped_entropy.py) and a matrix A of the agreement of each rule
with each kind of rows, two problems of totally corrective boosters are the same maximisation:

    entropy regularised:   max G(η·Aw)/η              over votes w ≥ 0 with Σw = 1
    entropy projection:    max G(Ax) - target·Σx      over x ≥ 0,  the dual of
                           min KL(d ‖ base)           over d that give no rule an edge > target

The gradient of G(Ax) is the edge of every rule under d, and minus the second derivative their
covariance over the uncapped rows. A step goes to the maximum of the quadratic model, or to the
part of the way that improves the objective.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics import same_bits
from pacboost.numerics.capped_entropy import Evenest, evenest
from pacboost.numerics.soft_margin import (
    Columns,
    Floats,
    edges_of,
    margins_of,
    products_of,
    soft_margin,
    whole_votes,
)

Enough = Callable[[Floats, Floats, float], bool]
BestStep = Callable[[Floats, Floats, Floats, float | None], Floats]

MAX_STEPS = 60
STEP_SHARES = 0.5 ** np.arange(30)
MAX_LOG_STEP = 4.0
"""Maximum change of the logarithm of a weight in one step, unless x is already larger."""
STRENGTH_SHARES = 4.0 ** np.arange(-4, 1)
"""Shares of the requested strength that are tried in turn if the climb at full strength ends early:
at a low strength the quadratic model is accurate over a larger region."""
MIN_GAIN_SHARE = 1e-4
"""Minimum gain of a step, as a share of the gain that the slope predicts."""


def best_votes(H: Floats, f: Floats, start: Floats, total: float | None = None) -> Floats:
    """Minimise ½ z·Hz - f·z over z ≥ 0, with Σz = ``total`` unless it is None.

    H must be positive definite and ``start`` feasible. This is an active-set method: move to the
    best z over the active votes; drop a vote that would turn negative on the way; at the best z,
    activate the vote with the steepest descent.
    """
    z, active = start.copy(), start > 0
    slack = 1e-12 * max(1.0, float(np.abs(f).max()))
    for _ in range(10 * z.size + 10):
        price = 0.0
        if active.any():
            goal, price = _unbounded(H, f, np.flatnonzero(active), total)
            falling = goal < 0
            if falling.any():
                fractions = np.full(z.size, np.inf)
                fractions[falling] = z[falling] / (z[falling] - goal[falling])
                z = np.maximum(z + float(fractions.min()) * (goal - z), 0.0)
                active &= fractions > fractions.min()
                z[~active] = 0.0
                continue
            z = goal
        descent = np.where(active, -np.inf, f - same_bits.product(H, z) - price)
        best = int(descent.argmax())
        if descent[best] <= slack:
            break
        active[best] = True
    return z


def quick_step(H: Floats, slope: Floats, x: Floats, total: float | None) -> Floats:
    """Return the step from x to the minimum of the quadratic model with this slope at x."""
    return best_votes(H, slope + same_bits.product(H, x), x, total) - x


def refined_step(H: Floats, slope: Floats, x: Floats, total: float | None) -> Floats:
    """Return ``quick_step``, solved a second time for the step itself over the active votes.

    If votes are much larger than the step, the difference of two votes loses the digits of the
    step.

    >>> refined_step(np.eye(2), np.array([1e-9, 0.0]), np.array([1e6, 1e6]), 2e6).tolist()
    [5e-10, -5e-10]
    """
    step = quick_step(H, slope, x, total)
    inside = x + step > 0
    out = np.where(inside, 0.0, -x)
    moved = None if total is None else -same_bits.total(out)
    refined = (
        out + _unbounded(H, slope - same_bits.product(H, out), np.flatnonzero(inside), moved)[0]
    )
    return refined if (x + refined >= 0).all() else step


def _unbounded(
    H: Floats, f: Floats, rows: NDArray[np.intp], total: float | None
) -> tuple[Floats, float]:
    """Return the best active votes, negative or not, and the multiplier of the sum."""
    sides = np.stack([f[rows], np.ones(rows.size)], axis=1)
    free, unit = same_bits.solved(H[np.ix_(rows, rows)], sides).T
    price = 0.0 if total is None else (same_bits.total(free) - total) / same_bits.total(unit)
    goal = np.zeros(f.size)
    goal[rows] = free - price * unit
    return goal, price


@dataclass(frozen=True, eq=False)
class Climb:
    """A maximisation over votes for fixed rules, rows, cap and accuracy."""

    columns: Columns
    base: Floats
    share: float
    accuracy: float

    def at(self, votes: Floats, strength: float, level: float = math.nan) -> Evenest:
        """Return the row weights for votes of sum 1, multiplied by a strength."""
        heights = strength * margins_of(self.columns, votes)
        return evenest(heights, self.base, self.share, level)

    def soft_margin(self, votes: Floats) -> float:
        """Return the soft margin of votes of sum 1."""
        return soft_margin(margins_of(self.columns, votes)[:, None], self.base, self.share)

    def regularised(self, votes: Floats, strength: float) -> Floats:
        """Return the votes of sum 1 that are best at a strength η, from any start."""

        def enough(edges: Floats, votes: Floats, strength: float) -> bool:
            return float(edges.max()) - same_bits.total(edges * votes) <= self.accuracy

        best = self._climb(votes, strength, 0.0, strength, enough)[0]
        edges = edges_of(self.columns, self.at(best, strength).weights)
        if enough(edges, best, strength):
            return best
        for lower_strength in strength * STRENGTH_SHARES:
            best = self._climb(best, lower_strength, 0.0, lower_strength, enough, refined_step)[0]
        return best

    def projected(self, votes: Floats, strength: float, target: float) -> tuple[Floats, float]:
        """Return x as votes of sum 1 and a strength, or votes that prove there is no solution.

        There is none if a vote has a soft margin above the target: under any weights, one of
        its rules then has an edge of at least that. Margin maximisers look for such a vote.
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
        """Maximise G(Ax) - target·Σx from x = strength·votes, with Σx free or ``total``."""
        here = self.at(votes, strength)
        for _ in range(MAX_STEPS):
            edges = edges_of(self.columns, here.weights)
            if enough(edges, votes, strength):
                break
            price = target if total is None else same_bits.total(edges * votes)
            x, slope, step = strength * votes, edges - target, np.zeros(votes.size)
            active = np.flatnonzero((x > 0) | (edges > price))
            H = self._covariance(active, here)
            step[active] = best_step(H, slope[active], x[active], total)
            if total is None:  # the model is inaccurate far away, and weights vanish there
                step *= min(
                    1.0, max(MAX_LOG_STEP, strength) / max(same_bits.total(np.abs(step)), 1e-9)
                )
            value, gain = here.value - target * strength, same_bits.total(slope * step)
            for part in STEP_SHARES:
                tried = x + part * step
                length = same_bits.total(tried)
                direction = whole_votes(tried / length) if length > 0 else votes
                length = length if total is None else total
                there = self.at(direction, length, here.level)
                if there.value - target * length >= value + MIN_GAIN_SHARE * part * gain:
                    break
            else:
                break  # the remaining gain is below the precision of doubles
            votes, strength, here = direction, length, there
        return votes, strength

    def _covariance(self, active: NDArray[np.intp], here: Evenest) -> Floats:
        """Return the covariance of the active rules over uncapped rows, with a small ridge."""
        weights = np.where(here.free, here.weights, 0.0)
        columns = self.columns[active]
        means = edges_of(columns, weights)
        H = products_of(columns, weights)
        H -= np.outer(means, means) / max(same_bits.total(weights), 1e-300)
        H[np.diag_indices_from(H)] += 1e-9 * max(1e-3, same_bits.total(np.diagonal(H)) / len(H))
        return H
