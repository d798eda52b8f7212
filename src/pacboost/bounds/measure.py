"""Kinds of measures: how they count rows, and which theorems bound what was counted.

``Rate`` counts events among rows, ``MeanLoss`` averages losses; others define ``count`` themselves.
Each measure is one file of ``bounds/measures`` (docs/extending/measure.md).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pacboost.bounds.counting import Count, Counting
from pacboost.bounds.losses import counted_losses, mean_lower, mean_upper
from pacboost.bounds.quantity import Example, Measure
from pacboost.bounds.rates import (
    ordered_upper,
    pooled_lower,
    pooled_upper,
    rate_lower,
    rate_upper,
)
from pacboost.bounds.registry import Ends
from pacboost.bounds.scored_rows import Doubles, Mask, ScoredRows
from pacboost.numerics.same_bits import mean

RATE = Ends.of(rate_lower, rate_upper)
POOLED = Ends.of(pooled_lower, pooled_upper)
MEAN = Ends.of(mean_lower, mean_upper)
ORDERED = Ends.of(None, ordered_upper)


class Rate(Measure):
    """A share: of some rows, those that are in an event."""

    ends = RATE
    pooled: ClassVar[Ends | None] = POOLED
    example = Example(k=3, n=100)

    @abstractmethod
    def event(self, rows: ScoredRows, label: object) -> tuple[Mask, Mask]:
        """Return the rows among which the share is counted, and the rows that it counts."""

    def count(self, counting: Counting) -> Count:
        """Count the event."""
        k, n = counting.counts(*self.event(counting.rows, counting.label))
        counting.need(n, self.among.format(label=counting.label))
        ends = POOLED if counting.pooled else self.ends
        return Count(ends[counting.side], {"k": k, "n": n}, n, self.seen(k, n))

    def seen(self, k: int, n: int) -> float:
        """Return the estimate."""
        return k / n


class RateOfAll(Rate):
    """A share of all rows, which is also the mean of a loss of 0 or 1."""

    every_row = True
    over_time: ClassVar[Ends | None] = ORDERED
    of_groups: ClassVar[Ends | None] = MEAN

    def losses(self, rows: ScoredRows) -> tuple[Doubles, float]:
        """Return 1 for rows in the event."""
        return self.event(rows, None)[1].astype(np.float64), 1.0


@dataclass(frozen=True, eq=False)
class OfClass(Measure):
    """A measure of one class, or of each in a list; None stands for the default."""

    of_class: ClassVar[bool] = True
    positive: object = None


class RateOfClass(OfClass, Rate):
    """A share of the examples that have to do with a class."""


class MeanLoss(Measure):
    """A mean of losses from 0 to a largest one."""

    ends = MEAN
    of_groups = MEAN
    is_share = in_per_cent = False
    every_row = True
    rare: ClassVar[bool] = False
    """True for losses that are seldom, but then large: one block of bets is better for them."""
    example = Example(losses=[[[0, 40], [2048, 20]]], scale=2.0)

    def count(self, counting: Counting) -> Count:
        """Count the losses of the rows."""
        values, scale = self.losses(counting.rows)
        losses = weakened(values, counting.rows, counting.side)[counting.chosen]
        counting.need(losses.size, self.among)
        return mean_count(losses, scale, counting.side, self.rare)


def weakened(values: Doubles, rows: ScoredRows, side: str) -> Doubles:
    """Return losses with those of doubtful rows replaced by the ones that weaken a claim."""
    return np.where(rows.doubtful, 0.0 if side == "lower" else 1.0, values)


def mean_count(losses: Doubles, scale: float, side: str, rare: bool = True) -> Count:
    """Count losses, which are shares of ``scale``, for a bound on their mean."""
    if side == "lower":
        inputs: dict[str, Any] = {"savings": counted_losses(1 - losses, rare)}
    else:
        inputs = {"losses": counted_losses(losses, rare)}
    return Count(MEAN[side], {**inputs, "scale": scale}, losses.size, scale * mean(losses))
