"""Turn a user's choice of ``estimator`` into a learner."""

from __future__ import annotations

import inspect
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pacboost.errors import ParameterError
from pacboost.learners.learner import FunctionLearner, Learner, accepts
from pacboost.learners.registry import LEARNERS
from pacboost.sources.rows import Rows


def as_learner(choice: object, parameter: str = "estimator") -> Learner:
    """Return the learner for None (stumps), a name, a learner, an estimator or a function."""
    choice = "stump" if choice is None else choice
    if isinstance(choice, Learner):
        return choice
    if isinstance(choice, str):
        if choice in LEARNERS:
            return LEARNERS[choice]()
    elif not inspect.isclass(choice):
        # only such an estimator can be cloned; others are copied
        if hasattr(choice, "fit") and hasattr(choice, "get_params"):
            from pacboost.learners.sklearn import SklearnLearner

            return SklearnLearner(choice)
        function = choice
        if hasattr(choice, "fit") and hasattr(choice, "predict"):
            function = OwnEstimator(choice)
        if callable(function) and (accepts(function, 3) or accepts(function, 2)):
            return FunctionLearner(function)
    raise ParameterError(
        f"{parameter} is {choice!r}; it may be {', '.join(map(repr, LEARNERS))}, None for stumps, "
        "a learner of pacboost, an object with fit and predict, such as a scikit-learn classifier "
        "(not a class), or a function (X, y) or (X, y, weights)",
        parameter=parameter,
    )


@dataclass(frozen=True)
class OwnEstimator:
    """An object with ``fit`` and ``predict`` alone, as a function of rows and labels."""

    estimator: Any

    def __call__(self, X: Any, y: Any) -> Any:
        if (y == y[0]).all():  # few estimators can fit a single class
            return partial(_constant, y[0])
        # every round fits a copy, and the user's object stays as it was given
        try:
            model = deepcopy(self.estimator)
        except Exception as problem:  # an object of any kind may refuse, in any way
            name = type(self.estimator).__name__
            raise ParameterError(
                f"the learner is an object of class {name} that cannot be copied "
                f"({type(problem).__name__}: {problem}), and every round fits a fresh one; give a "
                f"function (X, y) that makes, fits and returns a new {name}",
                parameter="learner",
            ) from problem
        model.fit(X, y)  # which may return nothing
        return model


def _constant(answer: Any, rows: Any) -> Any:
    return np.full(Rows.of(rows).count, answer)
