"""A small quadratic program over votes: none negative, perhaps with a given sum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.same_bits import product
from pacboost.numerics.same_bits import total as sum_of
from pacboost.numerics.triangles import solved
from pacboost.numerics.whole_products import Floats

BestStep = Callable[[Floats, Floats, Floats, float | None], Floats]


def best_votes(H: Floats, f: Floats, start: Floats, total: float | None = None) -> Floats:
    """Minimise ½ z·Hz - f·z over z ≥ 0, with Σz = ``total`` if that is given.

    H has to be positive definite, and ``start`` allowed. An active set: go to the best z on the
    votes that are in play; one that would turn negative on the way leaves; and at the best, the
    vote that promises most comes into play. Every stop is lower than the last, so none comes twice.

    >>> best_votes(np.eye(3), np.array([1.0, 0.5, -2.0]), np.array([0.0, 0.0, 1.0]), 1.0).tolist()
    [0.75, 0.25, 0.0]
    >>> best_votes(np.eye(2), np.array([1.0, -2.0]), np.zeros(2)).tolist()
    [1.0, 0.0]
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
    """Give the step from x to the best votes of a model with this slope at x."""
    return best_votes(H, slope + product(H, x), x, total) - x


def refined_step(H: Floats, slope: Floats, x: Floats, total: float | None) -> Floats:
    """Give that step, solved for once more with the votes in play known.

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
