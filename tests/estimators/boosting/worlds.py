"""Worlds of several tests: a box with noisy labels, whose risks are known, and coin flips."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.theory.worlds import Boxes, LabelNoise

NOISY_BOX = LabelNoise(Boxes((0.3, 0.0), (0.8, 0.6)), 0.2)


def risk_of_stumps(
    world: LabelNoise, rules: Iterable[Any], scores: Callable[[NDArray[Any]], NDArray[Any]]
) -> float:
    inner = world.world
    assert isinstance(inner, Boxes)
    cuts: list[list[float]] = [[] for _ in range(inner.features)]
    for rule in rules:
        if math.isfinite(rule.threshold):
            cuts[rule.feature].append(rule.threshold)
    return float(world.noisy_risk(inner.piecewise_risk(scores, cuts)))


def coins(seed: int, rows: int, features: int) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Labels are coin flips: whatever is learned, its risk is 1/2."""
    generator = np.random.default_rng(seed)
    return generator.random((rows, features)), generator.choice([-1, 1], size=rows).astype(np.int8)


def product_of_columns(
    classes: int = 2, rows: int = 240, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows whose class is read off a sum with a product in it, and some noise."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 4))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * generator.normal(size=rows)
    cuts = {2: [0.0], 3: [-0.5, 0.5], 4: [-1.0, 0.0, 1.0]}[classes]
    return X, np.digitize(score, cuts)
