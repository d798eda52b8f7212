"""A small fit of every kind on a GPU, for `compute-sanitizer`, which finds bad accesses and races.

    compute-sanitizer --tool memcheck python -m tests.gpu.every_kind
    PACBOOST_ROWS=300 compute-sanitizer --tool racecheck python -m tests.gpu.every_kind

Every array has memory of its own here, so that an access beyond its end is seen.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from pacboost import (
    BoostClassifier,
    BoostRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

ROWS = int(os.environ.get("PACBOOST_ROWS", "1500"))
"""Races are looked for in fewer: that takes a hundred times as long as the fits."""


def rows(seed: int = 0) -> tuple[Any, Any]:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(ROWS, 7)).astype(np.float32)
    X[:, 4:] = np.eye(3)[draw.integers(0, 3, ROWS)]
    return X, (X[:, 0] + X[:, 4] + draw.normal(size=ROWS) > 0).astype(int)


def fitted(X: Any, y: Any, **given: Any) -> Any:
    wanted: dict[str, Any] = {"n_estimators": 2, "learner": "tree", "early_stopping": False}
    wanted |= {"device": "cuda", "random_state": 0, "verbose": 0} | given
    return BoostClassifier(**wanted).fit(X, y)


def missing() -> None:
    X, y = rows()
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    fitted(X, y, early_stopping=True)


def categories() -> None:
    X, y = rows()
    frame = pd.DataFrame(X).rename(columns=str)
    frame["level"] = pd.Categorical(np.random.default_rng(2).integers(0, 40, ROWS).astype(str))
    fitted(frame, y)


def regression() -> None:
    X, _ = rows()
    BoostRegressor(n_estimators=2, device="cuda", random_state=0, verbose=0).fit(
        X, X[:, 0] * X[:, 1]
    )


def prediction() -> None:
    import cupy

    X, y = rows()
    model, there = fitted(X, y), cupy.asarray(X)
    assert np.array_equal(model.decision_function(there).get(), model.decision_function(X))
    many = fitted(X, np.arange(ROWS) % 5)
    assert np.array_equal(many.decision_function(there).get(), many.decision_function(X))


def forests() -> None:
    X, y = rows()
    many = np.digitize(X[:, 0] + X[:, 1], [-1, 0, 1])
    wanted: dict[str, Any] = {"device": "cuda", "random_state": 0, "verbose": 0}
    weights = np.random.default_rng(3).integers(1, 4, ROWS).astype(float)
    for kind in (RandomForestClassifier, ExtraTreesClassifier):
        for labels in (y, many):
            kind(3, **wanted).fit(X, labels)
            kind(2, bootstrap=False, max_depth=5, **wanted).fit(X, labels, weights)
    RandomForestRegressor(3, min_samples_leaf=3, **wanted).fit(X, X[:, 0])


def on_the_card() -> None:
    import cupy

    X, y = rows()
    fitted(cupy.asarray(X), cupy.asarray(y))
    fitted(cupy.asarray(np.asfortranarray(X.astype(np.float64))), y)


KINDS: dict[str, Callable[[], Any]] = {
    "31 leaves": lambda: fitted(*rows(), max_leaves=31),
    "depth 6": lambda: fitted(*rows(), max_leaves=64, max_depth=6),
    "300 leaves": lambda: fitted(*rows(), max_leaves=300, min_leaf_rows=1),
    "stumps": lambda: fitted(*rows(), max_leaves=2),
    "many classes": lambda: fitted(rows()[0], np.arange(ROWS) % 26),
    "several labels": lambda: fitted(rows()[0], rows()[0][:, :3] > 0),
    "AdaBoost": lambda: fitted(*rows(), booster="adaboost"),
    "another booster": lambda: fitted(*rows(), booster="gentle"),
    "subsamples": lambda: fitted(*rows(), subsample=0.6, max_features=0.5),
    "monotone": lambda: fitted(*rows(), monotonic_cst={0: 1}),
    "interactions": lambda: fitted(*rows(), interaction_constraints=[[0, 1], [1, 2]]),
    "missing": missing,
    "categories": categories,
    "regression": regression,
    "prediction": prediction,
    "rows on the card": on_the_card,
    "forests": forests,
}


def main() -> None:
    """Run the kinds that are named, or all."""
    import cupy

    cupy.cuda.set_allocator(None)
    for name in sys.argv[1:] or KINDS:
        KINDS[name]()
        cupy.cuda.Device().synchronize()
        sys.stdout.write(f"{name} done\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
