"""The interface of a booster.

In every round the boosting loop (in ``pacboost.training``) calls these methods in this order:

    request = booster.request(state)              weights (and pulls) of the rows for the learner
    values = booster.values(state, sums, cells)   the value that each cell adds to the scores
    state = booster.move(state, moved)            the state after these values were added
    reason = booster.stop(state)                  a reason to stop, or None

A rule that answers -1 or +1 gets one vote, and ``step`` replaces ``values`` and ``move``. Arrays
have the shape (rows, outputs); two classes need one output. All sums over rows are sums of
integers, so that an error of one unit in 2^52 keeps all its digits. A state belongs to one run:
``step`` and ``move`` may reuse its arrays, and the state passed in must not be used afterwards.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.link import Link
from pacboost.errors import ParameterError, invalid
from pacboost.hypotheses.hypothesis import Cells, CellValues, Hypothesis
from pacboost.hypotheses.vote import Vote
from pacboost.numerics.exact import VOTE_UNIT
from pacboost.numerics.same_bits import total
from pacboost.samples.sample import Request, Signs, Sums

MAX_GROWN_RATE = 0.3
"""Maximum learning rate that shorter steps grow to."""

Agreement = NDArray[np.int8]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """The total weight of the rows, and the weight of those on which the rule was wrong."""

    total: int
    wrong: int

    @classmethod
    def of_signs(cls, sums: Sums) -> Measured:
        """Measure a rule that gives every cell the sign of the weighted majority of its rows."""
        return cls(sums.weight, (sums.weight - int(np.abs(sums.pulls).sum())) // 2)

    @property
    def error(self) -> float:
        return self.wrong / self.total

    @property
    def edge(self) -> float:
        """1 - 2·error, rounded once."""
        # 1 - 2·error would round twice, and lose the digits of a small edge
        return (self.total - 2 * self.wrong) / self.total

    @property
    def best_vote(self) -> float:
        """½ ln((1 - error)/error), infinite for a rule without mistakes."""
        if self.wrong == 0:
            return math.inf
        return 0.5 * math.log((self.total - self.wrong) / self.wrong)


@dataclass(frozen=True, eq=False)
class Moved:
    """The values that a round added to the scores: one for each cell, and the cell of each row."""

    cells: Cells
    values: CellValues
    normaliser: float
    """The factor of the round on the mean potential, if the sums determine it; otherwise 1."""
    rows: NDArray[np.intp] | None = None
    """The rows whose cell has a value other than 0, if only those change; None for all rows."""


class State(Protocol):
    """The part of a booster's state that the loop reads."""

    @property
    def margins(self) -> Floats:
        """The margin y·F(x) of every row so far, (rows, outputs); in regression F(x)."""

    @property
    def cast(self) -> list[Any]:
        """The votes in order; 1 for each round with one value per cell."""


@dataclass(frozen=True, eq=False)
class Witness:
    """Whole weights of rows, the kind of each, and for every rule its agreement with each kind."""

    weights: NDArray[np.int64]
    kinds: NDArray[np.intp]
    columns: NDArray[np.int8]


S = TypeVar("S", bound=State)


class Booster(ABC, Generic[S]):
    """A boosting algorithm: a small frozen object without state.

    The registry finds a subclass in a file of ``pacboost/boosters`` by its name. Subclasses declare
    optional capabilities: ``RevisingBooster`` and ``FilteringBooster``.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""
    """The name of the algorithm in reports; empty to derive it from ``name``."""
    potential: ClassVar[str]
    """The function of the margin whose slope gives the weights; bounds depend on it."""
    link: ClassVar[Link] = Link.NONE
    """How scores become predictions, if the booster predicts numbers."""
    revises: ClassVar[bool] = False
    """Whether a round may change the votes of earlier rounds: true of every RevisingBooster."""
    error_factor: ClassVar[float] = 0.0
    """error ≤ error_factor · mean weight, for any rules; 0 for boosters without such a bound."""
    on_gpu: ClassVar[bool] = False
    """Whether the arrays of its state may stay in GPU memory."""

    @property
    def plain(self) -> bool:
        """Whether a rule gets one vote, the same in all its cells except for the sign."""
        return False

    @property
    def prior(self) -> bool:
        """Whether the first round is a constant, fitted without features."""
        return False

    @property
    def multiclass(self) -> str:
        """The method for more than two classes.

        "pairs": every pair of row and class is a binary problem; "m1" and "samme": a rule predicts
        a class and is right or wrong; "softmax": all classes at once; "two": only two classes are
        supported. AdaBoost calls its pairs "mh".
        """
        return "pairs"

    @property
    def last_round(self) -> float:
        """The number of rounds, if it is fixed in advance; otherwise infinite."""
        return math.inf

    @property
    def floor(self) -> float:
        """∏ Z_t bounds the error only if the error is above this."""
        return 0.0

    @property
    def plain_votes(self) -> bool:
        """Whether every vote is ½ ln((1 - error)/error), so that Z_t = √(1 - edge²)."""
        return False

    def for_classes(self, count: int) -> Booster[S]:
        """Return the booster for this number of classes; most boosters do not depend on it."""
        return self

    @abstractmethod
    def init(self, signs: Signs, base: Floats, targets: Floats | None = None) -> S:
        """Start on signs (rows, outputs) with base weights: one per row, or one for all.

        ``targets`` are the numbers to predict, in regression.
        """

    def check_targets(self, targets: Floats, name: str) -> None:
        """Raise DataError if the loss is not defined for the targets, which are called ``name``."""

    def unit(self, state: S) -> float:
        """Return the unit that all values are multiples of, so that scores add up exactly."""
        return VOTE_UNIT

    @abstractmethod
    def request(self, state: S) -> Request:
        """Return integer weights, and pulls if they differ from the signs."""

    @abstractmethod
    def values(self, state: S, sums: Sums, cells: Cells) -> CellValues:
        """Return the value that each cell adds to the scores, (cells, outputs)."""

    @abstractmethod
    def move(self, state: S, moved: Moved) -> S:
        """Return the state after the cells added their values."""

    def step(self, state: S, agree: Agreement, measured: Measured) -> S:
        """Return the state after a rule that answers -1 or +1; ``agree`` holds y·h(x)."""
        raise ParameterError(f"{self.name} gives values to cells, not votes to rules")

    def memory(self, state: S) -> list[float]:
        """Return the numbers for the ledger that ``resume`` needs besides votes and margins."""
        return []

    def resume(self, state: S, margins: Floats, votes: Sequence[float], memory: list[float]) -> S:
        """Turn a fresh state into the last state of an earlier run, to continue exactly.

        ``votes``, ``memory`` and ``margins`` are those of the last round of that run.
        """
        # in place: the array may lie on a GPU
        state.margins[...] = np.asarray(margins, like=state.margins)
        state.cast.extend(votes)
        return self._weigh(state)

    def _weigh(self, state: S) -> S:
        """Return the state with the weights that follow from its margins."""
        raise NotImplementedError

    def votes(self, state: S) -> Floats:
        return np.array(state.cast)

    def votes_after(self, state: S, rounds: int) -> Floats:
        return self.votes(state)[:rounds]

    def share_of(self, state: S) -> float | None:
        """Return the share of the worst rows whose mean margin is maximised; 0 for the worst row.

        None for boosters that do not maximise a margin. Otherwise the loop records that margin and
        a bound on its distance from the largest one.
        """
        return None

    def costs(self, margins: Floats, rounds: int) -> Floats:
        """Return the cost of each margin after ``rounds`` rounds: at least 1 if it is 0 or less.

        The loop calls this only for boosters with a potential that has no kernel.
        """
        raise ParameterError(f"{self.name} has no method costs; a kernel computes its potential")

    def costs_now(self, state: S, margins: Floats, rounds: int) -> Floats:
        """Return the costs, for boosters whose costs depend on the state too."""
        return self.costs(margins, rounds)

    def final(self, state: S, rules: Sequence[Hypothesis], outputs: int) -> Vote:
        """Return the final classifier of the first rules of a run: by default, their vote."""
        # early stopping asks for fewer rules than there are
        return Vote(rules, self.votes_after(state, len(rules)), outputs)

    def last_vote(self, state: S) -> float:
        return float(state.cast[-1])

    def stop(self, state: S) -> str | None:
        """Return a reason to stop, or None to continue."""
        return None

    @property
    def promise(self) -> float:
        """The edge that every rule is promised to have; 0 without a promise."""
        return 0.0

    @property
    def promised_rounds(self) -> float:
        """The number of rounds in which ``stop`` gives a reason if every rule keeps the promise."""
        return math.inf

    def is_promise_broken(self, state: S) -> bool:
        """Check whether a rule is worse than was promised, so that the run stops early."""
        return False

    def witness(self, state: S, *, found: bool) -> Witness | None:
        """Return weights of rows under which no rule that was found has the promised edge, if any.

        ``found`` says whether the learner found a rule under the last weights.
        """
        return None


def whole_values(values: Floats, unit: float = VOTE_UNIT) -> CellValues:
    """Round values to multiples of a unit, so that scores add up exactly."""
    rounded: CellValues = np.rint(values / unit) * unit
    return rounded


def by_output(base: Floats, signs: Signs) -> tuple[Floats, float]:
    """Return base weights, one for each row and output or one for all, and their sum over rows."""
    rows, outputs = signs.shape
    # one weight for all rows stays one number: most fits have no weights
    weights = base if outputs == 1 or base.size == 1 else np.repeat(base, outputs)
    return weights, total(weights) if weights.size > 1 else float(weights[0]) * rows * outputs


def numbers_for(booster: Booster[Any], targets: Floats | None) -> Floats:
    """Return the targets of a regression; raise ParameterError if there are none."""
    if targets is None:
        raise ParameterError(
            f"{booster.name} is for regression and needs numbers to predict; for classes use "
            "another booster, such as logit",
            parameter="booster",
        )
    return targets


def edge_of(request: Request, moved: Moved) -> float:
    """Return the edge of cells under the weights of a request."""
    # a whole-number sum, so that the recorded edge has the same bits for any number of threads
    right = request.pulls * np.sign(moved.values).astype(np.int8)[moved.cells]
    return int((request.weights * right).sum()) / request.weight


MAX_RATE = 1e9


def check_rate(name: str, value: float) -> None:
    """Raise ParameterError unless a number is above 0 and at most ``MAX_RATE``."""
    if not 0 < float(value) <= MAX_RATE:
        raise invalid(name, value, f"must be above 0 and at most {MAX_RATE:g}")


def check_not_negative(name: str, value: float) -> None:
    """Raise ParameterError unless a number is finite and not negative."""
    if not (math.isfinite(value) and value >= 0):
        raise invalid(name, value, "must be 0 or more")


def check_shrinkage(name: str, value: float) -> None:
    """Raise ParameterError unless a number lies in (0, 1], so that the loss never rises."""
    if not 0 < value <= 1:
        rule = "must lie in (0, 1]: a step longer than the best one can raise the loss"
        raise invalid(name, value, rule)


def grown(learning_rate: float, rounds: int, grows_after: float) -> float:
    """Return the learning rate after some rounds: past ``grows_after`` it grows in proportion.

    A vote that still improves after many short steps is far from its end, and longer ones get it
    there in fewer rounds (docs/decisions/0035).

    >>> [round(grown(0.05, rounds, 300), 4) for rounds in (0, 300, 600, 1_200, 10_000)]
    [0.05, 0.05, 0.1, 0.2, 0.3]
    """
    longer = min(MAX_GROWN_RATE, learning_rate * (rounds / grows_after))
    return max(learning_rate, longer)


class RevisingBooster(Booster[S]):
    """A booster that may change the votes of earlier rounds, as totally corrective boosters do.

    A resumed run replays all earlier rounds, one by one.
    """

    revises: ClassVar[bool] = True

    @abstractmethod
    def recall(self, state: S, agree: Agreement, memory: list[float]) -> S:
        """Return the state after one round of an earlier run; ``resume`` is called last."""
