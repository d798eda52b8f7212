"""AdaBoost (Freund and Schapire 1997; Schapire and Singer 1999).

A rule of edge r gets the vote

    ½ ln((1 + r)/(1 - r)) = ½ ln((1 - error)/error)

which minimises Z_t = Σ D_t(i) exp(-vote·y_i h(x_i)), and then Z_t = √(1 - r²). Confidence-rated,
each cell of the rule gets a vote of its own, ½ ln((W₊ + s)/(W₋ + s)) for the weights of the two
signs in it, and Z_t = 2 Σ √(W₊W₋) but for the smoothing s. A learning rate or a cap changes the
votes; training error ≤ ∏ Z_t holds for any votes, with the Z_t they really had.

More than two classes, by ``multiclass``:

* "mh": every pair of row and class is a binary problem. Hamming loss ≤ ∏ Z_t, and the error of the
  class with the largest score is at most (K/2) ∏ Z_t.
* "m1": a rule names a class and is right or wrong; error ≤ ∏ Z_t, but it needs errors below 1/2.
* "samme" (Zhu et al. 2009): as "m1" with ½ ln(K - 1) more vote, so that errors below 1 - 1/K do.
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
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.kernels import update
from pacboost.kernels.runtime.team import team_for, together
from pacboost.numerics.exact import FRESH_TOTAL, MAX_TOTAL, MAX_VOTE, round_vote
from pacboost.numerics.memory import in_host_memory
from pacboost.numerics.same_bits import log, log_sum_exp
from pacboost.samples.sample import Request, Signs, Sums

# Weights of boosters whose potential is exp(-margin), in the log domain and in whole numbers.
#
# D_t(i) ∝ base(i)·exp(-margin_i). Whatever a rule adds to the margins, 1[margin ≤ 0] ≤
# exp(-margin), and the mean of exp(-margin) under D_1 is ∏ Z_t with Z_t = Σ D_t(i) exp(-what round
# t added): the training error is at most that product, for any rules and votes (Schapire and Singer
# 1999).

LEAST_TOTAL = FRESH_TOTAL * 2**-0.5


@dataclass(frozen=True, eq=False)
class ExponentialState:
    """Margins and weights of every row, the votes, and the scale that makes weights whole."""

    signs: Signs
    margins: Floats
    weights: NDArray[np.int64]
    log_base: Floats
    """One for each row and output, or a single one for all."""
    log_scale: float
    """Like margins and base weights a multiple of the vote unit, so that their sums are exact."""
    total: int = 0
    """The exact sum of the weights, between 2**51.5 and 2**53."""
    total_vote: float = 0.0
    cast: list[float] = field(default_factory=list)
    extra: tuple[float, ...] = ()
    """Further numbers that a booster needs to choose its votes."""


class ExponentialWeights(Booster[ExponentialState]):
    """What all boosters with this potential share; a subclass defines the votes."""

    potential: ClassVar[str] = "exponential"
    criterion: ClassVar[str] = "z"

    def init(self, signs: Signs, base: Floats, targets: Floats | None = None) -> ExponentialState:
        """Start with D_1 proportional to the base weights.

        A base weight below one unit, 2**-52 of all, counts as one: D_1 is then one and the same
        distribution for the weights, for the bound and for the training error.
        """
        own, mass = by_output(base, signs)
        state = ExponentialState(
            signs=signs,
            margins=np.zeros_like(signs, dtype=np.float64, order="C"),
            weights=np.zeros_like(signs, dtype=np.int64, order="C"),
            log_base=whole_values(log(np.maximum(own, mass / FRESH_TOTAL))),
            log_scale=round_vote(math.log(FRESH_TOTAL) - math.log(mass)),
        )
        return self._weigh(state)

    def request(self, state: ExponentialState) -> Request:
        return Request(state.weights, state.signs, state.total, state.total, self.criterion)

    def step(self, state: ExponentialState, agree: Agreement, found: Measured) -> ExponentialState:
        return self._cast(state, agree, self.vote(found), found.error)

    def _cast(
        self, state: ExponentialState, agree: Agreement, vote: float, error: float
    ) -> ExponentialState:
        """Add the vote of a rule with this error to the margins, and compute the new weights.

        Only ratios matter, so either the right rows may keep their weight and the wrong ones grow,
        or the wrong ones keep theirs and the right ones shrink. Taking whichever keeps the total in
        range changes about half of the rows a round, which is what costs learners time.
        """
        state.cast.append(vote)
        grown = state.total * (1 + error * math.expm1(2 * vote))
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
            update.exponential_cells, moved.cells, moved.values, state.signs, state.log_base,
            state.log_scale + state.total_vote, state.margins, state.weights, totals,
            at_most=len(totals),
        )  # fmt: skip
        return self._in_range(replace(state, total=int(totals.sum())))

    def vote(self, found: Measured) -> float:
        """Return the vote of a rule that answers -1 or +1."""
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
        """Compute all weights; if their total is out of range, do so again with another scale."""
        return self._in_range(replace(state, total=_weigh_once(state, agree, vote)))

    def _in_range(self, state: ExponentialState) -> ExponentialState:
        """Choose another scale if the total is out of range.

        The range is left when votes are large (a learning rate above 1), or when most of the
        weight sits on rows of a few units, whose rounding a prediction cannot see.
        """
        if not LEAST_TOTAL <= state.total <= MAX_TOTAL:
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
        update.exponential, flat, vote, state.total_vote, state.log_base, state.log_scale,
        margins, weights, totals, at_most=len(totals),
    )  # fmt: skip
    return int(totals.sum())


WAYS = ("mh", "m1", "samme")


@dataclass(frozen=True)
class AdaBoost(ExponentialWeights):
    """The rules of AdaBoost; ``learning_rate`` scales votes, ``max_vote`` caps them.

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
    """The number of classes, which "samme" needs."""

    def __post_init__(self) -> None:
        check_rate("learning_rate", self.learning_rate)
        if not self.max_vote > 0:
            raise ParameterError(f"max_vote is {self.max_vote}; it must be above 0")
        if self.multiclass not in WAYS:
            raise ParameterError(
                f"multiclass is {self.multiclass!r}; it may be {', '.join(map(repr, WAYS))}"
            )
        if self.confidence_rated and self.multiclass != "mh":
            raise ParameterError(
                f"confidence_rated gives cells votes of their own, but multiclass="
                f"{self.multiclass!r} gives a rule one vote; set multiclass='mh'"
            )
        check_not_negative("smoothing", self.smoothing)

    @property
    def plain(self) -> bool:
        """A rule has one vote, unless the rules are confidence-rated."""
        return not self.confidence_rated

    @property
    def plain_votes(self) -> bool:
        """Votes are plain, unless they are scaled, capped, confidence-rated or raised by SAMME."""
        more = self.multiclass == "samme" and self.classes > 2
        return self.plain and self.learning_rate == 1 and self.max_vote >= MAX_VOTE and not more

    def for_classes(self, count: int) -> AdaBoost:
        return replace(self, classes=max(2, count))

    def vote(self, found: Measured) -> float:
        more = 0.5 * math.log(self.classes - 1) if self.multiclass == "samme" else 0.0
        best = self.learning_rate * (found.best_vote + more)
        return round_vote(min(best, self.max_vote, MAX_VOTE))

    def values(self, state: ExponentialState, sums: Sums, cells: Cells) -> CellValues:
        if self.plain:
            agreed = int(np.abs(sums.pulls).sum())
            found = Measured(sums.weight, (sums.weight - agreed) // 2)
            return np.sign(sums.pulls) * self.vote(found)
        smooth = self.smoothing * sums.weight / (sums.rows * sums.pulls.shape[1])
        plus = (sums.weights + sums.pulls) / 2 + smooth
        minus = (sums.weights - sums.pulls) / 2 + smooth
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = 0.5 * log(plus / minus)
        votes = np.nan_to_num(logs, nan=0.0, posinf=MAX_VOTE, neginf=-MAX_VOTE)
        cap = min(self.max_vote, MAX_VOTE)
        return whole_values(np.clip(self.learning_rate * votes, -cap, cap))
