"""LogitBoost (Friedman, Hastie and Tibshirani 2000): Newton steps on the logistic loss.

Two classes: p = 1/(1 + exp(-2F)); a row weighs p(1 - p) and has the target z = (y* - p)/(p(1 - p)),
clipped to ±``max_target``; a cell adds half the weighted mean of z. More classes: p = softmax(F),
the same weights and targets for each class, and a cell adds (K-1)/K times the mean, less its
average over the classes. The paper clips targets at 4, which limits single rows, but with many
classes limits every row at the start: here only the mean of a cell is limited.

For any scores, a row that is wrong (or tied) has p(y|x) ≤ 1/2, so

    training error ≤ mean of -log₂ p(y|x)

which starts at log₂ K, 1 for two classes, and whose ratios from round to round are the normalisers.
For the same reason it is at most twice the mean of 1 - p(y|x), which is the pull of a row and the
probability of accepting it when examples are filtered.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Floats, Moved, check_not_negative, check_rate, whole_values
from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.kernels import same_bits
from pacboost.kernels.native import native
from pacboost.kernels.team import team_for, together
from pacboost.kernels.threads import ROWS_FOR_CHEAP_KERNELS
from pacboost.numerics.exact import FRESH_TOTAL
from pacboost.numerics.same_bits import exp, log, row_totals, total
from pacboost.samples.sample import Request, Signs, Sums

MAX_STEP = 8.0
"""Maximum mean target of a cell; the number of classes, if that is larger."""


@dataclass(frozen=True, eq=False)
class LogitState:
    """Margins, weights and pulls of every row, in whole units."""

    signs: Signs
    margins: Floats
    weights: NDArray[np.int64]
    pulls: NDArray[np.int64]
    base: Floats
    """Base weights in whole units, one for each row or one for all; they bound the pulls."""
    raised_sums: Floats
    """With many classes: the largest score of each row and Σ exp(F - that), (rows, 2)."""
    largest_base: float = 1.0
    weight: int = 0
    pull: int = 0
    cast: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Logit(FilteringBooster[LogitState]):
    """Newton steps on the logistic loss: rows that are wrong gain weight slowly."""

    name: ClassVar[str] = "logit"
    title: ClassVar[str] = "LogitBoost"
    potential: ClassVar[str] = "logistic"
    multiclass: ClassVar[str] = "softmax"
    error_factor: ClassVar[float] = 2.0
    on_gpu: ClassVar[bool] = True
    rows_worth_a_thread: ClassVar[int] = ROWS_FOR_CHEAP_KERNELS

    learning_rate: float = 1.0
    max_target: float = math.inf
    l2: float = 0.0
    """Added to the weight Σ p(1 - p) of every cell; with K classes 4(K-1)/K² times as much, since a
    row's weight starts at (K-1)/K² for each of them."""
    prior: bool = False

    def __post_init__(self) -> None:
        check_rate("learning_rate", self.learning_rate)
        check_rate("max_target", min(self.max_target, MAX_STEP))
        check_not_negative("l2", self.l2)

    def init(self, signs: Signs, base: Floats, targets: Floats | None = None) -> LogitState:
        # relative to the largest, so that sums of huge or tiny weights stay finite
        relative = base / base.max()
        mass = total(relative) if relative.size > 1 else float(signs.shape[0])
        units = np.rint(relative * (FRESH_TOTAL / (mass * signs.shape[1])))
        sums_shape = (signs.shape[0] if signs.shape[1] > 1 else 0, 2)
        state = LogitState(
            signs=signs,
            margins=np.zeros_like(signs, dtype=np.float64, order="C"),
            weights=np.zeros_like(signs, dtype=np.int64, order="C"),
            pulls=np.zeros_like(signs, dtype=np.int64, order="C"),
            base=units,
            largest_base=float(units.max()),
            raised_sums=np.zeros_like(signs, dtype=np.float64, shape=sums_shape),
        )
        return self._weigh(state)

    def chances(self, margins: Floats, rounds: int, signs: Signs | None = None) -> Floats:
        """Return 1 - p(y|x): for two classes 1/(1 + exp(2·margin))."""
        if margins.ndim == 1 or margins.shape[1] == 1:
            return np.asarray(same_bits.sigmoid(-2.0 * margins.reshape(-1)))
        if signs is None:
            raise ParameterError("signs is None; more than two classes need the signs of margins")
        scores = margins * signs
        label_scores = np.take_along_axis(scores, signs.argmax(axis=1)[:, None], axis=1)
        # exp(709) is the largest double; a row that is so wrong has a probability of 1 anyway
        others = np.where(signs > 0, -np.inf, np.minimum(scores - label_scores, 700.0))
        rest = row_totals(exp(others))
        return np.asarray(rest / (1.0 + rest))

    def request(self, state: LogitState) -> Request:
        penalty = self._penalty(state)
        weight, pull = max(1, state.weight), max(1, state.pull)
        return Request(state.weights, state.pulls, weight, pull, "newton", penalty)

    def values(self, state: LogitState, sums: Sums, cells: Cells) -> CellValues:
        if self.prior and not state.cast and len(sums.pulls) == 1:
            return whole_values(self._prior(sums))
        means = sums.means(self._penalty(state))
        outputs = means.shape[1]
        # the first step of a pure cell among K classes is K, which MAX_STEP must not cut
        max_step = max(MAX_STEP, outputs)
        means = np.minimum(np.maximum(means, -max_step), max_step)
        if outputs == 1:
            return whole_values(0.5 * self.learning_rate * means)
        # softmax does not change with a constant: values of a cell sum to 0 (Friedman et al. 2000)
        means -= row_totals(means)[:, None] / outputs
        return whole_values(self.learning_rate * (outputs - 1) / outputs * means)

    def _penalty(self, state: LogitState) -> float:
        """Return the penalty on the weight of a cell for each class, in whole units."""
        if not self.l2:
            return 0.0
        classes: int = max(2, state.signs.shape[1])
        return self.l2 * state.largest_base * 4 * (classes - 1) / classes**2

    def _prior(self, sums: Sums) -> Floats:
        """Return the scores whose probabilities are the shares of the classes."""
        pulls, outputs = sums.pulls, sums.pulls.shape[1]
        if outputs == 1:  # at F = 0 every pull is half a row: Σ y/2
            share = np.clip(0.5 + pulls / sums.pull / 2, 1e-6, 1 - 1e-6)
            odds: Floats = log(share / (1 - share))
            return 0.5 * odds
        # at F = 0 each of K outputs of a row weighs (1/K)(1 - 1/K)
        rows = sums.weight / (outputs * (1 / outputs) * (1 - 1 / outputs))
        share = np.clip(pulls / rows + 1 / outputs, 1e-6, 1.0)
        logs: Floats = log(share)
        logs -= row_totals(logs)[:, None] / outputs
        return logs

    def move(self, state: LogitState, moved: Moved) -> LogitState:
        state.cast.append(1.0)
        return self._weigh(state, moved)

    def _weigh(self, state: LogitState, moved: Moved | None = None) -> LogitState:
        rows, outputs = state.signs.shape
        if moved is None:
            cells = np.zeros_like(state.signs, shape=rows, dtype=np.uint8)
            moved = Moved(cells, np.zeros((1, outputs)), 1.0)
        weight, pull = (self._weigh_two if outputs == 1 else self._weigh_many)(state, moved)
        return replace(state, weight=weight, pull=pull)

    def _weigh_two(self, state: LogitState, moved: Moved) -> tuple[int, int]:
        """Set the weights of all rows; return the sums of weights and absolute pulls."""
        columns = (state.signs, state.margins, state.weights, state.pulls)
        signs, *arrays = (column.reshape(-1) for column in columns)
        totals = np.zeros((team_for(signs.size), 2), dtype=np.int64)
        together(
            native.logistic, moved.cells, moved.values.reshape(-1), signs, state.base,
            float(self.max_target), *arrays, totals, at_most=len(totals),
        )  # fmt: skip
        weight, pull = totals.sum(axis=0).tolist()
        return weight, pull

    def _weigh_many(self, state: LogitState, moved: Moved) -> tuple[int, int]:
        """Set the weights of the rows that moved; return the sums over all rows."""
        rows, outputs = state.signs.shape
        # with a silent cell most texts stay where they are, and keep their weights
        chosen = np.arange(rows) if moved.rows is None else moved.rows
        totals = np.zeros((team_for(chosen.size * outputs), 2), dtype=np.int64)
        together(
            native.softmax, chosen, moved.cells, moved.values, state.signs, state.base,
            float(self.max_target), state.margins, state.weights, state.pulls, state.raised_sums,
            totals, at_most=len(totals),
        )  # fmt: skip
        weight, pull = totals.sum(axis=0).tolist()
        return state.weight + weight, state.pull + pull
