"""A row that the vote finds hard: a case to look at, and often a label to look at."""

from __future__ import annotations

from dataclasses import dataclass

KEPT = 100
"""So many of the hardest rows go into the ledger."""


@dataclass(frozen=True)
class HardRow:
    """What the final vote of a run says about one of its rows."""

    row: int
    """Its number in what was given to fit, counted from 0."""
    label: str
    """What it is said to be; of several labels the one that the vote contradicts most."""
    margin: float
    """Its normalised margin: below 0 where the vote says something else, -1 where all rules do."""
    wrong: float
    """The share of all votes that went against its label: the rules that err on it, weighted."""
