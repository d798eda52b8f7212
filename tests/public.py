"""All public estimators, those of the theory included: a new one is tested by default."""

import inspect
from typing import Any

from sklearn.base import BaseEstimator

import pacboost


def estimators() -> dict[str, Any]:
    """Return every public estimator by its name."""
    rooms = (pacboost, pacboost.theory)
    names = {name: getattr(room, name) for room in rooms for name in room.__all__}
    return {
        name: kind
        for name, kind in sorted(names.items())
        if inspect.isclass(kind) and issubclass(kind, BaseEstimator)
    }
