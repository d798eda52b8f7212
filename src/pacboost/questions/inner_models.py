"""The pacboost models within pipelines, searches and other wrappers, and rows as they read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from pacboost.errors import NotCertified

MAX_DEPTH = 5
MAX_PARTS = 200
ROWS_AS_TRANSFORMED = ("CountVectorizer", "HashingVectorizer", "TfidfVectorizer")
"""Transformers of scikit-learn with a ``fit_transform`` of their own that equals ``transform``."""


@dataclass(frozen=True, eq=False)
class Inner:
    """A pacboost model, and rows as it reads them."""

    model: Any
    X: Any


def inner_models(model: object, X: object) -> list[Inner]:
    """Return all fitted pacboost models within a classifier, itself included.

    Pipelines, searches, calibration, voting and bagging keep the classifiers they have fitted as
    attributes whose names end with an underscore; a frozen estimator keeps it as a parameter. Rows
    are transformed by the steps of a pipeline before they are compared.
    """
    return list(_walk(model, X, MAX_DEPTH))


def answers_alone(model: Any) -> Any | None:
    """Return the pacboost model whose fit has seen all training rows of a classifier.

    That is the model itself, the last step of a pipeline, the result of a search, or a frozen
    model. Calibration and voting learn from further rows, so there is no such model.
    """
    for _ in range(MAX_DEPTH):
        if remembers(model):
            return model
        if _is_pipeline(model):
            if not all(_learns_as_it_transforms(step) for _, step in model.steps[:-1]):
                return None
            model = model.steps[-1][1]
        elif _is_of(model, "sklearn.model_selection") and hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif _is_of(model, "sklearn.frozen"):
            model = model.estimator
        else:  # another wrapper may change rows on their way, or learn from further ones
            return None
    return None


def _is_of(model: object, module: str) -> bool:
    return any(kind.__module__.startswith(module) for kind in type(model).__mro__)


def _learns_as_it_transforms(step: Any) -> bool:
    """Check whether the rows that a step passed on in a fit equal the output of its ``transform``.

    This holds for ``fit_transform`` of scikit-learn's mixin. A class with its own may return
    others, as TargetEncoder does, and training rows are then not recognised.
    """
    if step is None or isinstance(step, str):
        return True
    parts = [
        part[1]
        for name in ("transformers_", "transformer_list", "steps")
        for part in getattr(step, name, ())
    ]
    if parts:
        return all(map(_learns_as_it_transforms, parts))
    method = getattr(type(step), "fit_transform", None)
    name = getattr(method, "__qualname__", "")
    return name == "TransformerMixin.fit_transform" or type(step).__name__ in ROWS_AS_TRANSFORMED


def remembers(model: object) -> bool:
    """Check whether a model is one of pacboost's, which can compare rows with those of its fit."""
    return getattr(type(model), "_remembers_rows", False) is True


def snapshot(model: Any) -> Any:
    """Return a copy of a fitted model, or of each in a list, that later fits do not change.

    ``fit`` of pacboost models replaces attributes, so a shallow copy suffices; others may change in
    place.
    """
    if isinstance(model, list | tuple):
        return type(model)(map(snapshot, model))
    if remembers(model):
        duplicate = copy(model)
        if "estimator_" in vars(
            duplicate
        ):  # a classifier with a threshold, perhaps of another library
            duplicate.estimator_ = snapshot(duplicate.estimator_)
        return duplicate
    try:
        return deepcopy(model)
    except Exception as problem:  # what other libraries do when they are copied is not known
        raise NotCertified(
            f"{type(model).__name__} cannot be copied ({type(problem).__name__}: {problem}), so "
            "it could change after it is certified. Give its class a method __deepcopy__; it may "
            "return the object itself, if that never changes"
        ) from problem


def _walk(model: object, X: object, depth: int) -> Iterator[Inner]:
    if remembers(model):
        if getattr(model, "__sklearn_is_fitted__", lambda: True)():
            yield Inner(model, X)
            inside = vars(model).get("estimator_")  # a threshold on another library's classifier
            if depth and inside is not None and not remembers(inside):
                yield from _walk(inside, X, depth - 1)
        return
    if depth == 0 or not hasattr(model, "__dict__"):
        return
    if _is_pipeline(model):
        yield from _through_pipeline(model, X, depth)
        return
    attributes = vars(model)
    # scikit-learn's convention for what fit has set; of a search, parameters hold the pattern and
    # best_estimator_ the model
    fitted = [name for name in attributes if name.endswith("_") and not name.startswith("_")]
    has_inner = False
    for names in (fitted, [name for name in attributes if name not in fitted]):
        for name in names:
            for number, part in enumerate(_parts(attributes[name])):
                rows = _columns_of(model, X, number) if name == "estimators_" else X
                for inner in _walk(part, rows, depth - 1):
                    has_inner = True
                    yield inner
        if has_inner:  # what was fitted answers; a parameter beside it is only its pattern
            return


def _through_pipeline(model: Any, X: Any, depth: int) -> Iterator[Inner]:
    # looked at before any row is transformed, which may take long or fail for rows of another kind
    inside = list(_walk(model.steps[-1][1], X, depth - 1))
    if not inside:
        return
    for _, step in model.steps[:-1]:
        if step is not None and step != "passthrough":
            X = step.transform(X)
    yield from _walk(model.steps[-1][1], X, depth - 1)


def _is_pipeline(model: object) -> bool:
    steps = getattr(model, "__dict__", {}).get("steps")
    return isinstance(steps, list) and bool(steps) and hasattr(model, "predict")


def _parts(value: object) -> list[Any]:
    if isinstance(value, Mapping):
        values = list(value.values())
    elif isinstance(value, list | tuple):
        values = [part[-1] if isinstance(part, tuple) and part else part for part in value]
    elif isinstance(value, np.ndarray):
        values = value.reshape(-1).tolist() if value.dtype == object else []
    else:
        values = [value]
    return [
        part
        for part in values[:MAX_PARTS]
        if not isinstance(part, type) and (hasattr(part, "predict") or hasattr(part, "estimator"))
    ]


def _columns_of(model: object, X: Any, number: int) -> Any:
    chosen = getattr(model, "estimators_features_", None)
    if chosen is None or number >= len(chosen) or not hasattr(X, "shape"):
        return X
    rows = X.to_numpy() if hasattr(X, "to_numpy") else X
    return rows[:, chosen[number]]
