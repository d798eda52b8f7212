"""Points in the plane for demonstrations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from pacboost.errors import invalid
from pacboost.numerics.checks import positive_whole
from pacboost.theory.world_oracle import Rows, Seed, Signs, WorldOracle
from pacboost.theory.worlds import check_noise
from pacboost.theory.worlds import signs as as_signs

Place = Callable[[NDArray[np.bool_], Rows, Rows], tuple[Rows, Rows]]
cos, sin = np.vectorize(math.cos), np.vectorize(math.sin)  # NumPy's depend on the processor
TURNS = 1.5
"""Number of turns of a spiral."""
STRIPES = 6


def _xor(positive: NDArray[np.bool_], u: Rows, v: Rows) -> tuple[Rows, Rows]:
    x, height = 2 * u - 1, np.abs(2 * v - 1)
    return x, np.where(positive == (x > 0), height, -height)


def _moons(positive: NDArray[np.bool_], u: Rows, v: Rows) -> tuple[Rows, Rows]:
    angle = np.pi * u
    upper, lower = (cos(angle), sin(angle)), (1 - cos(angle), 0.5 - sin(angle))
    return np.where(positive, upper[0], lower[0]), np.where(positive, upper[1], lower[1])


def _rings(positive: NDArray[np.bool_], u: Rows, v: Rows) -> tuple[Rows, Rows]:
    inner, outer = 0.55 * np.sqrt(v), np.sqrt(0.75**2 + (1.1**2 - 0.75**2) * v)
    radius, angle = np.where(positive, inner, outer), 2 * np.pi * u
    return radius * cos(angle), radius * sin(angle)


def _spirals(positive: NDArray[np.bool_], u: Rows, v: Rows) -> tuple[Rows, Rows]:
    radius = 0.1 + 0.9 * np.sqrt(u)
    angle = 2 * np.pi * TURNS * radius + np.where(positive, 0.0, np.pi)
    return radius * cos(angle), radius * sin(angle)


def _stripes(positive: NDArray[np.bool_], u: Rows, v: Rows) -> tuple[Rows, Rows]:
    stripe = 2 * np.floor(u * (STRIPES / 2)) + np.where(positive, 0, 1)
    return (stripe + u * (STRIPES / 2) % 1) / STRIPES * 2 - 1, 2 * v - 1


def _gaussians(positive: NDArray[np.bool_], u: Rows, v: Rows) -> tuple[Rows, Rows]:
    centre = np.where(positive, 0.7, -0.7)
    return centre, centre


SHAPES: dict[str, tuple[Place, float]] = {
    "xor": (_xor, 0.05),
    "moons": (_moons, 0.15),
    "rings": (_rings, 0.05),
    "spirals": (_spirals, 0.03),
    "stripes": (_stripes, 0.02),
    "gaussians": (_gaussians, 0.8),
}
"""Each shape with its default spread."""


@dataclass(frozen=True)
class Plane:
    """Two classes of points of a shape: xor, moons, rings, spirals, stripes or gaussians.

    A class is drawn first, then a place on its shape, then a Gaussian step away from it, so the
    classes may overlap. ``spread`` is the standard deviation of the steps, None for the default of
    the shape. ``share`` is the chance of +1, and ``noise`` the chance that a label is flipped
    afterwards.

    >>> X, y = Plane("moons").draw(200, seed=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((200, 2), [-1, 1])
    """

    shape: str
    noise: float = 0.0
    share: float = 0.5
    spread: float | None = None

    features = 2

    def as_oracle(self, seed: int = 0, **options: Any) -> WorldOracle:
        return WorldOracle(self, seed, **options)

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            raise invalid("shape", self.shape, f"may be {', '.join(SHAPES)}")
        check_noise("noise", self.noise)
        if not 0 < self.share < 1:
            raise invalid("share", self.share, "is the share of +1, and must be between 0 and 1")
        if self.spread is not None and not 0 <= self.spread <= 10:
            raise invalid("spread", self.spread, "may be 0 to 10")

    def draw(self, n: int, seed: Seed) -> tuple[Rows, Signs]:
        return self.draw_marked(n, seed)[:2]

    def draw_marked(self, n: int, seed: Seed) -> tuple[Rows, Signs, NDArray[np.bool_]]:
        """Draw points and labels, and return which labels were flipped.

        >>> X, y, flipped = Plane("xor", noise=0.2).draw_marked(500, seed=0)
        >>> bool((Plane("xor").draw(500, seed=0)[1] == np.where(flipped, -y, y)).all())
        True
        """
        shape, default_spread = SHAPES[self.shape]
        # six numbers a row whatever the shape, so that noise and spread change the same points
        uniforms = np.random.default_rng(seed).random((positive_whole("n", n), 6))
        positive = uniforms[:, 0] < self.share
        places = np.stack(shape(positive, uniforms[:, 1], uniforms[:, 2]), axis=1)
        steps = ndtri(np.maximum(uniforms[:, 3:5], 2.0**-54))  # the quantile of 0 is infinite
        X = places + (default_spread if self.spread is None else self.spread) * steps
        flipped = uniforms[:, 5] < self.noise
        return X, as_signs(positive != flipped), flipped
