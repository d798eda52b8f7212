"""What is measured of a rule before the booster's step, and what the step leads to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.base.booster import Measured
from pacboost.hypotheses.hypothesis import Answers, Cells, CellValues, Hypothesis
from pacboost.samples.request import Sums


@dataclass(frozen=True, eq=False)
class MeasuredRule:
    """A rule, and what it does on the full weighted sample."""

    hypothesis: Hypothesis
    measured: Measured
    effective_size: float


@dataclass(frozen=True, eq=False)
class MeasuredAnswers(MeasuredRule):
    """A rule that is right (+1) or wrong (-1) on every row."""

    agree: Answers


@dataclass(frozen=True, eq=False)
class MeasuredCells(MeasuredRule):
    """A rule with a value in each cell, the sums over its cells, and the rows it may move."""

    cells: Cells
    values: CellValues
    sums: Sums
    rows: NDArray[np.intp] | None


@dataclass(frozen=True, eq=False)
class Step:
    """What a step of the booster led to."""

    state: Any
    vote: float
    """The number that multiplies the values of the rule."""
    largest: float
    """The most that the rule can add to a score."""
    normaliser: float
    """Z_t."""
