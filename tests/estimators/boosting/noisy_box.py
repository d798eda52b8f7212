"""Worlds for certificates: a box with noisy labels, whose risks are known, and coin flips."""

from __future__ import annotations

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
    """The exact risk of a vote of stumps."""
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
