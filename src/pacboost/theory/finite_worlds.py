"""Worlds of finitely many rows, where every risk is a count: Boolean concepts, no free lunch."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError, invalid
from pacboost.theory.world_oracle import Rows, Seed, Signs
from pacboost.theory.worlds import Predict, Risk, World, mistaken, signs

MAX_FEATURES = 20
"""Maximum number of Boolean features: more would be over a million rows."""


class Finite(World):
    """A world whose finitely many rows are equally likely."""

    @abstractmethod
    def domain(self) -> Rows:
        """Return all rows."""

    def _disagreement(self, predict: Predict, draws: int, seed: Seed) -> Risk:
        return Risk(float(mistaken(self, predict, self.domain()).mean()))


class BooleanCube(Finite):
    """A world whose rows are uniform on {0, 1}^features."""

    min_features: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not self.min_features <= self.features <= MAX_FEATURES:
            allowed = f"must be {self.min_features} to {MAX_FEATURES}"
            raise invalid("features", self.features, allowed)

    def points(self, uniforms: Rows) -> Rows:
        return (uniforms >= 0.5).astype(np.float64)

    def domain(self) -> Rows:
        return digits(np.arange(2**self.features), 2, self.features)


@dataclass(frozen=True)
class BooleanConcept(BooleanCube):
    """Rows uniform on {0, 1}^features; +1 where ``concept(X)`` is true, row by row.

    >>> parity = BooleanConcept(3, lambda X: X.sum(axis=1) % 2 == 1)
    >>> parity.risk(lambda X: 2 * X[:, 0] - 1)
    0.5
    """

    features: int
    concept: Predict

    def truth(self, X: Rows) -> Signs:
        return signs(np.asarray(self.concept(X)) > 0)


@dataclass(frozen=True)
class NoFreeLunch(Finite):
    """One labeling of a finite domain; point i is +1 where bit i of ``labeling`` is set.

    The features of a point are the digits of its number, in the smallest base that suffices; 2^f
    points with f features are the Boolean cube.
    """

    size: int
    labeling: int
    features: int = 1

    def __post_init__(self) -> None:
        if self.size < 1 or self.features < 1 or not 0 <= self.labeling < 2**self.size:
            raise ParameterError(
                f"size is {self.size}, labeling {self.labeling}, features {self.features}; give "
                "at least one point and feature, and a labeling from 0 to 2^size - 1"
            )

    @classmethod
    def every(cls, size: int, features: int = 1) -> Iterator[NoFreeLunch]:
        """Return all 2^size labelings in turn."""
        return (cls(size, labeling, features) for labeling in range(2**size))

    def points(self, uniforms: Rows) -> Rows:
        return self._rows(np.floor(uniforms[:, 0] * self.size).astype(np.int64))

    def truth(self, X: Rows) -> Signs:
        bits = np.array([self.labeling >> i & 1 for i in range(self.size)], dtype=np.bool_)
        return signs(bits[self._numbers(X)])

    def domain(self) -> Rows:
        return self._rows(np.arange(self.size))

    def unseen(self, X: Rows) -> Rows:
        """Return the points that are not among these rows."""
        return self._rows(np.setdiff1d(np.arange(self.size), self._numbers(X)))

    @property
    def _base(self) -> int:
        return next(b for b in range(1, self.size + 1) if b**self.features >= self.size)

    def _rows(self, numbers: NDArray[np.int64]) -> Rows:
        return digits(numbers, self._base, self.features)

    def _numbers(self, X: Rows) -> NDArray[np.int64]:
        return np.asarray(X, dtype=np.int64) @ self._base ** np.arange(self.features)


def digits(numbers: NDArray[np.int64], base: int, places: int) -> Rows:
    """Return the digits of numbers, the lowest place first, as rows."""
    return np.asarray(numbers[:, None] // base ** np.arange(places) % base, dtype=np.float64)


@dataclass(frozen=True)
class UniformOnly(BooleanCube):
    """A world that is weakly learnable under the uniform distribution only.

    It shows why the distribution-free assumption matters (lecture 004): weak learning under every
    distribution implies strong learning, weak learning under the uniform distribution does not
    (Kearns and Valiant 1989).

    Rows are uniform on {0, 1}^features. Where the first two bits are both 1 the labels are coin
    tosses, fixed by ``seed``; elsewhere the label is the third bit. So the third bit has edge 3/4
    under the uniform distribution. But after m examples every learner errs on at least
    (1/8)(1 - 4m/2^features) of the rows on average over the coins, because a coin that was not seen
    is unknown; and under a distribution on that quarter no learned rule has an edge.

    >>> world = UniformOnly(12)
    >>> round(1 - 2 * world.risk(lambda X: 2 * X[:, 2] - 1), 2)
    0.75
    """

    features: int
    seed: int = 0
    min_features = 3

    @cached_property
    def _coins(self) -> NDArray[np.bool_]:
        return np.asarray(np.random.default_rng(self.seed).random(2**self.features) < 0.5)

    def truth(self, X: Rows) -> Signs:
        numbers = X.astype(np.int64) @ (1 << np.arange(self.features))
        return signs(np.where(self.blind(X), self._coins[numbers], X[:, 2] > 0))

    @staticmethod
    def blind(X: Rows) -> NDArray[np.bool_]:
        """Return which rows are labelled by coins."""
        return np.asarray((X[:, 0] > 0) & (X[:, 1] > 0))
