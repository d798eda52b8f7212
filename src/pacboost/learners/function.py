"""A weak learner given as a plain function ``(X, y, weights) -> hypothesis``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.hypotheses.function import ClassFunction, Function
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.learners.learner import Learner, Search, Weights
from pacboost.samples.sample import Sample


@dataclass(frozen=True)
class FunctionLearner(Learner):
    """Call ``function(X, y, weights)``; y is in {-1, +1} and the weights sum to one.

    It returns a hypothesis: one of ours, a function of rows, or an object with ``predict``. With
    more than two classes, y holds their numbers, 0 to K - 1, and so do the answers.
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

    def find(self, weights: Weights, answers: NDArray[Any], seed: int) -> Hypothesis:
        """Call it, and wrap what comes back."""
        found = self.function(self.sample.rows, answers, weights / weights.sum())
        if isinstance(found, Hypothesis):
            return found
        answer = getattr(found, "predict", found)
        if not callable(answer):
            raise ParameterError(
                f"the weak learner returned {type(found).__name__}; it has to return a function of "
                "rows that gives a positive number for +1, or an object with such a predict"
            )
        name = getattr(found, "__name__", type(found).__name__)
        words = f"{name} of {getattr(self.function, '__name__', 'learner')}"
        if self.sample.labels is not None:
            return ClassFunction(answer, self.sample.signs.shape[1], words, found)
        return Function(answer, words, found)
