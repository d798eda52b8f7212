"""Rows with small margins: they are worth looking at, because their labels are often wrong."""

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
    """The share of all votes against its label: that of the rules that are wrong on it."""
