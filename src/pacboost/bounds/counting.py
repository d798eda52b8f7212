"""What a measure is given to count, and what it returns: numbers for a theorem."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pacboost.bounds.scored_rows import Mask, ScoredRows
from pacboost.errors import NotCertified


class TooFewRows(NotCertified):
    """A claim has too few rows to certify anything better than one half."""


@dataclass(frozen=True)
class Count:
    """What certifies a claim: a bound, its numbers, how many rows they count, and an estimate."""

    bound: str
    inputs: Mapping[str, Any]
    size: int
    seen: float
    details: Mapping[str, Any] = field(default_factory=dict)
    """What the claim says besides, such as the classes that were averaged."""


@dataclass(frozen=True, eq=False)
class Counting:
    """The rows of one claim, the class that it is about, and the end that it bounds."""

    rows: ScoredRows
    chosen: Mask
    label: object
    side: str
    claim: str
    """The claim in words, for messages."""
    delta: float
    claims: int
    """How many claims share delta."""
    pooled: bool = False
    """True if these rows are those of several groups, whose chances may differ."""

    def counts(self, inside: Mask, event: Mask) -> tuple[int, int]:
        """Return how many chosen rows are in the event, and inside; doubtful ones weaken it."""
        doubtful, inside = self.rows.doubtful, inside & self.chosen
        counted = event & ~doubtful if self.side == "lower" else event | doubtful
        return int((counted & inside).sum()), int(inside.sum())

    def need(self, n: int, among: str, parts: int = 1) -> None:
        """Raise if even rows without a mistake would not certify one half."""
        shared = self.claims * parts
        needed = rows_for_a_half(self.delta, shared)
        if n < needed:
            raise TooFewRows(
                f"{self.claim}: there are {n} {among}, and at least {needed} are needed before "
                f"anything better than one half can be certified with delta/{shared} = "
                f"{self.delta / shared:.3g}. Collect more of these rows, or leave this claim out"
            )


def rows_for_a_half(delta: float, shared: int) -> int:
    """Return the number of rows that certify one half if all of them are right."""
    return math.ceil(math.log(shared / delta) / math.log(2) * (1 - 1e-12))
