"""Rows that are offered to the filter, and what is known of each before it is looked at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.sources.oracles.oracle import Drawn

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Offer:
    """Rows to be looked at."""

    batch: Drawn
    ids: NDArray[np.uint64]
    """What identifies each row, on every pass: its number or, in a stream, its content."""
    new: NDArray[np.bool_]
    """Which rows were never learned from."""
    fresh: NDArray[np.bool_]
    """Which of those had no part in anything, not even in the choice of bins."""
    tickets: NDArray[np.uint64]
    """What each row's number is drawn by. A row that comes twice in a refill has two."""
    bounds: Floats | None = None
    """What the chance of each row to be looked at followed; None where all are."""
    tells: bool = True
    """Whether the rows came whatever they weigh, so that their mean weight tells something."""
