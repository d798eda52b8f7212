"""Noise on the labels of any world."""

from __future__ import annotations

from dataclasses import dataclass

from pacboost.sources.worlds.base import Predict, Risk, Rows, Seed, Signs, World, check_noise


@dataclass(frozen=True)
class LabelNoise(World):
    """Another world whose labels are flipped, each with chance ``rate``.

    >>> from pacboost.sources.worlds.cube import Boxes
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
        """Those of the other world."""
        return self.world.features

    @property
    def noise(self) -> float:  # type: ignore[override]
        """Flipped here or there, but not twice."""
        return self.rate + self.world.noise - 2 * self.rate * self.world.noise

    def points(self, uniforms: Rows) -> Rows:
        """Those of the other world."""
        return self.world.points(uniforms)

    def truth(self, X: Rows) -> Signs:
        """That of the other world."""
        return self.world.truth(X)

    def _disagreement(self, predict: Predict, draws: int, seed: Seed) -> Risk:
        return self.world._disagreement(predict, draws, seed)
