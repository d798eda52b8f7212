"""Find the pacboost models inside a classifier of another library, with the rows as they see them.

Pipelines, searches, calibration, voting, bagging and the like keep the classifiers they have fitted
as attributes whose names end with an underscore; a frozen estimator keeps it as a parameter. Rows
on their way through a pipeline are transformed before they are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from pacboost.errors import NotCertified

DEEPEST = 5
MOST_PARTS = 200
SAME_ROWS = ("best_estimator_", "estimator")
"""Where a search or a frozen estimator keeps the model that answers in its place."""


@dataclass(frozen=True, eq=False)
class Inner:
    """A pacboost model, and rows as it reads them."""

    model: Any
    X: Any


def inner_models(model: Any, X: Any) -> list[Inner]:
    """Return all fitted pacboost models within a classifier, itself included."""
    return list(_walk(model, X, DEEPEST))


def answers_alone(model: Any) -> Any | None:
    """Return the pacboost model whose fit has seen all rows that a classifier has learned from.

    That is the model itself, the last step of a pipeline, what a search has found, or what is
    frozen. Calibration and voting learn from rows of their own, so there is no such model.
    """
    for _ in range(DEEPEST):
        if remembers(model):
            return model
        if _is_pipeline(model):
            model = model.steps[-1][1]
            continue
        names = [name for name in SAME_ROWS if name in getattr(model, "__dict__", {})]
        if not names or type(model).__name__ == "CalibratedClassifierCV":
            return None
        others = [name for name in _fitted_names(model) if _parts(vars(model)[name])]
        if names[0] == "estimator" and others:
            return None  # a meta-estimator that has learned something itself
        model = vars(model)[names[0]]
    return None


def remembers(model: Any) -> bool:
    """Check whether a model is one of ours, which can compare rows with those of its fit."""
    return getattr(type(model), "_remembers_rows", False) is True


def snapshot(model: Any) -> Any:
    """Return a copy of a fitted model, or of each in a list, that nothing changes any more.

    What is certified of a model is about the model that was there. ``fit`` of ours puts new objects
    in the place of old ones, so a shallow copy will do; others may learn in place.

    >>> class Guess:
    ...     def __init__(self):
    ...         self.labels = []
    >>> model = Guess()
    >>> kept, _ = snapshot(model), model.labels.append("a")
    >>> kept.labels, model.labels
    ([], ['a'])
    """
    if isinstance(model, list | tuple):
        return type(model)(map(snapshot, model))
    if remembers(model):
        made = copy(model)
        if "estimator_" in vars(made):  # a classifier with a threshold, perhaps of another library
            made.estimator_ = snapshot(made.estimator_)
        return made
    try:
        return deepcopy(model)
    except Exception as problem:  # what other libraries do when they are copied is not known
        raise NotCertified(
            f"{type(model).__name__} cannot be copied ({type(problem).__name__}: {problem}), so "
            "what is certified now could be shown after it has learned more. Give its class a "
            "method __deepcopy__; it may return the object itself, if that never changes"
        ) from problem


def _walk(model: Any, X: Any, depth: int) -> Iterator[Inner]:
    if remembers(model):
        if getattr(model, "__sklearn_is_fitted__", lambda: True)():
            yield Inner(model, X)
        return
    if depth == 0 or not hasattr(model, "__dict__"):
        return
    if _is_pipeline(model):
        yield from _through_pipeline(model, X, depth)
        return
    own = vars(model)
    fitted = _fitted_names(model)
    found = False
    for names in (fitted, [name for name in own if name not in fitted]):
        for name in names:
            for number, part in enumerate(_parts(own[name])):
                rows = _columns_of(model, X, number) if name == "estimators_" else X
                for inner in _walk(part, rows, depth - 1):
                    found = True
                    yield inner
        if found:  # what was fitted answers; a parameter beside it is only its pattern
            return


def _through_pipeline(model: Any, X: Any, depth: int) -> Iterator[Inner]:
    inside = list(_walk(model.steps[-1][1], X, depth - 1))
    if not inside:
        return
    for _, step in model.steps[:-1]:
        if step is not None and step != "passthrough":
            X = step.transform(X)
    yield from _walk(model.steps[-1][1], X, depth - 1)


def _is_pipeline(model: Any) -> bool:
    steps = getattr(model, "__dict__", {}).get("steps")
    return isinstance(steps, list) and bool(steps) and hasattr(model, "predict")


def _fitted_names(model: Any) -> list[str]:
    return [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]


def _parts(value: Any) -> list[Any]:
    """Return the classifiers that an attribute holds: itself, or those in a list."""
    if isinstance(value, Mapping):
        values = list(value.values())
    elif isinstance(value, list | tuple):
        values = [part[-1] if isinstance(part, tuple) and part else part for part in value]
    elif isinstance(value, np.ndarray):
        values = value.reshape(-1).tolist() if value.dtype == object else []
    else:
        values = [value]
    return [part for part in values[:MOST_PARTS] if _may_answer(part)]


def _may_answer(part: Any) -> bool:
    return not isinstance(part, type) and (hasattr(part, "predict") or hasattr(part, "estimator"))


def _columns_of(model: Any, X: Any, number: int) -> Any:
    """Return the columns that a member of a bag looks at."""
    chosen = getattr(model, "estimators_features_", None)
    if chosen is None or number >= len(chosen) or not hasattr(X, "shape"):
        return X
    rows = X.to_numpy() if hasattr(X, "to_numpy") else X
    return rows[:, chosen[number]]
