"""Worlds of several tests: a box with noisy labels, whose risks are known, coins, and sums."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.ledgers.ledger import Ledger
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


def noisy_product(rows: int, classes: int = 2, noise: float = 1.0) -> tuple[Any, Any]:
    """Five columns, and classes of equal sizes by a sum with a product in it."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, 5))
    score = X[:, 0] + X[:, 1] * X[:, 2] + noise * generator.normal(size=rows)
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def line(rows: int) -> tuple[Any, Any]:
    """Two classes that one of three columns tells apart, up to noise."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, 3))
    return X, X[:, 0] + 0.3 * generator.normal(size=rows) > 0


def sloped(rows: int) -> tuple[Any, Any]:
    """Numbers that rise with one column, and with the size of another."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, 3))
    return X, X[:, 0] + np.abs(X[:, 1]) + 0.3 * generator.normal(size=rows)


def is_best(ledger: Ledger) -> bool:
    """Whether the last round is the one that was best on validation rows."""
    seen = [entry.validation for entry in ledger.rounds if entry.validation is not None]
    return len(seen) == len(ledger) and min(seen) == seen[-1] < min(seen[:-1])
