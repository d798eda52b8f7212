"""A world in general: how it draws examples, and how the risk of a hypothesis is found."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, ParameterError
from pacboost.numerics.mistakes import wrong_margins

Rows = NDArray[np.float64]
Signs = NDArray[np.int8]
Predict = Callable[[Rows], NDArray[Any]]
Seed = int | np.random.Generator


class Risk(float):
    """A true risk; ``standard_error`` is 0 when it is exact."""

    standard_error: float

    def __new__(cls, value: float, standard_error: float = 0.0) -> Risk:  # noqa: D102
        risk = super().__new__(cls, value)
        risk.standard_error = standard_error
        return risk


class World(ABC):
    """Rows drawn independently, each with its true sign, perhaps flipped by noise."""

    features: int
    noise: float = 0.0
    """The chance that a label is flipped, the same for every row."""

    @abstractmethod
    def points(self, uniforms: Rows) -> Rows:
        """Turn numbers uniform on [0, 1), one per feature and row, into rows."""

    @abstractmethod
    def truth(self, X: Rows) -> Signs:
        """Give the signs without noise."""

    def draw(self, n: int, seed: Seed) -> tuple[Rows, Signs]:
        """Draw n examples; a generator goes on where the last draw ended."""
        noisy = self.noise > 0
        uniforms = np.random.default_rng(seed).random((n, self.features + noisy))
        X = self.points(uniforms[:, : self.features])
        y = self.truth(X)
        return X, np.where(uniforms[:, -1] < self.noise, -y, y) if noisy else y

    @property
    def bayes_risk(self) -> float:
        """The least risk any hypothesis can have."""
        return min(self.noise, 1 - self.noise)

    def noisy_risk(self, clean: float) -> Risk:
        """Give the risk of a hypothesis that disagrees with the truth with chance ``clean``."""
        error = getattr(clean, "standard_error", 0.0)
        slope = 1 - 2 * self.noise
        return Risk(self.noise + slope * clean, abs(slope) * error)

    def risk(self, predict: Predict, draws: int = 2**20, seed: Seed = 0) -> Risk:
        """Give P[predict(x) is not y]; an answer above 0 means +1, below 0 means -1, 0 is wrong.

        Exact where the domain is finite. Elsewhere estimated from ``draws`` rows: for hypotheses
        of the world's own kind the closed form is at hand under its own name.
        """
        return self.noisy_risk(self._disagreement(predict, draws, seed))

    def _disagreement(self, predict: Predict, draws: int, seed: Seed) -> Risk:
        generator = np.random.default_rng(seed)
        wrong = 0
        for first in range(0, draws, 2**16):
            uniforms = generator.random((min(2**16, draws - first), self.features))
            wrong += int(mistaken(self, predict, self.points(uniforms)).sum())
        share = wrong / draws
        # Moved towards 1/2, because no mistake seen does not mean that none is made.
        spread = (wrong + 1) / (draws + 2)
        return Risk(share, math.sqrt(spread * (1 - spread) / draws))


def mistaken(world: World, predict: Predict, X: Rows) -> NDArray[np.bool_]:
    """Mark the rows on which the hypothesis disagrees with the truth, or gives no answer."""
    answers = np.asarray(predict(X))
    if answers.shape != (len(X),):
        raise DataError(
            f"the hypothesis answered with shape {answers.shape} for {len(X)} rows; it has to give "
            "one number per row, positive for +1"
        )
    return wrong_margins(answers * world.truth(X))


def signs(positive: NDArray[np.bool_]) -> Signs:
    """Turn true and false into +1 and -1."""
    return np.where(positive, np.int8(1), np.int8(-1))


def check_noise(name: str, rate: float) -> None:
    """Refuse what is not a chance of flipping labels."""
    if not 0 <= rate <= 0.5:
        raise ParameterError(f"{name} is {rate}; a chance of flipping labels is 0 to 1/2")
