"""A weak learner given as a plain function ``(X, y, weights) -> hypothesis``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pacboost.errors import ParameterError
from pacboost.hypotheses.function import Function
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.learners.learner import Learner, Search, Weights
from pacboost.samples.sample import Sample, Signs


@dataclass(frozen=True)
class FunctionLearner(Learner):
    """Call ``function(X, y, weights)``; y is in {-1, +1} and the weights sum to one.

    It returns a hypothesis: one of ours, a function of rows, or an object with ``predict``.
    """

    function: Callable[..., Any]

    def on(self, sample: Sample) -> FunctionSearch:
        """Hand it the raw rows."""
        return FunctionSearch(sample, self.function)


@dataclass(frozen=True)
class FunctionSearch(Search):
    """The function at work on one sample."""

    sample: Sample
    function: Callable[..., Any]

    def find(self, weights: Weights, signs: Signs, seed: int) -> Hypothesis:
        """Call it, and wrap what comes back."""
        found = self.function(self.sample.rows, signs, weights / weights.sum())
        if isinstance(found, Hypothesis):
            return found
        answer = getattr(found, "predict", found)
        if not callable(answer):
            raise ParameterError(
                f"the weak learner returned {type(found).__name__}; it has to return a function of "
                "rows that gives a positive number for +1, or an object with such a predict"
            )
        name = getattr(found, "__name__", type(found).__name__)
        return Function(answer, f"{name} of {getattr(self.function, '__name__', 'learner')}", found)
