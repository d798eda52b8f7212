"""Predictions for labelled rows: estimators compute them, the page draws them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Wholes = NDArray[np.int64]
Cells = tuple[tuple[str, str], ...]

TRAINED = (
    "Many of these rows are training rows: what they show is too optimistic, and says little "
    "about new rows."
)
"""Said wherever numbers come from rows that the model was trained on."""


@dataclass(frozen=True)
class Shown:
    """One row that is shown in words."""

    row: int
    label: str
    said: str
    margin: float
    """For regressors, the error."""
    cells: Cells
    """Its most important columns and their values, or its text under an empty name."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Labelled rows and the predictions of a classifier."""

    own: Wholes
    """The number of the class of each row; with several labels (rows, labels) of 0 and 1."""
    said: Wholes
    """The predictions, in the same form."""
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
        """The most common class, and the error of always predicting it."""
        counts = np.bincount(self.own)
        return int(counts.argmax()), float(1 - counts.max() / self.rows)


@dataclass(frozen=True, eq=False)
class Numbers:
    """Labelled rows and the predictions of a regressor."""

    own: Doubles
    said: Doubles
    shown: tuple[Shown, ...] = field(default_factory=tuple)
    seen: bool = False

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.own.size
