"""Which rows a learner looks at in a round, chosen by the run's seed and the round alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.learners.learner import Weights
from pacboost.numerics.draw import draw
from pacboost.samples.request import Request


@dataclass(frozen=True)
class RowsShown:
    """All ``rows``, as many as ``resample`` says drawn from D_t, or a ``subsample`` of them."""

    rows: int
    seed: int
    resample: int = 0
    """How many to draw; -1 for as many as there are, 0 to draw none."""
    subsample: float = 1.0

    @property
    def all_rows(self) -> bool:
        """Whether nothing is left to chance."""
        return not self.resample and self.subsample >= 1

    @property
    def _draws(self) -> int:
        return self.rows if self.resample < 0 else self.resample

    def seed_of(self, number: int, attempt: int) -> int:
        """A seed for each call, from the run's seed, the round and the attempt alone."""
        return int(np.random.SeedSequence((self.seed, number, attempt)).generate_state(1)[0])

    def shown(self, weights: Weights, seed: int) -> Weights:
        """What the learner sees: D_t, or how often a draw from D_t took each row."""
        if self.resample:
            drawn = draw(weights, self._draws, np.random.default_rng(seed))
            return np.bincount(drawn, minlength=weights.size).astype(np.int64)
        chosen = self.chosen(seed)
        if chosen is None:
            return weights
        left_out = np.ones(weights.size, dtype=np.bool_)
        left_out[chosen] = False
        return np.where(left_out, 0, weights)

    def chosen(self, seed: int) -> NDArray[np.intp] | None:
        """The rows that the learner may look at; None for all."""
        if self.subsample >= 1:
            return None
        count = max(1, round(self.rows * self.subsample))
        return np.sort(np.random.default_rng(seed).permutation(self.rows)[:count])

    def drawn(self, request: Request, seed: int, booster: str) -> Request:
        """Tell how often a draw from D_t took each pair of row and output, if draws are wanted."""
        if not self.resample:
            return request
        if not request.signed:
            raise ParameterError(
                f"resample draws rows by their weight, and {booster} has pulls that differ from "
                "it; set subsample instead"
            )
        size = self._draws * request.weights.shape[1]
        drawn = draw(request.weights.reshape(-1), size, np.random.default_rng(seed))
        counts = np.bincount(drawn, minlength=request.weights.size).astype(np.int64)
        own = counts.reshape(request.weights.shape)
        return replace(request, weights=own, weight=size, pull=size)
