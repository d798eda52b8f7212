"""AdaBoost (Freund and Schapire 1997; Schapire and Singer 1999), and exponential weights.

D_t(i) ∝ base(i)·exp(-margin_i), in the log domain and in whole numbers. For any rules and votes,
1[margin ≤ 0] ≤ exp(-margin), and the mean of exp(-margin) under D_1 is ∏ Z_t with

    Z_t = Σ D_t(i) exp(-(margin that round t adds to row i)),       training error ≤ ∏ Z_t.

A rule of edge r gets the vote

    ½ ln((1 + r)/(1 - r)) = ½ ln((1 - error)/error)

which minimises Z_t, and then Z_t = √(1 - r²). Confidence-rated, each cell of the rule gets a vote
½ ln((W₊ + s)/(W₋ + s)) for the weights of the two signs in it, and Z_t = 2 Σ √(W₊W₋) except for
the smoothing s. A learning rate or a cap changes the votes, and Z_t is that of the changed votes.

More than two classes, by ``multiclass``:

* "mh": every pair of row and class is a binary problem. Hamming loss ≤ ∏ Z_t, and the error of the
  class with the largest score is at most (K/2) ∏ Z_t.
* "m1": a rule predicts a class and is right or wrong; error ≤ ∏ Z_t, but it needs errors below 1/2.
* "samme" (Zhu et al. 2009): as "m1" with ½ ln(K - 1) added to votes, so that errors below 1 - 1/K
  suffice.
  Its stage factors bound no training error for K ≥ 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import (
    Agreement,
    Booster,
    Floats,
    Measured,
    Moved,
    by_output,
    check_not_negative,
    check_rate,
    whole_values,
)
from pacboost.boosters.multiclass import OF_ADABOOST, method_of
from pacboost.errors import ParameterError, invalid
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.kernels.native import native
from pacboost.kernels.team import team_for, together
from pacboost.numerics.exact import FRESH_TOTAL, MAX_TOTAL, MAX_VOTE, round_vote
from pacboost.numerics.memory import in_host_memory
from pacboost.numerics.same_bits import log, log_sum_exp
from pacboost.samples.sample import Request, Signs, Sums

MIN_TOTAL = FRESH_TOTAL * 2**-0.5


@dataclass(frozen=True, eq=False)
class ExponentialState:
    """Margins and weights of every row, the votes, and the scale that makes weights whole."""

    signs: Signs
    margins: Floats
    weights: NDArray[np.int64]
    log_base: Floats
    """Log weights, one for each row and output or one for all."""
    log_scale: float
    """A multiple of the vote unit, like margins and base weights, so that sums are exact."""
    total: int = 0
    """The exact sum of the weights, between 2**51.5 and 2**53."""
    total_vote: float = 0.0
    cast: list[float] = field(default_factory=list)
    extra: tuple[float, ...] = ()
    """Further numbers from which a booster chooses its votes."""


class ExponentialWeights(Booster[ExponentialState]):
    """Base class of boosters with the exponential potential; a subclass defines the votes."""

    potential: ClassVar[str] = "exponential"
    criterion: ClassVar[str] = "z"

    def init(self, signs: Signs, base: Floats, targets: Floats | None = None) -> ExponentialState:
        """Start with D_1 proportional to the base weights.

        A base weight below one unit, 2**-52 of the total, counts as one unit, so that the weights,
        the bound and the training error use the same D_1.
        """
        weights_of_rows, mass = by_output(base, signs)
        state = ExponentialState(
            signs=signs,
            margins=np.zeros_like(signs, dtype=np.float64, order="C"),
            weights=np.zeros_like(signs, dtype=np.int64, order="C"),
            log_base=whole_values(log(np.maximum(weights_of_rows, mass / FRESH_TOTAL))),
            log_scale=round_vote(math.log(FRESH_TOTAL) - math.log(mass)),
        )
        return self._weigh(state)

    def request(self, state: ExponentialState) -> Request:
        return Request(state.weights, state.signs, state.total, state.total, self.criterion)

    def step(
        self, state: ExponentialState, agree: Agreement, measured: Measured
    ) -> ExponentialState:
        return self._cast(state, agree, self.vote(measured), measured.error)

    def _cast(
        self, state: ExponentialState, agree: Agreement, vote: float, error: float
    ) -> ExponentialState:
        """Add the vote of a rule with this error to the margins, and compute the new weights.

        Only ratios matter, so either the weights of wrong rows grow or those of right rows shrink.
        The choice that keeps the total in range changes about half of the rows in a round, and
        learners spend time on every changed row.
        """
        state.cast.append(vote)
        grown = state.total * (1 + error * math.expm1(2 * vote))
        # 1 % of room: rounding to whole units may add a little to the predicted total
        shift = 0.0 if grown <= 0.99 * MAX_TOTAL else -2 * vote
        return self._weigh(
            replace(state, total_vote=state.total_vote + vote, log_scale=state.log_scale + shift),
            agree,
            vote,
        )

    def move(self, state: ExponentialState, moved: Moved) -> ExponentialState:
        state.cast.append(1.0)
        shift = round_vote(math.log(FRESH_TOTAL / state.total) - math.log(moved.normaliser))
        state = replace(state, log_scale=state.log_scale + shift)
        totals = np.zeros((team_for(state.signs.size), 1), dtype=np.int64)
        together(
            native.exponential_cells, moved.cells, moved.values, state.signs, state.log_base,
            state.log_scale + state.total_vote, state.margins, state.weights, totals,
            at_most=len(totals),
        )  # fmt: skip
        return self._in_range(replace(state, total=int(totals.sum())))

    def vote(self, measured: Measured) -> float:
        raise NotImplementedError

    def memory(self, state: ExponentialState) -> list[float]:
        """Return the scale, which depends on all earlier totals, and the sum of the votes."""
        return [state.log_scale, state.total_vote, *state.extra]

    def resume(
        self, state: ExponentialState, margins: Floats, votes: Sequence[float], memory: list[float]
    ) -> ExponentialState:
        log_scale, total_vote, *extra = memory
        state = replace(state, total_vote=total_vote, log_scale=log_scale, extra=tuple(extra))
        return super().resume(state, margins, votes, memory)

    def _weigh(
        self, state: ExponentialState, agree: Agreement | None = None, vote: float = 0.0
    ) -> ExponentialState:
        """Compute all weights; if their total is out of range, repeat with another scale."""
        return self._in_range(replace(state, total=_weigh_once(state, agree, vote)))

    def _in_range(self, state: ExponentialState) -> ExponentialState:
        """Choose another scale if the total is out of range.

        The total leaves the range if votes are large (a learning rate above 1), or if most of the
        weight is on rows of a few units, whose rounding the prediction of the total ignores.
        """
        if not MIN_TOTAL <= state.total <= MAX_TOTAL:
            # logs of all weights, not weights: exp of a margin of some hundreds would overflow
            logs = state.total_vote - in_host_memory(state.margins).reshape(-1) + state.log_base
            fresh = round_vote(math.log(FRESH_TOTAL) - float(log_sum_exp(logs[None])[0]))
            state = replace(state, log_scale=fresh)
            state = replace(state, total=_weigh_once(state, None, 0.0))
        return state


def _weigh_once(state: ExponentialState, agree: Agreement | None, vote: float) -> int:
    margins, weights = state.margins.reshape(-1), state.weights.reshape(-1)
    flat = np.zeros_like(state.signs).reshape(-1) if agree is None else agree.reshape(-1)
    totals = np.zeros((team_for(weights.size), 1), dtype=np.int64)
    together(
        native.exponential, flat, vote, state.total_vote, state.log_base, state.log_scale,
        margins, weights, totals, at_most=len(totals),
    )  # fmt: skip
    return int(totals.sum())


@dataclass(frozen=True)
class AdaBoost(ExponentialWeights):
    """Rows weigh exp(-margin); a rule of error ε gets the vote ½ ln((1 - ε)/ε), or ``max_vote``.

    >>> rules = AdaBoost()
    >>> state = rules.init(np.ones((4, 1), dtype=np.int8), np.ones(1))
    >>> agree = np.array([[1], [1], [1], [-1]], dtype=np.int8)    # error 1/4, edge 1/2
    >>> state = rules.step(state, agree, Measured(total=4, wrong=1))
    >>> round(float(rules.votes(state)[0]), 4)                    # ½ ln 3
    0.5493
    >>> weights = rules.request(state).weights
    >>> (weights[:, 0] / weights.sum()).round(4).tolist()         # the wrong row now weighs half
    [0.1667, 0.1667, 0.1667, 0.5]
    """

    name: ClassVar[str] = "adaboost"
    title: ClassVar[str] = "AdaBoost"
    on_gpu: ClassVar[bool] = True

    learning_rate: float = 1.0
    max_vote: float = MAX_VOTE
    confidence_rated: bool = False
    multiclass: str = "mh"
    smoothing: float = 0.5
    """The s of confidence-rated votes, in rows of mean weight."""
    classes: int = 2

    def __post_init__(self) -> None:
        check_rate("learning_rate", self.learning_rate)
        if not self.max_vote > 0:
            raise invalid("max_vote", self.max_vote, "must be above 0")
        if self.multiclass not in OF_ADABOOST:
            methods = ", ".join(map(repr, OF_ADABOOST))
            raise invalid("multiclass", self.multiclass, f"may be {methods}")
        if self.confidence_rated and method_of(self.multiclass).names_class:
            raise ParameterError(
                f"confidence_rated needs a vote for each cell, but multiclass={self.multiclass!r} "
                "has one for each rule; set multiclass='mh'"
            )
        check_not_negative("smoothing", self.smoothing)

    @property
    def plain(self) -> bool:
        return not self.confidence_rated

    @property
    def plain_votes(self) -> bool:
        """False if votes are scaled, capped, confidence-rated or raised by SAMME."""
        raised = method_of(self.multiclass).guesses and self.classes > 2
        return self.plain and self.learning_rate == 1 and self.max_vote >= MAX_VOTE and not raised

    def for_classes(self, count: int) -> AdaBoost:
        return replace(self, classes=max(2, count))

    def vote(self, measured: Measured) -> float:
        # SAMME: a guess among K classes is right with 1/K, so the vote is 0 there and not at 1/2
        addition = 0.5 * math.log(self.classes - 1) if method_of(self.multiclass).guesses else 0.0
        best = self.learning_rate * (measured.best_vote + addition)
        return round_vote(min(best, self.max_vote, MAX_VOTE))

    def values(self, state: ExponentialState, sums: Sums, cells: Cells) -> CellValues:
        if self.plain:
            return np.sign(sums.pulls) * self.vote(Measured.of_signs(sums))
        # ½ of a row on both sides keeps the vote of a pure cell finite (Schapire and Singer 1999)
        smooth = self.smoothing * sums.weight / (sums.rows * sums.pulls.shape[1])
        plus = (sums.weights + sums.pulls) / 2 + smooth
        minus = (sums.weights - sums.pulls) / 2 + smooth
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = 0.5 * log(plus / minus)
        # an empty cell has 0/0, and without smoothing a pure one a logarithm of 0 or infinity
        votes = np.nan_to_num(logs, nan=0.0, posinf=MAX_VOTE, neginf=-MAX_VOTE)
        cap = min(self.max_vote, MAX_VOTE)
        return whole_values(np.clip(self.learning_rate * votes, -cap, cap))
