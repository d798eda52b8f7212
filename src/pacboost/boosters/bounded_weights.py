"""Boosters whose weights are probabilities, so that they need no stored sample.

Draw an example, and accept it with a probability equal to its weight: the accepted examples are a
sample of D_t (the ``Filter`` of lecture 003). This needs weights in [0, 1] for any rules that
depend on the example and the vote alone. Then the mean weight μ is the share of accepted examples,
and if every row on which the vote is wrong or tied weighs at least 1/k,

    error ≤ k·μ,       D_t ≤ D/μ.

Both hold for any learner; only the number of rounds until μ is small depends on its edge.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import (
    Agreement,
    Booster,
    Floats,
    Measured,
    Moved,
    S,
    by_output,
    whole_values,
)
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Cells, CellValues, Hypothesis
from pacboost.kernels.native import native
from pacboost.kernels.threads import each_rows
from pacboost.numerics.checks import probability
from pacboost.numerics.exact import FRESH_TOTAL
from pacboost.numerics.same_bits import exp, log
from pacboost.samples.sample import Request, Sample, Signs, Sums


class FilteringBooster(Booster[S]):
    """A booster whose weights are probabilities of accepting drawn examples."""

    error_factor: ClassVar[float] = 1.0
    by_path: ClassVar[bool] = False
    """Whether weights depend on the path of a margin over rounds, not only on its last value."""
    rows_worth_a_thread: ClassVar[int] = 1
    """Minimum rows per thread: for fewer, ``chances`` is faster than waking another thread."""

    @property
    def rate(self) -> float:
        """If ``by_path``, the vote of every rule, so that h(x) is a cell's value over it."""
        return 1.0

    @abstractmethod
    def chances(self, margins: Floats, rounds: int, signs: Signs | None = None) -> Floats:
        """Return the probability of accepting each row, from its margins after ``rounds`` rounds.

        Margins y·F(x) are (rows,) or (rows, outputs). Of several outputs the largest weight counts,
        so that no weight of a row exceeds its probability. ``signs`` are those in the margins; only
        a softmax over more than two classes needs them.
        """

    def first_chance(self, outputs: int) -> float:
        """Return the weight of every row before the first round."""
        signs = np.ones((1, outputs), dtype=np.int8)
        # a row has one class: of its outputs only the first is positive
        signs[0, 1:] = -1
        if self.by_path:
            return float(exp(self.start((1, outputs)).max(keepdims=True)).item())
        return float(self.chances(np.zeros((1, outputs)), 0, signs).max())

    def coin_below(self, rounds: int) -> float:
        """Return the mean weight below which any rule suffices for the next round; 0 for never."""
        return 0.0

    def start(self, shape: tuple[int, ...]) -> Floats:
        """Return the log weights of rows before the first round."""
        return np.zeros(shape)

    def follow(
        self, log_weights: Floats, agree: NDArray[np.number[Any]], memory: Sequence[float]
    ) -> Floats:
        """Return the log weights after a round from those before it, if ``by_path``.

        ``agree`` holds y·h(x), for cells y·value/rate; ``memory`` is the memory of the booster
        after that round, which the ledger holds.
        """
        raise ParameterError(f"{self.name} weighs rows by their margins: call chances")

    def path(
        self,
        sample: Sample,
        rules: Sequence[Hypothesis],
        memories: Sequence[Sequence[float]],
        *,
        cells: bool,
    ) -> Floats:
        """Return the log weights of rows after some rounds; ``cells``: values include votes."""
        path = self.start(sample.signs.shape)
        for rule, memory in zip(rules, memories, strict=True):
            agree = rule.said(sample) * sample.signs / (self.rate if cells else 1.0)
            path = self.follow(path, agree, memory)
        return path

    def continue_on_other_rows(
        self, state: S, margins: Floats, votes: Sequence[float], log_weights: Floats | None = None
    ) -> S:
        """Turn a fresh state into one for rows that earlier rounds were not trained on.

        This is ``resume`` without a record of these rows: from their margins and, if ``by_path``,
        their log weights.
        """
        # no record: these rows were drawn after the rounds
        return self.resume(state, margins, votes, [])

    def most_rounds(self, edge: float, epsilon: float) -> float:
        """Bound the rounds of edge ``edge`` or more until the error is below ``epsilon``.

        For two classes; infinite if there is no theorem.
        """
        return math.inf


def heaviest(chances: Floats) -> Floats:
    """Return one probability for each row: the largest of its outputs."""
    return chances if chances.ndim == 1 else chances.max(axis=1)


Weights = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BoundedState:
    """Margins and weights of every row."""

    signs: Signs
    margins: Floats
    weights: Weights
    base: Floats
    """The first weights in the form of ``_fill``: one for each row and output, or one for all."""
    total: int = 0
    """The exact sum of the weights."""
    first: int = 0
    """The sum of the weights before the first round."""
    cast: list[float] = field(default_factory=list)
    log_weights: Floats | None = None
    """Log weights, if they depend on the path of the margin."""
    shift: float = 0.0
    """The number that the last round added to all log weights."""
    extra: tuple[float, ...] = ()
    """Further numbers that a booster needs."""


class OneVotePerRule(Booster[BoundedState]):
    """A booster that requests a rule with a large edge and gives it one final vote."""

    plain: ClassVar[bool] = True

    def request(self, state: BoundedState) -> Request:
        return Request(state.weights, state.signs, state.total, state.total, "error")


class BoundedWeights(FilteringBooster[BoundedState], OneVotePerRule):
    """Base class of boosters with weights in [0, 1], relative to the first weight of a row.

    A subclass defines the vote of a rule, and the weight of a row as a function of its margin. A
    rule gets one vote, a cell gets the sign of the weighted majority of its rows, and weights are
    integers of at least 1, so that a weighted error of 0 means that the rule made no mistake.
    """

    def init(self, signs: Signs, base: Floats, targets: Floats | None = None) -> BoundedState:
        weights_of_rows, mass = by_output(base, signs)
        state = BoundedState(
            signs=signs,
            margins=np.zeros(signs.shape),
            weights=np.empty(signs.shape, dtype=np.int64),
            # at least one unit each, or a row of tiny weight would count as never wrong
            base=self._based(np.maximum(weights_of_rows / mass * FRESH_TOTAL, 1.0)),
            log_weights=self.start(signs.shape) if self.by_path else None,
        )
        # the mean weight is relative to this sum: it is 1 before the first round
        state = self._weigh(state)
        return replace(state, first=state.total)

    @abstractmethod
    def vote(self, measured: Measured) -> float:
        """Return the vote of a rule."""

    def _based(self, units: Floats) -> Floats:
        """Convert the first weights, in whole units, into the base for ``_fill``."""
        return np.asarray(log(units))

    @abstractmethod
    def _fill(self, margins: Floats, base: Floats, rounds: int, weights: Weights) -> int:
        """Set the weights of some rows from their margins (or log weights); return their sum."""

    def values(self, state: BoundedState, sums: Sums, cells: Cells) -> CellValues:
        return whole_values(np.sign(sums.pulls) * self.vote(Measured.of_signs(sums)))

    def step(self, state: BoundedState, agree: Agreement, measured: Measured) -> BoundedState:
        vote = self.vote(measured)
        state.cast.append(vote)
        state.margins[:] += vote * agree
        return self._weigh(state)

    def move(self, state: BoundedState, moved: Moved) -> BoundedState:
        state.cast.append(1.0)
        state.margins[:] += state.signs * moved.values[moved.cells]
        return self._weigh(state)

    def _weigh(self, state: BoundedState) -> BoundedState:
        path_or_margins = state.margins if state.log_weights is None else state.log_weights
        margins, weights, base = path_or_margins.reshape(-1), state.weights.reshape(-1), state.base
        sums: list[int] = []

        def task(start: int, stop: int) -> None:
            base_of_part = base if base.size == 1 else base[start:stop]
            part = weights[start:stop]
            # threads append in any order; whole numbers have one sum
            sums.append(self._fill(margins[start:stop], base_of_part, len(state.cast), part))

        each_rows(task, weights.size)
        return replace(state, total=sum(sums))


def clipped_exponential(heights: Floats, log_base: Floats, weights: Weights) -> int:
    """Set weights to base·min(1, exp(-height)), at least one unit, and return their sum."""
    return int(native.clipped_weights(heights, log_base, weights))


def round_weights(values: Floats, weights: Weights) -> int:
    """Set weights to the rounded values, at least one unit, and return their sum."""
    # 0 would make a wrong row invisible, and an error of 0 must mean no mistake
    np.maximum(np.rint(values), 1, out=weights, casting="unsafe")
    return int(weights.sum())


def mean_weight_below(state: BoundedState, epsilon: float) -> str | None:
    """Return the reason to stop once the mean weight, from 1 at the start, is below epsilon."""
    if state.total < epsilon * state.first:
        return f"the mean weight, and so the training error, is below {epsilon:g}"
    return None


@dataclass(frozen=True)
class Promised(BoundedWeights):
    """A booster with bounded weights for a promised ``edge`` and an error of ``epsilon``."""

    edge: float = 0.1
    epsilon: float = 0.05

    def __post_init__(self) -> None:
        probability("edge", self.edge)
        probability("epsilon", self.epsilon)

    @property
    def promise(self) -> float:
        """The promised edge."""
        return self.edge

    @property
    def promised_rounds(self) -> float:
        """The bound on rounds for the promised edge."""
        return self.most_rounds(self.edge, self.epsilon)
