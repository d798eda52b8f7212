"""Make a learner of what users name as one."""

from __future__ import annotations

import inspect
from typing import Any

from pacboost.errors import ParameterError
from pacboost.learners.function import FunctionLearner
from pacboost.learners.learner import Learner
from pacboost.learners.sklearn import SklearnLearner
from pacboost.learners.stump import Stump


def as_learner(estimator: Any) -> Learner:
    """Take None (stumps), a learner of ours, a scikit-learn classifier, or a plain function."""
    if estimator is None:
        return Stump()
    if isinstance(estimator, Learner):
        return estimator
    if hasattr(estimator, "fit") and not inspect.isclass(estimator):
        return SklearnLearner(estimator)
    if callable(estimator) and not inspect.isclass(estimator):
        return FunctionLearner(estimator)
    raise ParameterError(
        f"estimator is {estimator!r}; it may be None for stumps, a learner of pacboost, a "
        "scikit-learn classifier (an object, not a class), or a function (X, y, weights)"
    )
