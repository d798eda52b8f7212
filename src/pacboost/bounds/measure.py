"""What there is to know of a measure: its name and words, which rows it counts, which theorems.

``Rate`` counts events among rows, ``MeanLoss`` averages losses; others define ``count`` themselves.
Each measure is one file of ``bounds/measures`` (docs/extending/measure.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar

import numpy as np

from pacboost.bounds.counting import Count, Counting
from pacboost.bounds.losses import counted_losses, mean_lower, mean_upper
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


class Example(dict[str, Any]):
    """Counts that a theorem takes, besides delta and the number of claims."""


class Quantity:
    """A number about a fixed model on new examples, and the words of a claim about it.

    In ``words``, ``{new}`` stands for the examples, ``{c}`` for the class, ``{at}`` for "at least"
    or "at most", ``{value}`` for the number, and any other name for a detail of the certificate.
    """

    name: ClassVar[str]
    words: ClassVar[str]
    higher_is_better: ClassVar[bool] = False
    of_class: ClassVar[bool] = False
    """True for a measure of one class, the positive one."""
    is_share: ClassVar[bool] = True
    """True for a share of examples, which is written in per cent, and which a shift can move."""
    every_row: ClassVar[bool] = False
    """True for a mean over all rows, which groups of dependent rows can bound."""
    of_numbers: ClassVar[bool] = False
    """True for a measure of models that predict numbers."""
    in_per_cent: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class Measure(Quantity, ABC):
    """A quantity that rows can certify; its options are the fields of its class."""

    aliases: ClassVar[tuple[str, ...]] = ()
    """Names that others have for it; who gives one is told this one."""
    stated: ClassVar[tuple[str, ...]] = ()
    """Options that the claim names."""
    among: ClassVar[str] = "rows"
    """The rows that it counts, for the message that they are too few."""
    ends: ClassVar[Ends]
    """The theorems for its lower and its upper end."""
    pooled: ClassVar[Ends | None] = None
    """The same for rows of several groups with different chances."""
    over_time: ClassVar[Ends | None] = None
    """The same for rows that may depend on those before."""
    example: ClassVar[Example]
    """Counts for the end that matters: tests certify them."""

    @abstractmethod
    def count(self, counting: Counting) -> Count:
        """Count the rows of a claim."""

    @classmethod
    def bounds(cls) -> set[str]:
        """Return the names of all bounds that may certify this measure."""
        means = MEAN if cls.every_row else None
        every = (cls.ends, cls.pooled, cls.over_time, means)
        return {name for ends in every if ends for name in (ends.lower, ends.upper) if name}

    @classmethod
    def needed_options(cls) -> list[str]:
        """Return the names of options without a default."""
        has_default = {f.name: f.default is not MISSING for f in fields(cls)}
        return [name for name in has_default if not has_default[name]]

    def options(self) -> dict[str, Any]:
        """Return the options that the claim names, as details of a certificate."""
        return {name: getattr(self, name) for name in self.stated}

    def losses(self, rows: ScoredRows) -> tuple[Doubles, float]:
        """Return each row's loss as a share of the largest possible loss, and that loss."""
        raise NotImplementedError(f"{self.name} is no mean over all rows")


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
    over_time = ORDERED

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
