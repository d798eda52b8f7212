"""Fit any scikit-learn estimator on a bag: rows that count several times."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from pacboost.sources.table import Values


def fit_bag(
    estimator: Any, rows: Values, targets: NDArray[Any], counts: NDArray[np.int64], seed: int
) -> Any:
    """Fit a clone to rows of which each is in the bag ``counts`` times, once or more.

    How often goes to it as sample_weight where it takes one, so that no row is copied; elsewhere
    rows are repeated. Every random_state in it gets a seed of its own.

    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> X, y = np.array([[0.0], [1.0]]), np.array([0.0, 1.0])
    >>> nearest = fit_bag(KNeighborsRegressor(3), X, y, np.array([2, 1]), seed=0)
    >>> nearest.predict([[0.0]]).round(3).tolist()
    [0.333]
    """
    model = clone(estimator)
    states = [k for k in model.get_params(deep=True) if k.split("__")[-1] == "random_state"]
    seeds = np.random.default_rng(seed).integers(2**31, size=len(states))
    model.set_params(**{k: int(s) for k, s in zip(sorted(states), seeds, strict=True)})
    if (counts == 1).all():
        return model.fit(rows, targets)
    if has_fit_parameter(model, "sample_weight"):
        return model.fit(rows, targets, sample_weight=counts.astype(np.float64))
    return model.fit(np.repeat(rows, counts, axis=0), np.repeat(targets, counts))
