"""The rows that a learner sees in a round; they depend on the seed and the round alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.learners.learner import Weights
from pacboost.numerics.draw import draw
from pacboost.samples.request import Request


@lru_cache(maxsize=8)
def _seed_of(seed: int, number: int, attempt: int) -> int:
    return int(np.random.SeedSequence((seed, number, attempt)).generate_state(1)[0])


@dataclass(frozen=True)
class RowsShown:
    """All ``rows``, a draw of ``resample`` rows from D_t, or a share ``subsample`` of the rows."""

    rows: int
    seed: int
    resample: int = 0
    """The number of rows to draw; -1 for as many as there are, 0 for no draw."""
    subsample: float = 1.0

    @property
    def all_rows(self) -> bool:
        """Whether the learner sees all rows, so that nothing is random."""
        return not self.resample and self.subsample >= 1

    @property
    def _draws(self) -> int:
        return self.rows if self.resample < 0 else self.resample

    def seed_of(self, number: int, attempt: int) -> int:
        """Give a seed for each call, from the run's seed, the round and the attempt alone."""
        return _seed_of(self.seed, number, attempt)

    def shown(self, weights: Weights, seed: int) -> Weights:
        """Give the weights that the learner sees: D_t, or the counts of a draw from D_t."""
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
        """Give the rows that the learner may use; None for all."""
        if self.subsample >= 1:
            return None
        count = max(1, round(self.rows * self.subsample))
        drawn = np.zeros(self.rows, dtype=np.bool_)
        drawn[np.random.default_rng(seed).permutation(self.rows)[:count]] = True
        return np.flatnonzero(drawn)  # in ascending order, without sorting

    def entropy(self, number: int) -> NDArray[np.uint32]:
        """Give what ``seed_of`` makes the first seed of a round of, in words of 32 bits."""
        words = [
            (self.seed >> k) & 0xFFFFFFFF for k in range(0, max(1, self.seed.bit_length()), 32)
        ]
        return np.array([*words, number, 0], dtype=np.uint32)

    def drawn(self, request: Request, seed: int, booster: str) -> Request:
        """Replace weights by the counts of a draw of pairs of row and output, if rows are drawn."""
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
        weights = counts.reshape(request.weights.shape)
        return replace(request, weights=weights, weight=size, pull=size)
