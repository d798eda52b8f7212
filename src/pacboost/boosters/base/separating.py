"""The pairs that graph separation goes by: rows of opposite signs that no rule told apart."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.exact import in_least, whole_scale
from pacboost.samples.sample import Signs

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PairState:
    """The pattern of every row, as a number, and the pairs that are left."""

    signs: Signs
    base: Floats
    """Base weights, divided by the smallest."""
    patterns: NDArray[np.int64]
    margins: Floats
    weights: NDArray[np.int64]
    total: int = 0
    pairs: float = 0.0
    """The weight of all pairs that are left, each the product of its two rows'."""
    seen: list[Signs] = field(default_factory=list)
    """The answers of each rule on all rows."""

    @property
    def cast(self) -> list[float]:
        """A vote of 1 for every rule: each adds one question to the table."""
        return [1.0] * len(self.seen)

    @classmethod
    def of(cls, signs: Signs, base: Floats) -> PairState:
        """Join all rows of opposite signs."""
        patterns = np.zeros(len(signs), dtype=np.int64)
        weights = np.empty(signs.shape, dtype=np.int64)
        state = cls(signs, in_least(base), patterns, np.zeros(signs.shape), weights)
        return replace(weighed(state), margins=np.zeros(signs.shape))


def divided(state: PairState, column: Signs) -> PairState:
    """Split all patterns by the answers of a rule, (rows, 1)."""
    state.seen.append(np.ascontiguousarray(column[:, 0]))
    doubled = 2 * state.patterns + (column[:, 0] > 0)
    numbers = np.cumsum(np.bincount(doubled) > 0) - 1  # close the gaps
    return weighed(replace(state, patterns=numbers[doubled]))


def weighed(state: PairState) -> PairState:
    """Weigh rows by the rows of the other sign in their pattern; margins are the table's."""
    positive = state.signs[:, 0] > 0
    shares = np.broadcast_to(state.base, positive.shape)
    plus = np.bincount(state.patterns, shares * positive)
    minus = np.bincount(state.patterns, shares * ~positive)
    other = np.where(positive, minus[state.patterns], plus[state.patterns])
    pairs = float((plus * minus).sum())
    scale = whole_scale(2 * pairs) if pairs > 0 else 0.0
    state.weights[:, 0] = np.maximum(np.rint(shares * np.maximum(other * scale, 1)), 1)
    scores: Floats = ((plus - minus) / (plus + minus))[state.patterns, None]
    margins = np.where(state.signs > 0, scores, -scores)
    return replace(state, margins=margins, total=int(state.weights.sum()), pairs=pairs)
