"""Turn a user's choice of ``estimator`` into a learner."""

from __future__ import annotations

import inspect

from pacboost.errors import ParameterError
from pacboost.learners.learner import FunctionLearner, Learner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree

NAMES = "stump", "tree", "words"


def as_learner(choice: object, parameter: str = "estimator") -> Learner:
    """Return the learner for None (stumps), a name, a learner, a classifier or a function."""
    if choice is None:
        return Stump()
    if isinstance(choice, Learner):
        return choice
    if isinstance(choice, str):
        if choice == "words":
            from pacboost.learners.words import Words

            return Words()
        if choice in NAMES:
            return Tree() if choice == "tree" else Stump()
    elif not inspect.isclass(choice):
        if hasattr(choice, "fit"):
            from pacboost.learners.sklearn import SklearnLearner

            return SklearnLearner(choice)
        if callable(choice):
            return FunctionLearner(choice)
    raise ParameterError(
        f"{parameter} is {choice!r}; it may be {', '.join(map(repr, NAMES))}, None for stumps, "
        "a learner of pacboost, a scikit-learn classifier (an object, not a class) or a function "
        "(X, y) or (X, y, weights)",
        parameter=parameter,
    )
