"""Rising curves from one score to a probability: two numbers (sigmoid), or any steps (isotonic)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from pacboost.kernels.same_bits import sigmoid
from pacboost.numerics.same_bits import log_of, softplus, solved, total

MOST_STEPS = 100
"""Newton's method takes about ten; each of its steps is halved until the loss falls."""
PRECISION = 1e-12

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Pooled:
    """Rows with one entry for each distinct score, ascending."""

    scores: Doubles
    weights: Doubles
    positive: Doubles
    """The part of the weight that lies on rows of the class."""


def pool(scores: Doubles, positive: NDArray[np.bool_], weights: Doubles) -> Pooled:
    """Sum weights over equal scores; sorted by everything, so that no order of rows shows.

    >>> pool(np.array([2.0, 1.0, 2.0]), np.array([True, True, False]), np.ones(3)).positive
    array([1., 1.])
    """
    order = np.lexsort((weights, positive, scores))
    scores, weights = scores[order] + 0.0, weights[order]  # + 0.0 makes -0.0 a plain 0
    starts = np.flatnonzero(np.concatenate([[True], scores[1:] != scores[:-1]]))
    return Pooled(
        scores[starts],
        np.add.reduceat(weights, starts),
        np.add.reduceat(np.where(positive[order], weights, 0.0), starts),
    )


@dataclass(frozen=True)
class Sigmoid:
    """The curve 1 / (1 + exp(-(slope·score + offset))), with a slope of 0 or more."""

    slope: float
    offset: float

    def __post_init__(self) -> None:
        if not (np.isfinite([self.slope, self.offset]).all() and self.slope >= 0):
            raise ValueError(f"slope {self.slope} or offset {self.offset} of a rising sigmoid")

    def at(self, scores: Doubles) -> Doubles:
        """Return the height of the curve at each score."""
        with np.errstate(over="ignore"):  # an infinite exponent has a probability, 0 or 1
            return np.asarray(sigmoid(self.slope * scores + self.offset))

    def to_dict(self) -> dict[str, Any]:
        """Both numbers by name."""
        return {"slope": self.slope, "offset": self.offset}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Sigmoid:
        """Read what ``to_dict`` wrote."""
        return cls(float(content["slope"]), float(content["offset"]))

    @classmethod
    def fit(cls, rows: Pooled) -> Sigmoid:
        """Choose by Platt's method (Probabilistic outputs for support vector machines, 1999).

        That is slope and offset of least cross-entropy, with targets (n₁ + 1)/(n₁ + 2) for n₁ rows
        of the class and 1/(n₀ + 2) for n₀ others instead of 1 and 0. Where a falling curve would
        be best, the best curve that does not fall is level.

        >>> one_in_four = Pooled(np.array([0.0]), np.array([8.0]), np.array([2.0]))
        >>> Sigmoid.fit(one_in_four).at(np.array([0.0])).round(3)
        array([0.281])
        """
        wanted = _smoothed(rows)
        low, high = rows.scores[0], rows.scores[-1]
        centre, half = low / 2 + high / 2, high / 2 - low / 2
        mean = total(wanted) / total(rows.weights)
        level = log_of(mean / (1 - mean))
        if half < 1e-300:  # one score only, as far as doubles can tell
            return cls(0.0, level)
        u = (rows.scores - centre) / half  # in [-1, 1]
        if total((rows.weights * mean - wanted) * u) >= 0:  # the derivative at slope 0
            return cls(0.0, level)
        slope, offset = _newton(u, rows.weights, wanted, level)
        return cls(float(max(slope, 0.0) / half), float(offset - slope * (centre / half)))


@dataclass(frozen=True)
class Isotonic:
    """A curve through rising knots, straight between them and level outside."""

    knots: tuple[float, ...]
    heights: tuple[float, ...]

    def __post_init__(self) -> None:
        rising = (np.diff(self.knots) > 0).all() and (np.diff(self.heights) >= 0).all()
        inside = all(0 <= height <= 1 for height in self.heights)
        if not (self.knots and len(self.knots) == len(self.heights) and rising and inside):
            raise ValueError("knots and heights of a curve must rise, and be as many")

    def at(self, scores: Doubles) -> Doubles:
        """Return the height of the curve at each score."""
        knots, heights = np.array(self.knots), np.array(self.heights)
        slopes = np.append(np.diff(heights) / np.diff(knots), 0.0)
        x = np.clip(scores, knots[0], knots[-1])
        k = np.searchsorted(knots, x, side="right") - 1
        return np.asarray(np.clip(slopes[k] * (x - knots[k]) + heights[k], 0.0, 1.0))

    def to_dict(self) -> dict[str, Any]:
        """Both lists by name."""
        return {"knots": list(self.knots), "heights": list(self.heights)}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Isotonic:
        """Read what ``to_dict`` wrote."""
        return cls(tuple(map(float, content["knots"])), tuple(map(float, content["heights"])))

    @classmethod
    def fit(cls, rows: Pooled) -> Isotonic:
        """Choose the rising heights of least squares (Zadrozny and Elkan, 2002).

        >>> rows = Pooled(np.arange(4.0), np.ones(4), np.array([0.0, 1.0, 0.0, 1.0]))
        >>> Isotonic.fit(rows).heights
        (0.0, 0.5, 0.5, 1.0)
        """
        found = isotonic_regression(rows.positive / rows.weights, weights=rows.weights)
        heights = np.clip(found.x, 0.0, 1.0)
        level = np.concatenate([[False], np.diff(heights) == 0, [False]])
        ends = ~(level[:-1] & level[1:])  # inside a level stretch there is nothing to remember
        return cls(tuple(rows.scores[ends].tolist()), tuple(heights[ends].tolist()))


def _smoothed(rows: Pooled) -> Doubles:
    """Return the weight times the smoothed target of each distinct score."""
    ones, zeros = rows.positive, rows.weights - rows.positive
    high, low = (total(ones) + 1) / (total(ones) + 2), 1 / (total(zeros) + 2)
    wanted: Doubles = ones * high + zeros * low
    return wanted


def _newton(u: Doubles, mass: Doubles, wanted: Doubles, level: float) -> tuple[float, float]:
    """Minimise Σ mass · ln(1 + exp z) - wanted · z, where z = slope·u + offset.

    ``wanted`` lies strictly between 0 and ``mass``, so the loss is convex and has a minimum.
    """

    def loss(slope: float, offset: float) -> float:
        z = slope * u + offset
        return total(mass * softplus(z) - wanted * z)

    slope, offset, now = 0.0, level, loss(0.0, level)
    enough = PRECISION * total(mass)
    for _ in range(MOST_STEPS):
        p = sigmoid(slope * u + offset)
        pull, bend = mass * p - wanted, mass * p * (1 - p)
        gradient = np.array([total(pull * u), total(pull)])
        if np.abs(gradient).max() <= enough:
            break
        mixed = total(bend * u)
        hessian = np.array([[total(bend * u * u), mixed], [mixed, total(bend)]])
        step = solved(hessian + enough * np.eye(2), gradient[:, None])[:, 0]
        size = 1.0
        while size > PRECISION:
            after = loss(slope - size * step[0], offset - size * step[1])
            if after <= now - 1e-4 * size * total(gradient * step):
                break
            size /= 2
        else:  # the loss is as low as doubles can tell
            break
        slope, offset, now = slope - size * step[0], offset - size * step[1], after
    return slope, offset
