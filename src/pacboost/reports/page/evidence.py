"""What rows with known labels say about a model: computed by estimators, drawn by pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Wholes = NDArray[np.int64]
Cells = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Shown:
    """One row to look at, in words."""

    row: int
    label: str
    said: str
    margin: float
    """Or for numbers, how far off it is."""
    cells: Cells
    """Its telling columns and their values, or its text under an empty name."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Rows that were judged by a classifier."""

    own: Wholes
    """The number of the class of each row; with several labels (rows, labels) of 0 and 1."""
    said: Wholes
    """What the model says, in the same way."""
    wrong: NDArray[np.bool_]
    probabilities: Doubles
    """(rows, classes)."""
    margins: Mapping[int, Doubles]
    """After some rounds, of all or some rows; after the last one at least."""
    shown: tuple[Shown, ...]
    """The hardest first."""
    seen: bool = False
    """Whether more of them are training rows than chance explains."""
    stages: str = "round"
    """What margins are counted by."""

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.own)

    @property
    def error(self) -> float:
        """The share that is wrong, ties counted."""
        return float(self.wrong.mean())

    @property
    def several(self) -> bool:
        """Whether a row may have several labels."""
        return self.own.ndim == 2

    @property
    def commonest(self) -> tuple[int, float]:
        """The commonest class, and the error of always saying it."""
        counts = np.bincount(self.own)
        return int(counts.argmax()), float(1 - counts.max() / self.rows)


@dataclass(frozen=True, eq=False)
class Numbers:
    """Rows that were judged by a regressor."""

    own: Doubles
    said: Doubles
    shown: tuple[Shown, ...] = field(default_factory=tuple)
    seen: bool = False

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.own.size
