"""Values: what the parameters of an estimator are set to, without the estimator."""

from __future__ import annotations

from inspect import signature
from types import SimpleNamespace
from typing import Any

from pacboost.estimators.parameters.table import ABSENT, checked


class Values(SimpleNamespace):
    """The values of all parameters by name; those that a class lacks are as if they were not set.

    >>> Values.of({"learning_rate": 0.1}).max_bins
    255
    """

    @classmethod
    def defaults(cls, kind: type, **given: Any) -> Values:
        """Return the defaults of a class, with some values changed and checked."""
        own = {name: each.default for name, each in signature(kind).parameters.items()}
        return cls(**ABSENT | checked(kind, own | given))

    @classmethod
    def of(cls, parameters: dict[str, Any]) -> Values:
        """Return the values of an estimator's parameters, which were checked as its fit began."""
        return cls(**ABSENT | parameters)
