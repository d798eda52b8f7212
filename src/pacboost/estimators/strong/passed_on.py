"""Methods of the chosen estimator that StrongClassifier has as its own, so that Tab finds them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from sklearn.utils.metaestimators import available_if

from pacboost.estimators.boosting.boost import BoostClassifier


def passed_on(name: str) -> Any:
    """Make a method that calls that of the chosen estimator; without one, there is no method."""

    def has_it(model: Any) -> bool:
        return "estimator_" in vars(model) and hasattr(model.estimator_, name)

    method: Callable[..., Any] = getattr(BoostClassifier, name)

    @wraps(method)
    def call(self: Any, *args: Any, **options: Any) -> Any:
        return getattr(self.estimator_, name)(*args, **options)

    return available_if(has_it)(call)
