"""A small quadratic program over votes that are not negative and may have a fixed sum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics import same_bits
from pacboost.numerics.soft_margin import Floats

BestStep = Callable[[Floats, Floats, Floats, float | None], Floats]


def best_votes(H: Floats, f: Floats, start: Floats, total: float | None = None) -> Floats:
    """Minimise ½ z·Hz - f·z over z ≥ 0, with Σz = ``total`` unless it is None.

    H must be positive definite and ``start`` feasible. This is an active-set method: move to the
    best z over the active votes; drop a vote that would turn negative on the way; at the best z,
    activate the vote with the steepest descent. Every stop is lower than the last, so the method
    ends.
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
