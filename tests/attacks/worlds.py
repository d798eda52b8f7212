"""Worlds in which a false certificate shows, and the estimators that are tried in them."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.public import estimators

SMALL = {
    "n_estimators": 5, "n_bags": 3, "max_members": 3, "min_count": 1, "n_jobs": 1,
}  # fmt: skip
"""Parameters that keep a fit short, for estimators that have them."""


def coins(seed: int, rows: int, features: int = 3) -> tuple[NDArray[Any], NDArray[Any]]:
    """Labels are coin flips: whatever is learned, its risk is 1/2."""
    generator = np.random.default_rng(seed)
    return generator.random((rows, features)), generator.integers(0, 2, rows)


def public_classifiers(*parameters: str) -> list[str]:
    """Name all public classifiers that have some parameters: a new one is attacked by default."""
    found = []
    for name, kind in estimators().items():
        own = inspect.signature(kind).parameters
        if hasattr(kind, "predict") and all(parameter in own for parameter in parameters):
            found.append(name)
    return found


def make(name: str, **parameters: Any) -> Any:
    """Make a small estimator; parameters that it does not have are left out."""
    kind = estimators()[name]
    known = set(inspect.signature(kind).parameters)
    return kind(**{key: own for key, own in (SMALL | parameters).items() if key in known})
