"""MadaBoost's clipped weights (Domingo and Watanabe 2000), with a vote that needs no assumption.

A row weighs min(1, exp(-margin)): none ever weighs more than at the start. That is the slope of

    L(z) = exp(-z) for z ≥ 0, 1 - z for z < 0

For s = ±1 and a > 0, L(z + as) ≤ L(z) - w·a·s + (a²/2)eᵃ·w. With the vote a = r·exp(-r) for a rule
of edge r, the mean of L falls by at least ½ r² exp(-r) μ, where μ is the mean weight. As L starts
at 1 and stays above 0,

    Σ_t ½ r_t² exp(-r_t) μ_t ≤ 1,      training error ≤ μ_t ≤ mean L.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Agreement, Booster, Measured, Moved, check_rate, whole_values
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.kernels import update
from pacboost.kernels.threads import each_rows
from pacboost.numerics.exact import FRESH_TOTAL, round_vote
from pacboost.samples.request import Request, Sums
from pacboost.samples.sample import Signs


@dataclass(frozen=True, eq=False)
class MadaState:
    """Margins and clipped weights of every row."""

    signs: Signs
    margins: NDArray[np.float64]
    weights: NDArray[np.int64]
    log_base: NDArray[np.float64]
    """The logarithm of the most a row may weigh, one a row and output or one for all."""
    total: int = 0
    cast: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Mada(Booster[MadaState]):
    """The rules of MadaBoost.

    >>> rules = Mada()
    >>> round(rules.vote(Measured(total=10, wrong=3)), 4)        # 0.4·exp(-0.4)
    0.2681
    """

    name: ClassVar[str] = "mada"
    potential: ClassVar[str] = "clipped"

    learning_rate: float = 1.0
    plain: bool = True

    def __post_init__(self) -> None:
        check_rate("learning_rate", self.learning_rate)

    def init(
        self, signs: Signs, base: NDArray[np.float64], targets: NDArray[np.float64] | None = None
    ) -> MadaState:
        """Start with every row at its largest weight."""
        rows, outputs = signs.shape
        own = base if outputs == 1 or base.size == 1 else np.repeat(base, outputs)
        mass = float(own.sum()) if own.size > 1 else float(own[0]) * rows * outputs
        state = MadaState(
            signs=signs,
            margins=np.zeros(signs.shape),
            weights=np.empty(signs.shape, dtype=np.int64),
            log_base=np.log(np.maximum(own / mass * FRESH_TOTAL, 1.0)),
        )
        return self._weigh(state)

    def request(self, state: MadaState) -> Request:
        """Ask for a rule under the clipped weights."""
        return Request(state.weights, state.signs, state.total, state.total, "error")

    def vote(self, found: Measured) -> float:
        """Give the vote r·exp(-r)."""
        return round_vote(self.learning_rate * found.edge * math.exp(-found.edge))

    def values(self, state: MadaState, sums: Sums, cells: Cells) -> CellValues:
        """Give each cell the sign that most of its weight asks for."""
        agreed = int(np.abs(sums.pulls).sum())
        found = Measured(sums.weight, (sums.weight - agreed) // 2)
        return whole_values(np.sign(sums.pulls) * self.vote(found))

    def step(self, state: MadaState, agree: Agreement, found: Measured) -> MadaState:
        """Cast the vote and weigh anew."""
        vote = self.vote(found)
        state.cast.append(vote)
        state.margins[:] += vote * agree
        return self._weigh(state)

    def move(self, state: MadaState, moved: Moved) -> MadaState:
        """Add what the cells say, and weigh anew."""
        state.cast.append(1.0)
        state.margins[:] += state.signs * moved.values[moved.cells]
        return self._weigh(state)

    def memory(self, state: MadaState) -> list[float]:
        """Nothing: margins say it all."""
        return []

    def resume(
        self,
        state: MadaState,
        margins: NDArray[np.float64],
        votes: Sequence[float],
        memory: list[float],
    ) -> MadaState:
        """Weigh all rows by their margins."""
        state.margins[:] = margins
        state.cast.extend(votes)
        return self._weigh(state)

    def votes(self, state: MadaState) -> NDArray[np.float64]:
        """Give the votes; none is ever revised."""
        return np.array(state.cast)

    def last_vote(self, state: MadaState) -> float:
        """Give the newest vote."""
        return state.cast[-1]

    def _weigh(self, state: MadaState) -> MadaState:
        margins, weights = state.margins.reshape(-1), state.weights.reshape(-1)
        base = state.log_base
        sums: list[int] = []

        def task(start: int, stop: int) -> None:
            own = base if base.size == 1 else base[start:stop]
            sums.append(int(update.clipped(margins[start:stop], own, weights[start:stop])))

        each_rows(task, weights.size)
        return replace(state, total=sum(sums))
