"""Worlds on the unit cube, where every risk is a volume: boxes and intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.sources.worlds.base import Predict, Risk, Rows, Signs, World, mistaken, signs

Ends = Sequence[float] | NDArray[np.float64]


class UnitCube(World):
    """Rows uniform on the unit cube; the true sign changes only where a feature passes a cut."""

    cuts: tuple[tuple[float, ...], ...]

    def points(self, uniforms: Rows) -> Rows:
        """They are uniform already."""
        return uniforms

    def piecewise_risk(self, predict: Predict, cuts: Sequence[Sequence[float]]) -> Risk:
        """Give the exact risk of a hypothesis whose answer changes only at these cuts.

        There is one list of cuts per feature. The cube falls into cells, and each is asked once.
        """
        edges = [
            np.unique(np.clip([0.0, 1.0, *own, *given], 0, 1))
            for own, given in zip(self.cuts, cuts, strict=True)
        ]
        middles = np.meshgrid(*[(e[1:] + e[:-1]) / 2 for e in edges], indexing="ij")
        widths = np.meshgrid(*[np.diff(e) for e in edges], indexing="ij")
        volumes = np.prod(widths, axis=0).ravel()
        X = np.stack([m.ravel() for m in middles], axis=1)
        return Risk(math.fsum(volumes[mistaken(self, predict, X)]))


@dataclass(frozen=True)
class Boxes(UnitCube):
    """+1 inside an axis-parallel box, sides included.

    >>> world = Boxes((0.0, 0.0), (0.5, 0.5))
    >>> world.box_risk((0.0, 0.0), (0.5, 0.25))
    0.125
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.lower) != len(self.upper) or not self.lower:
            raise ParameterError(
                f"lower has {len(self.lower)} ends, upper {len(self.upper)}; a box needs one of "
                "each per feature"
            )

    @property
    def features(self) -> int:  # type: ignore[override]
        """One per side."""
        return len(self.lower)

    @property
    def cuts(self) -> tuple[tuple[float, ...], ...]:  # type: ignore[override]
        """The sides of the box."""
        return tuple(zip(self.lower, self.upper, strict=True))

    def truth(self, X: Rows) -> Signs:
        """Give +1 inside."""
        within = (np.array(self.lower) <= X) & (np.array(self.upper) >= X)
        return signs(np.all(within, axis=1))

    def box_risk(self, lower: Ends, upper: Ends) -> Risk:
        """Give the exact risk of another box: the volume of what lies in one but not both."""
        both = _volume(np.maximum(self.lower, lower), np.minimum(self.upper, upper))
        one, other = _volume(self.lower, self.upper), _volume(lower, upper)
        return Risk(max(0.0, one + other - 2 * both))


@dataclass(frozen=True)
class Intervals(UnitCube):
    """One feature, uniform on [0, 1]; +1 inside one of these intervals, ends included.

    >>> world = Intervals(((0.25, 0.5),))
    >>> world.interval_risk(0.25, 0.375), world.threshold_risk(0.25)
    (0.125, 0.5)
    """

    ends: tuple[tuple[float, float], ...]
    features = 1

    @property
    def cuts(self) -> tuple[tuple[float, ...], ...]:  # type: ignore[override]
        """All ends."""
        return (tuple(end for pair in self.ends for end in pair),)

    def truth(self, X: Rows) -> Signs:
        """Give +1 inside."""
        inside = np.zeros(len(X), dtype=np.bool_)
        for low, high in self.ends:
            inside |= (X[:, 0] >= low) & (X[:, 0] <= high)
        return signs(inside)

    def interval_risk(self, low: float, high: float) -> Risk:
        """Give the exact risk of another interval."""
        return self.piecewise_risk(Intervals(((low, high),)).truth, [(low, high)])

    def threshold_risk(self, cut: float, above: int = 1) -> Risk:
        """Give the exact risk of answering ``above`` over the cut, ``-above`` up to it."""
        return self.piecewise_risk(lambda X: np.where(X[:, 0] > cut, above, -above), [(cut,)])


def _volume(lower: Ends, upper: Ends) -> float:
    sides = np.clip(upper, 0, 1) - np.clip(lower, 0, 1)
    return float(np.prod(np.maximum(sides, 0)))
