"""What every weak learner can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.hypotheses.function import ClassFunction, Function
from pacboost.hypotheses.hypothesis import Cells, Hypothesis, Valued
from pacboost.hypotheses.stump import StumpRule
from pacboost.samples.sample import Request, Sample

Weights = NDArray[np.int64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Capacity:
    """How rich the class of rules is that a learner chooses from, where that is known."""

    vc_dimension: int | None = None
    log_size: float | None = None
    """Natural logarithm of the number of rules, when they are finitely many."""


class Search(ABC):
    """A learner at work on one sample; it may remember what it saw in the last round."""

    sample: Sample
    expects: ClassVar[bool] = False
    """Whether ``expect`` prepares anything."""

    @abstractmethod
    def find(self, weights: Weights, answers: NDArray[Any], seed: int) -> Hypothesis:
        """Find a rule that gives the answers (rows,) under the weights (rows,).

        Answers are signs, or numbers of classes where there are more than two.
        """

    def partition(
        self, request: Request, seed: int, chosen: Rows | None
    ) -> tuple[Hypothesis, Cells]:
        """Find cells in which rows pull alike; give them as a rule, and the cell of every row.

        Unless a learner knows better, the cells are those of the rule it finds when each row counts
        by its pulls. Of the sample it may look at the chosen rows only, if some are named.
        """
        if self.sample.labels is None and self.sample.signs.shape[1] > 1:
            raise ParameterError(
                "with several labels a row, a black box could learn one of them only; use the "
                "learner 'stump' or 'tree'"
            )
        weights = request.rows()
        if chosen is not None:
            weights[np.setdiff1d(np.arange(weights.size), chosen)] = 0
        sample = self.sample
        if not weights.any():  # no row asks for anything any more, and black boxes need some rows
            constant = self.constant()
            return constant, constant.cells(sample)
        answers = sample.signs[:, 0] if sample.labels is None else sample.labels
        rule = Valued.empty(self.find(weights, answers, seed), sample.signs.shape[1])
        return rule, rule.cells(sample)

    def beside(self, array: NDArray[Any]) -> Any:
        """Return an array in the memory where the search has its rows."""
        return array

    def expect(self, request: Request, seed: int) -> None:  # noqa: B027 (most cannot)
        """Prepare for the next round, whose weights are about to be computed from these."""

    def look_ahead(self, request: Request, seed: int) -> None:  # noqa: B027 (most cannot)
        """Begin with what ``partition`` is asked next, if that can be done meanwhile."""

    def constant(self) -> Hypothesis:
        return Valued.empty(StumpRule.constant(1), self.sample.signs.shape[1])


class Learner(ABC):
    """A way to find rules. It holds parameters only; ``on`` puts it to work on a sample."""

    codes: bool = False
    """Whether it reads codes, so that the sample has to be binned."""
    sparse = False
    """Whether it reads sparse tables as they are; else they are opened up."""

    @property
    def deterministic(self) -> bool:
        """Whether the same weights always give the same rule, so that asking again is useless."""
        return False

    @property
    def name(self) -> str:
        return type(self).__name__

    def finds_rules(self, sample: Sample) -> bool:
        """Check whether, for two classes, it looks for rules that answer -1 or +1."""
        return True

    def bytes_of_work(self, columns: int, outputs: int) -> int:
        """How many bytes a search takes at most, whatever the number of rows, on dense samples."""
        return 0

    @abstractmethod
    def on(self, sample: Sample) -> Search:
        """Start to work on a sample."""

    def capacity(self, sample: Sample) -> Capacity | None:
        """Return how rich the class is, None where nobody knows."""
        return None


# A weak learner given as a plain function ``(X, y, weights) -> hypothesis``.


@dataclass(frozen=True)
class FunctionLearner(Learner):
    """Call ``function(X, y, weights)``; y is in {-1, +1} and the weights sum to one.

    It returns a hypothesis: one of ours, a function of rows, or an object with ``predict``. With
    more than two classes, y holds their numbers, 0 to K - 1, and so do the answers.
    """

    function: Callable[..., Any]

    def on(self, sample: Sample) -> FunctionSearch:
        return FunctionSearch(sample, self.function)


@dataclass(frozen=True)
class FunctionSearch(Search):
    """The function at work on one sample."""

    sample: Sample
    function: Callable[..., Any]

    def find(self, weights: Weights, answers: NDArray[Any], seed: int) -> Hypothesis:
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
