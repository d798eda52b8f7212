"""AdaBoost (Freund and Schapire 1997), in the log domain and in whole numbers.

Potential exp(-margin), so D_t(i) ∝ base(i)·exp(-margin_i). A rule of edge r gets the vote

    ½ ln((1 + r)/(1 - r)) = ½ ln((1 - error)/error)

which minimises Z_t = Σ D_t(i) exp(-vote·y_i h(x_i)), and then Z_t = √(1 - r²). A learning rate or a
cap changes the vote; training error ≤ ∏ Z_t holds for any vote, with the Z_t it really had.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from pacboost.boosters.booster import Agreement, Booster, Measured
from pacboost.errors import ParameterError
from pacboost.kernels import update
from pacboost.kernels.threads import each_rows
from pacboost.numerics.exact import FRESH_TOTAL, MOST_TOTAL, MOST_VOTE, VOTE_UNIT, round_vote

LEAST_TOTAL = FRESH_TOTAL * 2**-0.5


@dataclass(frozen=True, eq=False)
class AdaBoostState:
    """Margins and weights of every row, the votes, and the scale that makes weights whole."""

    margins: NDArray[np.float64]
    weights: NDArray[np.int64]
    log_base: NDArray[np.float64]
    log_scale: float
    """Like margins and base weights a multiple of the vote unit, so that their sums are exact."""
    total: int = 0
    """The exact sum of the weights, between 2**51.5 and 2**53."""
    total_vote: float = 0.0
    cast: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class AdaBoost(Booster[AdaBoostState]):
    """The rules of AdaBoost; ``learning_rate`` scales votes, ``max_vote`` caps them.

    >>> rules = AdaBoost()
    >>> state = rules.init((4, 1), np.ones(1))
    >>> agree = np.array([[1], [1], [1], [-1]], dtype=np.int8)    # error 1/4, edge 1/2
    >>> state = rules.step(state, agree, Measured(total=4, wrong=1))
    >>> round(float(rules.votes(state)[0]), 4)                    # ½ ln 3
    0.5493
    >>> weights, _ = rules.request(state)
    >>> (weights[:, 0] / weights.sum()).round(4).tolist()         # the wrong row now weighs half
    [0.1667, 0.1667, 0.1667, 0.5]
    """

    name: ClassVar[str] = "adaboost"
    potential: ClassVar[str] = "exponential"

    learning_rate: float = 1.0
    max_vote: float = MOST_VOTE

    def __post_init__(self) -> None:
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise ParameterError(f"learning_rate is {self.learning_rate}; it must be above 0")
        if not self.max_vote > 0:
            raise ParameterError(f"max_vote is {self.max_vote}; it must be above 0")

    @property
    def plain_votes(self) -> bool:
        """They are, unless scaled or capped."""
        return self.learning_rate == 1 and self.max_vote >= MOST_VOTE

    def init(self, shape: tuple[int, int], base: NDArray[np.float64]) -> AdaBoostState:
        """Start with D_1 proportional to the base weights.

        A base weight below one unit, 2**-52 of all, counts as one: D_1 is then one and the same
        distribution for the weights, for the bound and for the training error.
        """
        rows, classes = shape
        own = base if classes == 1 or base.size == 1 else np.repeat(base, classes)
        mass = float(own.sum()) if own.size > 1 else float(own[0]) * rows * classes
        log_base = np.maximum(own, mass / FRESH_TOTAL)
        np.log(log_base, out=log_base)
        log_base /= VOTE_UNIT
        np.rint(log_base, out=log_base)
        log_base *= VOTE_UNIT
        state = AdaBoostState(
            margins=np.zeros(shape),
            weights=np.empty(shape, dtype=np.int64),
            log_base=log_base,
            log_scale=round_vote(math.log(FRESH_TOTAL / mass)),
        )
        return self._weigh(state, None, 0.0)

    def request(self, state: AdaBoostState) -> tuple[NDArray[np.int64], None]:
        """Ask for a rule under D_t."""
        return state.weights, None

    def step(self, state: AdaBoostState, agree: Agreement, found: Measured) -> AdaBoostState:
        """Cast the vote and weigh anew.

        Only ratios matter, so either the right rows may keep their weight and the wrong ones grow,
        or the wrong ones keep theirs and the right ones shrink. Taking whichever keeps the total in
        range changes about half of the rows a round, which is what learners pay for.
        """
        vote = self.vote(found)
        state.cast.append(vote)
        grown = state.total * (1 + found.error * math.expm1(2 * vote))
        shift = 0.0 if grown <= 0.99 * MOST_TOTAL else -2 * vote
        return self._weigh(
            replace(state, total_vote=state.total_vote + vote, log_scale=state.log_scale + shift),
            agree,
            vote,
        )

    def memory(self, state: AdaBoostState) -> list[float]:
        """The scale: it depends on all totals before."""
        return [state.log_scale]

    def resume(
        self,
        state: AdaBoostState,
        margins: NDArray[np.float64],
        votes: Sequence[float],
        memory: list[float],
    ) -> AdaBoostState:
        """Cast the old votes again, then weigh all rows by their margins."""
        state.margins[:] = margins
        state.cast.extend(votes)
        (log_scale,) = memory
        return self._weigh(
            replace(state, total_vote=math.fsum(votes), log_scale=log_scale), None, 0.0
        )

    def votes(self, state: AdaBoostState) -> NDArray[np.float64]:
        """Give the votes; AdaBoost never revises one."""
        return np.array(state.cast)

    def last_vote(self, state: AdaBoostState) -> float:
        """Give the newest vote."""
        return state.cast[-1]

    def vote(self, found: Measured) -> float:
        """Give the vote of a rule."""
        return round_vote(min(self.learning_rate * found.best_vote, self.max_vote, MOST_VOTE))

    def _weigh(self, state: AdaBoostState, agree: Agreement | None, vote: float) -> AdaBoostState:
        """Weigh all rows; if their total is out of range, choose the scale anew and weigh again.

        The range is left when votes are large (a learning rate above 1), or when most of the
        weight sits on rows of a few units, whose rounding a prediction cannot see.
        """
        total = self._weigh_once(state, agree, vote)
        if not LEAST_TOTAL <= total <= MOST_TOTAL:
            state = replace(state, log_scale=_fresh_scale(state))
            total = self._weigh_once(state, None, 0.0)
        return replace(state, total=total)

    def _weigh_once(self, state: AdaBoostState, agree: Agreement | None, vote: float) -> int:
        margins, weights = state.margins.reshape(-1), state.weights.reshape(-1)
        flat = np.zeros(weights.size, dtype=np.int8) if agree is None else agree.reshape(-1)
        base = state.log_base
        sums: list[int] = []

        def task(start: int, stop: int) -> None:
            total = update.exponential(
                flat[start:stop],
                vote,
                state.total_vote,
                base if base.size == 1 else base[start:stop],
                state.log_scale,
                margins[start:stop],
                weights[start:stop],
            )
            sums.append(int(total))

        each_rows(task, weights.size)
        return sum(sums)


def _fresh_scale(state: AdaBoostState) -> float:
    """Give the scale at which the weights sum to ``FRESH_TOTAL``, before rounding."""
    logs = state.total_vote - state.margins.reshape(-1) + state.log_base
    return round_vote(math.log(FRESH_TOTAL) - float(logsumexp(logs)))
