"""What each row costs and whether it is wrong, where the classes share one softmax.

Kept from round to round, so that after a round only the rows that moved are looked at again. What
is summed over rows is summed over all of them, in their order: it depends on where the rows stand,
not on how they came there.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Cells
from pacboost.kernels import measure
from pacboost.kernels.threads import each_rows
from pacboost.samples.request import Request, Sums
from pacboost.samples.sample import Sample
from pacboost.training.run.exact_sums import LEAST_COST

Rows = NDArray[np.intp]


class EachRow:
    """Costs, mistakes and squared pulls of single rows."""

    def __init__(self, sample: Sample) -> None:
        self.everybody: Rows = np.arange(sample.n_rows)
        self._sample = sample
        self._costs, self._squares = np.zeros((2, sample.n_rows))
        self._wrong = np.ones(sample.n_rows, dtype=np.bool_)

    def see(self, margins: NDArray[np.float64], request: Request, moved: Rows | None) -> None:
        """Look at the rows that moved; None for all."""
        chosen = self.everybody if moved is None else moved
        signs, pulls = self._sample.signs, _whole(request)

        def task(start: int, stop: int) -> None:
            measure.class_rows(
                chosen[start:stop],
                margins,
                signs,
                pulls,
                self._costs,
                self._wrong,
                self._squares,
            )

        each_rows(task, chosen.size, width=signs.shape[1])

    def mean_cost(self) -> float:
        """The mean of -log₂ p(y|x), which bounds the error: of a wrong row p(y|x) is at most ½."""
        base = self._sample.base
        mean = self._costs.mean() if base.size == 1 else (base * self._costs).sum() / base.sum()
        return max(float(mean) / math.log(2), LEAST_COST)

    def error(self, first_weights: NDArray[np.int64]) -> float:
        """The share of the sample, under D_1, on which the vote errs or ties."""
        if first_weights.size == 1:
            return int(self._wrong.sum()) / self._wrong.size
        return int(first_weights[self._wrong].sum()) / int(first_weights.sum())

    def cell_sums(
        self, request: Request, cells: Cells, count: int, moving: Rows | None
    ) -> tuple[Sums, float]:
        """Add up pulls and weights in every cell; also give how many rows the pulls are worth.

        Only rows that a rule would move are added: of the others it says nothing.
        """
        chosen = self.everybody if moving is None else moving
        outputs, own_pulls = request.weights.shape[1], _whole(request)
        parts: list[NDArray[np.int64]] = []

        def task(start: int, stop: int) -> None:
            own = np.zeros((2, count, outputs), dtype=np.int64)
            parts.append(own)
            measure.class_sums(chosen[start:stop], cells, request.weights, own_pulls, own)

        each_rows(task, chosen.size, width=outputs)
        pulls, weights = sum(parts[1:], parts[0])
        square = float(self._squares.sum())
        worth = request.pull**2 / square if square > 0 else 0.0
        return Sums(pulls, weights, request.weight, request.pull, self._wrong.size), worth


def _whole(request: Request) -> NDArray[np.int64]:
    """Pulls of their own: a softmax never asks for signs alone."""
    return request.pulls.astype(np.int64, copy=False)
