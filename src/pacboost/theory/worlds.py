"""Worlds: distributions whose labels and risks are known."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, ndtri

from pacboost.errors import DataError, ParameterError, invalid
from pacboost.numerics.exact import wrong_margins
from pacboost.numerics.same_bits import product
from pacboost.theory.world_oracle import Rows, Seed, Signs, WorldOracle

Predict = Callable[[Rows], NDArray[Any]]


class Risk(float):
    """A true risk; ``standard_error`` is 0 when it is exact."""

    standard_error: float

    def __new__(cls, value: float, standard_error: float = 0.0) -> Risk:
        risk = super().__new__(cls, value)
        risk.standard_error = standard_error
        return risk


class World(ABC):
    """Rows drawn independently, each with its true sign, perhaps flipped by noise."""

    features: int
    noise: float = 0.0
    """The chance that a label is flipped, the same for every row."""

    def as_oracle(self, seed: int = 0, **options: Any) -> WorldOracle:
        return WorldOracle(self, seed, **options)

    @abstractmethod
    def points(self, uniforms: Rows) -> Rows:
        """Turn numbers uniform on [0, 1), one per feature and row, into rows."""

    @abstractmethod
    def truth(self, X: Rows) -> Signs:
        """Return the signs without noise."""

    def draw(self, n: int, seed: Seed) -> tuple[Rows, Signs]:
        """Draw n examples; a generator continues after its last draw."""
        noisy = self.noise > 0
        uniforms = np.random.default_rng(seed).random((n, self.features + noisy))
        X = self.points(uniforms[:, : self.features])
        y = self.truth(X)
        return X, np.where(uniforms[:, -1] < self.noise, -y, y) if noisy else y

    @property
    def bayes_risk(self) -> float:
        """The smallest possible risk of a hypothesis."""
        return min(self.noise, 1 - self.noise)

    def noisy_risk(self, clean: float) -> Risk:
        """Return the risk of a hypothesis that would have the risk ``clean`` without noise."""
        error = getattr(clean, "standard_error", 0.0)
        slope = 1 - 2 * self.noise
        # a flip turns a right answer into a wrong one and back: r(1 - η) + (1 - r)η
        return Risk(self.noise + slope * clean, abs(slope) * error)

    def risk(self, predict: Predict, draws: int = 2**20, seed: Seed = 0) -> Risk:
        """Return P[predict(x) is not y]; an answer above 0 means +1, below 0 means -1, 0 is wrong.

        It is exact if the domain is finite, and else estimated from ``draws`` rows. Worlds have
        methods such as ``box_risk`` for the exact risk of hypotheses of the same kind.
        """
        return self.noisy_risk(self._disagreement(predict, draws, seed))

    def _disagreement(self, predict: Predict, draws: int, seed: Seed) -> Risk:
        generator = np.random.default_rng(seed)
        wrong = 0
        for first in range(0, draws, 2**16):
            uniforms = generator.random((min(2**16, draws - first), self.features))
            wrong += int(mistaken(self, predict, self.points(uniforms)).sum())
        share = wrong / draws
        # Moved towards 1/2, because a sample without mistakes does not prove a risk of 0.
        spread = (wrong + 1) / (draws + 2)
        return Risk(share, math.sqrt(spread * (1 - spread) / draws))


def mistaken(world: World, predict: Predict, X: Rows) -> NDArray[np.bool_]:
    """Mark the rows on which the hypothesis disagrees with the truth, or gives no answer."""
    answers = np.asarray(predict(X))
    if answers.shape != (len(X),):
        raise DataError(
            f"predict returned shape {answers.shape} for {len(X)} rows; it must return one number "
            "per row, positive for +1"
        )
    return wrong_margins(answers * world.truth(X))


def signs(positive: NDArray[np.bool_]) -> Signs:
    """Turn true and false into +1 and -1."""
    return np.where(positive, np.int8(1), np.int8(-1))


def check_noise(name: str, rate: float) -> None:
    """Check a chance of flipping labels."""
    if not 0 <= rate <= 0.5:
        raise invalid(name, rate, "is the chance to flip a label, and must be from 0 to 1/2")


Ends = Sequence[float] | NDArray[np.float64]


class UnitCube(World):
    """Rows uniform on the unit cube, where risks are volumes; the sign changes only at cuts."""

    cuts: tuple[tuple[float, ...], ...]

    def points(self, uniforms: Rows) -> Rows:
        return uniforms

    def piecewise_risk(self, predict: Predict, cuts: Sequence[Sequence[float]]) -> Risk:
        """Return the exact risk of a hypothesis whose answer changes only at these cuts.

        There is one list of cuts per feature. They divide the cube into cells, and the hypothesis
        is evaluated once in each.
        """
        edges = [
            np.unique(np.clip([0.0, 1.0, *true_cuts, *other_cuts], 0, 1))
            for true_cuts, other_cuts in zip(self.cuts, cuts, strict=True)
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
        return len(self.lower)

    @property
    def cuts(self) -> tuple[tuple[float, ...], ...]:  # type: ignore[override]
        return tuple(zip(self.lower, self.upper, strict=True))

    def truth(self, X: Rows) -> Signs:
        within = (np.array(self.lower) <= X) & (np.array(self.upper) >= X)
        return signs(np.all(within, axis=1))

    def box_risk(self, lower: Ends, upper: Ends) -> Risk:
        """Return the exact risk of another box: the volume of what lies in one but not both."""
        both = _volume(np.maximum(self.lower, lower), np.minimum(self.upper, upper))
        one, other = _volume(self.lower, self.upper), _volume(lower, upper)
        return Risk(max(0.0, one + other - 2 * both))


def _volume(lower: Ends, upper: Ends) -> float:
    sides = np.clip(upper, 0, 1) - np.clip(lower, 0, 1)
    return float(np.prod(np.maximum(sides, 0)))


@dataclass(frozen=True)
class Intervals(UnitCube):
    """One feature, uniform on [0, 1]; +1 inside one of these intervals, ends included.

    >>> world = Intervals(((0.25, 0.5),))
    >>> world.interval_risk(0.25, 0.375)
    0.125
    """

    ends: tuple[tuple[float, float], ...]
    features = 1

    @property
    def cuts(self) -> tuple[tuple[float, ...], ...]:  # type: ignore[override]
        return (tuple(end for pair in self.ends for end in pair),)

    def truth(self, X: Rows) -> Signs:
        inside = np.zeros(len(X), dtype=np.bool_)
        for low, high in self.ends:
            inside |= (X[:, 0] >= low) & (X[:, 0] <= high)
        return signs(inside)

    def interval_risk(self, low: float, high: float) -> Risk:
        return self.piecewise_risk(Intervals(((low, high),)).truth, [(low, high)])


class Gaussian(World):
    """Independent standard Gaussian features."""

    def points(self, uniforms: Rows) -> Rows:
        # A uniform number may be 0, whose quantile is infinite.
        return np.asarray(ndtri(np.maximum(uniforms, 2.0**-54)), dtype=np.float64)


@dataclass(frozen=True)
class Halfspaces(Gaussian):
    """Independent standard Gaussian features; +1 where weights·x + bias > 0."""

    weights: tuple[float, ...]
    bias: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < math.hypot(*self.weights) < math.inf:
            raise invalid("weights", tuple(self.weights), "must be finite and not all 0")

    @property
    def features(self) -> int:  # type: ignore[override]
        return len(self.weights)

    def truth(self, X: Rows) -> Signs:
        return signs(np.array(product(X, np.array(self.weights)) + self.bias > 0))


@dataclass(frozen=True)
class NoisyAdditive(Gaussian):
    """Independent standard Gaussian features; +1 where Σ part_j(x_j) > cut; labels flipped.

    Only the Bayes risk, which is the noise, is known in closed form.
    """

    parts: tuple[Callable[[Rows], Rows], ...]
    cut: float = 0.0
    noise: float = 0.0

    def __post_init__(self) -> None:
        check_noise("noise", self.noise)

    @property
    def features(self) -> int:  # type: ignore[override]
        return len(self.parts)

    def truth(self, X: Rows) -> Signs:
        score = sum(part(X[:, j]) for j, part in enumerate(self.parts))
        return signs(np.asarray(score > self.cut))


def hastie(features: int = 10, noise: float = 0.0) -> NoisyAdditive:
    """Make the chi-square problem: +1 where Σ x_j² exceeds its median (Hastie et al. 2009, 10.1).

    >>> round(hastie().cut, 4)
    9.3418
    """
    return NoisyAdditive((np.square,) * features, float(chdtri(features, 0.5)), noise)


@dataclass(frozen=True)
class LabelNoise(World):
    """Another world whose labels are flipped, each with chance ``rate``.

    >>> noisy = LabelNoise(Boxes((0.0,), (0.5,)), 0.1)
    >>> round(noisy.noisy_risk(noisy.world.box_risk((0.0,), (0.25,))), 3), noisy.bayes_risk
    (0.3, 0.1)
    """

    world: World
    rate: float

    def __post_init__(self) -> None:
        check_noise("rate", self.rate)

    @property
    def features(self) -> int:  # type: ignore[override]
        return self.world.features

    @property
    def noise(self) -> float:  # type: ignore[override]
        """The chance that a label is flipped exactly once: here or in the other world."""
        # two flips cancel
        return self.rate + self.world.noise - 2 * self.rate * self.world.noise

    def points(self, uniforms: Rows) -> Rows:
        return self.world.points(uniforms)

    def truth(self, X: Rows) -> Signs:
        return self.world.truth(X)

    def _disagreement(self, predict: Predict, draws: int, seed: Seed) -> Risk:
        return self.world._disagreement(predict, draws, seed)
