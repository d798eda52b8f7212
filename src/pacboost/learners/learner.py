"""The interface of weak learners, and learners that are functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import LearnerError, PacboostError, ParameterError
from pacboost.hypotheses.function import ClassFunction, Function
from pacboost.hypotheses.hypothesis import Cells, Hypothesis, Valued
from pacboost.hypotheses.stump import StumpRule
from pacboost.numerics.exact import draw
from pacboost.samples.fingerprint import StoredCodes
from pacboost.samples.sample import Request, Sample
from pacboost.sources.given import some_rows

Weights = NDArray[np.int64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Capacity:
    """How rich the class of rules of a learner is: its VC dimension and its size, if known."""

    vc_dimension: int | None = None
    log_size: float | None = None
    """Natural logarithm of the number of rules, if finite."""


class Search(ABC):
    """A learner at work on one sample; it may reuse results of the last round."""

    sample: Sample
    expects: ClassVar[bool] = False
    """Whether ``expect`` prepares anything."""
    stored_codes: StoredCodes | None = None
    """All codes of the sample, if the search has laid them out."""

    @abstractmethod
    def find(self, weights: Weights, answers: NDArray[Any], seed: int) -> Hypothesis:
        """Find a rule that gives the answers (rows,) under the weights (rows,).

        Answers are signs, or class numbers if there are more than two classes.
        """

    def partition(
        self, request: Request, seed: int, chosen: Rows | None
    ) -> tuple[Hypothesis, Cells]:
        """Partition rows into cells of similar pulls; return a rule, and the cell of every row.

        By default, the cells are those of the rule that ``find`` returns when rows are weighted by
        their pulls. If rows are ``chosen``, the search may use no others.
        """
        if self.sample.labels is None and self.sample.signs.shape[1] > 1:
            raise ParameterError(
                "rows have several labels, but this weak learner predicts one; use the learner "
                "'stump' or 'tree'"
            )
        weights = request.rows()
        if chosen is not None:
            # a learner of a user knows weights, and nothing of chosen rows
            weights[np.setdiff1d(np.arange(weights.size), chosen)] = 0
        sample = self.sample
        if not weights.any():  # no row asks for any change, and black boxes need some rows
            constant = self.constant()
            return constant, constant.cells(sample)
        answers = sample.signs[:, 0] if sample.labels is None else sample.labels
        rule = Valued.empty(self.find(weights, answers, seed), sample.signs.shape[1])
        return rule, rule.cells(sample)

    def beside(self, array: NDArray[Any]) -> Any:
        """Return an array in the memory that the search works in: the host's or a GPU's."""
        return array

    def expect(self, request: Request, seed: int) -> None:  # noqa: B027 (most cannot)
        """Prepare for the next round, whose weights are about to be computed from these."""

    def look_ahead(self, request: Request, seed: int) -> None:  # noqa: B027 (most cannot)
        """Start the work of the next ``partition`` in the background, if possible."""

    def constant(self) -> Hypothesis:
        return Valued.empty(StumpRule.constant(1), self.sample.signs.shape[1])


class Learner(ABC):
    """The parameters of a way to find rules; ``on`` starts a search on a sample."""

    name: ClassVar[str] = "custom"
    """The name in ledgers; of a learner in this folder, that of its file."""
    plural: ClassVar[str] = ""
    """What reports call its rules; empty for its name."""
    codes: bool = False
    """Whether the learner reads codes, so that the sample has to be binned."""
    sparse = False
    """Whether the learner reads sparse tables; otherwise they are made dense."""
    reads_given: ClassVar[bool] = False
    """Whether the learner is code of a user, which gets rows as they came."""

    @property
    def deterministic(self) -> bool:
        """Whether the same weights always give the same rule, so that a retry is useless."""
        return False

    def finds_rules(self, sample: Sample) -> bool:
        """Check whether, for two classes, the learner finds rules that answer -1 or +1."""
        return True

    def bytes_of_work(self, columns: int, outputs: int) -> int:
        """Return the maximum memory in bytes of a search on dense samples, besides the rows."""
        return 0

    @abstractmethod
    def on(self, sample: Sample) -> Search:
        """Start a search on a sample."""

    def capacity(self, sample: Sample) -> Capacity | None:
        return None


@dataclass(frozen=True)
class FunctionLearner(Learner):
    """Call ``function(X, y, weights)``; y is in {-1, +1} and the weights sum to one.

    A ``function(X, y)`` gets rows drawn by the weights, or all of them if the weights are equal. It
    returns a hypothesis of pacboost, a function of rows, or an object with ``predict``. With
    more than two classes, y and the answers are class numbers, 0 to K - 1.
    """

    name: ClassVar[str] = "function"
    sparse = True
    reads_given: ClassVar[bool] = True

    function: Callable[..., Any]

    def on(self, sample: Sample) -> FunctionSearch:
        return FunctionSearch(sample, self.function)


@dataclass(frozen=True)
class FunctionSearch(Search):
    """The function at work on one sample."""

    sample: Sample
    function: Callable[..., Any]

    def find(self, weights: Weights, answers: NDArray[Any], seed: int) -> Hypothesis:
        rows = self.sample.sparse_rows
        name = getattr(self.function, "__name__", type(self.function).__name__)
        with raised_by(f"the weak learner {name}", self.sample.n_rows):
            # weights, if it takes them, are exact; rows drawn by weight are not
            if accepts(self.function, 3):
                rule = self.function(rows, answers, weights / weights.sum())
            elif np.ptp(weights) == 0:  # a draw would only add noise
                rule = self.function(rows, answers)
            else:
                chosen = draw(weights, weights.size, np.random.default_rng(seed))
                rule = self.function(some_rows(rows, chosen), answers[chosen])
        if isinstance(rule, Hypothesis):
            return rule
        answer = getattr(rule, "predict", rule)
        if not callable(answer):
            raise ParameterError(
                f"the weak learner returned {type(rule).__name__}; it has to return a function of "
                "rows that gives a positive number for +1, or an object with such a predict"
            )
        words = getattr(rule, "__name__", type(rule).__name__)
        if hasattr(self.function, "__name__"):
            words += f" of {self.function.__name__}"
        names = self.sample.answers
        if self.sample.labels is not None:
            classes = self.sample.signs.shape[1]
            return ClassFunction(answer, classes, words, rule, sparse=True, names=names)
        return Function(answer, words, rule, sparse=True, classes=names)


@contextmanager
def raised_by(whose: str, rows: int) -> Iterator[None]:
    """Raise what code of a user raises as ``LearnerError``, which says whose code it was."""
    try:
        yield
    except PacboostError:
        raise
    except Exception as problem:  # code of a user may raise anything
        raise LearnerError(
            f"{whose} raised {type(problem).__name__} on {rows:,} rows: {problem}"
        ) from problem


def accepts(function: Callable[..., Any], arguments: int) -> bool:
    """Check whether a function can be called with this number of arguments."""
    try:
        signature(function).bind(*[None] * arguments)
    except TypeError:
        return False
    except ValueError:  # a function of C may have no signature
        return True
    return True
