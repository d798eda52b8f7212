"""The booster, the learner and the classes of a fit by filtering."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.boosters.choose import as_booster
from pacboost.boosters.logit import Logit
from pacboost.boosters.registry import BOOSTERS
from pacboost.errors import ParameterError
from pacboost.estimators.fitting.constraints import limits
from pacboost.estimators.fitting.nested import named, with_fields
from pacboost.estimators.parameters.values import Values
from pacboost.learners.choose import as_learner
from pacboost.learners.learner import Learner
from pacboost.learners.tree import Tree
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.training.filtering.plan import KEPT


def learner_of(estimator: Values) -> Learner:
    """Return the learner, with the limits that parameters set."""
    choice, nested = named(estimator.learner)
    learner = as_learner(choice, "learner")
    changes = limits(estimator) | nested
    return with_fields(learner, changes, "learner") if changes else learner


def booster_of(estimator: Values, learner: Learner) -> FilteringBooster[Any]:
    """Return the booster, whose weights have to be probabilities."""
    choice, nested = named(estimator.booster)
    if choice == "logit" and estimator.edge is not None:
        choice = "filter_boost"
    booster = as_booster(choice)
    if not isinstance(booster, FilteringBooster):
        names = [name for name, kind in BOOSTERS.items() if issubclass(kind, FilteringBooster)]
        raise ParameterError(
            f"booster is {estimator.booster!r}, whose weights are not probabilities; it may be "
            f"{', '.join(map(repr, names))}, or a FilteringBooster",
            parameter="booster",
        )
    settings = {field.name for field in fields(booster)}  # type: ignore[arg-type]
    changes: dict[str, Any] = {}
    if isinstance(estimator.booster, str):
        if isinstance(booster, Logit):
            rate = 0.2 if isinstance(learner, Tree) else 1.0
            changes |= {"prior": True, "l2": 1.0, "learning_rate": rate}
        for name, part in (("edge", KEPT), ("epsilon", 1.0)):
            if name in settings and getattr(estimator, name) is not None:
                changes[name] = part * getattr(estimator, name)
    if estimator.learning_rate is not None:
        changes["learning_rate"] = estimator.learning_rate
    return with_fields(booster, changes | nested, "booster")  # type: ignore[no-any-return]


def classes_of(
    oracle: AbstractOracle, classes: ArrayLike | None, first_labels: NDArray[Any] | None
) -> NDArray[Any]:
    """Return all labels: those that were named, those of the source, or those of its first rows."""
    if classes is not None:
        return np.unique(np.asarray(classes))
    labels = oracle.classes()
    return np.unique(first_labels) if labels is None else labels  # type: ignore[arg-type]


def outputs_of(classes: NDArray[Any]) -> int:
    """Return the number of scores of a row."""
    return 1 if classes.size <= 2 else int(classes.size)
