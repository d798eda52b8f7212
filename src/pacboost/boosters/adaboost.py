"""AdaBoost (Freund and Schapire 1997), in the log domain and in whole numbers.

Potential exp(-margin), so D_t(i) ∝ base(i)·exp(-margin_i). A rule of edge r gets the vote

    ½ ln((1 + r)/(1 - r)) = ½ ln((1 - error)/error)

which minimises Z_t = Σ D_t(i) exp(-vote·y_i h(x_i)), and then Z_t = √(1 - r²). A learning rate or a
cap makes the vote smaller; training error ≤ ∏ Z_t holds for any vote, with the Z_t it really had.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Agreement, Booster
from pacboost.errors import ParameterError
from pacboost.kernels import update
from pacboost.kernels.threads import each_rows
from pacboost.numerics.exact import FRESH_TOTAL, MOST_TOTAL, MOST_VOTE, VOTE_UNIT, round_vote

MOST_LEVEL = math.log2(MOST_TOTAL) - 0.01  # rounding may raise the total a little
LEAST_LEVEL = math.log2(FRESH_TOTAL) - 0.5


@dataclass(frozen=True, eq=False)
class AdaBoostState:
    """Margins and weights of every row, the votes, and the scale that makes weights whole."""

    margins: NDArray[np.float64]
    weights: NDArray[np.int64]
    log_base: NDArray[np.float64]
    log_scale: float
    """Like margins and base weights a multiple of the vote unit, so that their sums are exact."""
    level: float
    """log2 of the total weight, as it follows from edges and votes: between 51.5 and 52.99."""
    total_vote: float = 0.0
    cast: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class AdaBoost(Booster[AdaBoostState]):
    """The rules of AdaBoost; ``learning_rate`` scales votes, ``max_vote`` caps them.

    >>> rules = AdaBoost()
    >>> state = rules.init((4, 1), np.ones(1))
    >>> agree = np.array([[1], [1], [1], [-1]], dtype=np.int8)    # error 1/4, edge 1/2
    >>> state = rules.step(state, agree, 0.5)
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
        """Start with D_1 proportional to the base weights."""
        rows, classes = shape
        mass = float(base.sum()) * classes if base.size > 1 else float(base[0]) * rows * classes
        own = base if classes == 1 or base.size == 1 else np.repeat(base, classes)
        state = AdaBoostState(
            margins=np.zeros(shape),
            weights=np.empty(shape, dtype=np.int64),
            log_base=np.rint(np.log(own) / VOTE_UNIT) * VOTE_UNIT,
            log_scale=round_vote(math.log(FRESH_TOTAL / mass)),
            level=math.log2(FRESH_TOTAL),
        )
        return self._weigh(state, None, 0.0)

    def request(self, state: AdaBoostState) -> tuple[NDArray[np.int64], None]:
        """Ask for a rule under D_t."""
        return state.weights, None

    def step(self, state: AdaBoostState, agree: Agreement, edge: float) -> AdaBoostState:
        """Cast the vote and weigh anew."""
        vote = self.vote(edge)
        return self._weigh(self._cast(state, vote, edge), agree, vote)

    def resume(
        self,
        state: AdaBoostState,
        margins: NDArray[np.float64],
        votes: Sequence[float],
        edges: Sequence[float],
    ) -> AdaBoostState:
        """Cast the old votes again, then weigh all rows by their margins."""
        state.margins[:] = margins
        for vote, edge in zip(votes, edges, strict=True):
            state = self._cast(state, vote, edge)
        return self._weigh(state, None, 0.0)

    def votes(self, state: AdaBoostState) -> NDArray[np.float64]:
        """Give the votes; AdaBoost never revises one."""
        return np.array(state.cast)

    def vote(self, edge: float) -> float:
        """Give the vote of a rule with this edge."""
        best = math.inf if edge >= 1 else math.atanh(edge)
        return round_vote(min(self.learning_rate * best, self.max_vote, MOST_VOTE))

    def _cast(self, state: AdaBoostState, vote: float, edge: float) -> AdaBoostState:
        """Note the vote, and choose the scale of the next weights.

        Only ratios matter, so either the right rows may keep their weight and the wrong ones grow,
        or the wrong ones keep theirs and the right ones shrink. Taking whichever keeps the total in
        range changes about half of the rows a round, which is what learners pay for.
        """
        state.cast.append(vote)
        grown = state.level + math.log2(1 + (1 - edge) / 2 * math.expm1(2 * vote))
        shrunk = grown - 2 * vote * math.log2(math.e)
        level, shift = (grown, 0.0) if grown <= MOST_LEVEL else (shrunk, -2 * vote)
        if not LEAST_LEVEL <= level <= MOST_LEVEL:
            centred = round_vote((math.log2(FRESH_TOTAL) - level) * math.log(2))
            level, shift = level + centred * math.log2(math.e), shift + centred
        return replace(
            state,
            total_vote=state.total_vote + vote,
            level=level,
            log_scale=state.log_scale + shift,
        )

    def _weigh(self, state: AdaBoostState, agree: Agreement | None, vote: float) -> AdaBoostState:
        margins, weights = state.margins.reshape(-1), state.weights.reshape(-1)
        flat = np.zeros(weights.size, dtype=np.int8) if agree is None else agree.reshape(-1)
        base = state.log_base

        def task(start: int, stop: int) -> None:
            update.exponential(
                flat[start:stop],
                vote,
                state.total_vote,
                base if base.size == 1 else base[start:stop],
                state.log_scale,
                margins[start:stop],
                weights[start:stop],
            )

        each_rows(task, weights.size)
        return state
