"""Votes that aim at a margin of half the edge of every rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pacboost.boosters.maximal_margin import ExponentialState, MarginGoal


@dataclass(frozen=True)
class Halfway(MarginGoal):
    """Aim at half of the edge."""

    name: ClassVar[str] = "halfway"
    tolerance: float = 0.01

    def goal(self, state: ExponentialState, edge: float) -> float:
        """Return the margin that the vote of a rule aims at."""
        return edge / 2
