"""Random data and settings, by a seed: what the GPU has to fit just as the CPU does."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pacboost import (
    BoostClassifier,
    BoostRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from pacboost.errors import PacboostError
from tests.recorded_models import content


class Setting(NamedTuple):
    """An estimator's class and parameters, rows to fit it on, and how."""

    kind: type
    parameters: dict[str, Any]
    X: Any
    y: Any
    fit: dict[str, Any]

    def fitted(self, device: str) -> Any:
        """Fit the estimator on a device."""
        model = self.kind(**self.parameters, device=device, random_state=0, verbose=0)
        return model.fit(self.X, self.y, **self.fit)


class Rows(NamedTuple):
    """Random rows, and what is to be predicted of them."""

    X: Any
    y: Any
    task: str
    columns: int


def setting_of(seed: int) -> Setting:
    """Draw a setting of boosting."""
    draw = np.random.default_rng(seed)
    X, y, task, columns = _rows(draw)
    parameters = _parameters(draw, task, columns)
    fit = {}
    if draw.random() < 0.3 and task != "several":
        fit["sample_weight"] = draw.integers(1, 5, len(X)).astype(float)
    return Setting(BoostRegressor if task == "number" else BoostClassifier, parameters, X, y, fit)


def forest_of(seed: int) -> Setting:
    """Draw a setting of a forest."""
    draw = np.random.default_rng((seed, 1))
    X, y, task, _ = _rows(draw)
    kinds: Any = [RandomForestClassifier, ExtraTreesClassifier]
    if task == "number":
        kinds = [RandomForestRegressor, ExtraTreesRegressor]
    parameters: dict[str, Any] = {"n_estimators": int(draw.integers(1, 5)), "n_jobs": 2}
    for name, values in FOREST.items():
        if draw.random() < 0.3:
            parameters[name] = values[int(draw.integers(len(values)))]
    fit, kind = {}, kinds[int(draw.integers(2))]
    if draw.random() < 0.4:
        common = draw.random() < 0.7 or task == "several"
        weights = draw.integers(1, 5, len(X)) if common else draw.uniform(0.5, 2, len(X))
        fit["sample_weight"] = weights.astype(float)
    return Setting(kind, parameters, X, y, fit)


FOREST: dict[str, list[Any]] = {
    "max_features": [1, 0.5, None, "log2"],
    "min_samples_leaf": [2, 5, 0.01],
    "min_samples_split": [4, 20],
    "min_weight_fraction_leaf": [0.001, 0.05],
    "max_depth": [1, 3, 10],
    "bootstrap": [True, False],
    "max_samples": [0.3, 40],
    "max_bins": [2, 16, 100],
}


def _rows(draw: np.random.Generator) -> Rows:
    rows, columns = int(draw.choice([60, 700, 5_000, 40_000])), int(draw.integers(1, 50))
    X = draw.normal(size=(rows, columns)).round(int(draw.choice([0, 1, 6])))
    scores = X @ draw.normal(size=(columns, 6)) / columns**0.5 + draw.normal(size=(rows, 6))
    task = str(draw.choice(["two", "two", "many", "several", "number"]))
    y: Any = (scores[:, 0] > 0.3).astype(int)
    if task == "many":
        y = scores[:, : int(draw.integers(3, 7))].argmax(axis=1)
    elif task == "several":
        y = (scores[:, :3] > 0).astype(int)
    elif task == "number":
        y = scores[:, 0]
    if draw.random() < 0.3:
        X[draw.random(X.shape) < 0.1] = np.nan
    if draw.random() < 0.3 and columns > 5:
        X[:, :5] = np.eye(5)[draw.integers(0, 5, rows)]
    given: Any = X
    if draw.random() < 0.4:
        levels = draw.integers(0, int(draw.choice([3, 20, 200])), rows)
        given = pd.DataFrame(X, columns=[f"x{j}" for j in range(columns)])
        given["level"] = pd.Categorical(levels.astype(str))
        y = np.where(levels % 3 == 0, np.roll(y, 1, axis=0), y) if y.ndim == 1 else y
    return Rows(given, y, task, columns)


def _parameters(draw: np.random.Generator, task: str, columns: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "n_estimators": int(draw.integers(1, 8)),
        "max_leaves": int(draw.choice([2, 3, 8, 31, 100, 300])),
        "learning_rate": float(draw.choice([0.1, 0.5, 1.0])),
        "min_leaf_rows": float(draw.choice([1, 5, 20])),
        "n_jobs": 2,
    }
    if task == "number":
        found["loss"] = str(draw.choice(["squared_error", "absolute_error", "poisson", "huber"]))
        if found["loss"] == "poisson":
            found["loss"] = "squared_error"
    else:
        found["learner"] = "tree"
        found["booster"] = str(draw.choice(["logit", "logit", "adaboost", "gentle", "mada"]))
    if draw.random() < 0.3:
        found["max_depth"] = int(draw.integers(1, 8))
    if draw.random() < 0.3:
        found["subsample"] = 0.6
    if draw.random() < 0.3:
        found["max_features"] = float(draw.choice([0.3, 0.7]))
    if draw.random() < 0.2 and task in ("two", "number"):
        found["monotonic_cst"] = {0: int(draw.choice([-1, 1]))}
    if draw.random() < 0.3:
        found["early_stopping"] = True
    if draw.random() < 0.15 and columns > 2:
        sets: list[Any] = ["no_interactions", "pairwise", [[0, 1], [1, 2]]]
        found["interaction_constraints"] = sets[int(draw.integers(3))]
    return found


def table(rows: int, kind: Any = np.float32) -> tuple[Any, Any]:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(rows, 9)).astype(kind)
    X[:, 3] = X[:, 3].round(1)
    X[:, 4] = draw.integers(0, 3, rows)
    X[draw.random(X.shape) < 0.05] = np.nan
    return X, (np.nan_to_num(X[:, 0]) + draw.normal(size=rows) > 0).astype(int)


def bytes_of(model: Any) -> bytes:
    return content(model.set_params(device="cpu"))


def on_the_cpu_only(found: bytes | str) -> bool:
    """Check whether a forest was refused because of its weights, as docs/gpu.md says."""
    return isinstance(found, str) and "are grown on the CPU only" in found


def outcome(setting: Setting, device: str) -> bytes | str:
    """The bytes of a model, or the words with which it is refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = setting.fitted(device)
            model.set_params(device="cpu")
            return content(model)
    except PacboostError as problem:
        return f"{type(problem).__name__}: {problem}"
