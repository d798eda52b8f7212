"""All declared parameters, and the parameter that a name means in a class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pacboost.estimators.parameters.param import Param
from pacboost.estimators.parameters.promises import OF_PROMISES
from pacboost.estimators.parameters.runs import OF_RUNS
from pacboost.estimators.parameters.trees import OF_TREES
from pacboost.estimators.parameters.trials import OF_TRIALS

PARAMS: tuple[Param, ...] = (*OF_TREES, *OF_TRIALS, *OF_RUNS, *OF_PROMISES)
# reversed, so that of several declarations of a name the first one counts
ABSENT: dict[str, Any] = {param.name: param.absent for param in reversed(PARAMS)}
"""What a fit goes by where an estimator has no such parameter."""


def declared(kind: str, name: str) -> Param | None:
    """Return a parameter of a class, by the name of the class; None if it is the class's own.

    >>> [declared(kind, "learning_rate").default for kind in ("BoostClassifier",
    ...  "AdaBoostClassifier")]
    [None, 1.0]
    """
    return next((param for param in PARAMS if param.name == name and kind in param.of), None)


def meant(kind: type, name: str) -> Param | None:
    """Return what a name means in a class: as declared for it or a base, else for any class."""
    kinds = {each.__name__ for each in kind.__mro__}
    known = any(kinds & {*param.of} for param in PARAMS)
    found = (param for param in PARAMS if param.name == name)
    return next((param for param in found if not known or kinds & {*param.of}), None)


def checked(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of an estimator's parameters; raise if one of them is not allowed."""
    params = {name: meant(kind, name) for name in values}
    return {
        name: value if (param := params[name]) is None else param.check.checked(name, value)
        for name, value in values.items()
    }


def constraints(kind: type, names: Iterable[str]) -> dict[str, list[Any]]:
    """Return scikit-learn's constraints of the parameters of a class."""
    params = ((name, meant(kind, name)) for name in names)
    found = {name: param.check.constraint for name, param in params if param is not None}
    return {name: constraint for name, constraint in found.items() if constraint}
