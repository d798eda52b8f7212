"""The mean cost of margins, or of the residuals of a regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.native import native
from pacboost.kernels.team import team_for, together
from pacboost.kernels.threads import sum_count, sum_size
from pacboost.numerics.same_bits import total


def mean_cost(
    kind: int, margins: NDArray[np.float64], base: NDArray[np.float64], unit: float = 1.0
) -> float:
    """Return the mean cost of margins (rows, outputs), of a kind such as ``native.LOGISTIC``.

    In regression, ``margins`` are residuals.
    """
    rows, outputs = margins.shape
    size = sum_size(outputs)
    sums = np.zeros(sum_count(rows, outputs))
    team = min(team_for(rows * outputs), max(1, sums.size))
    weights = np.ones(1) if base.size == 1 else base
    together(native.potential, kind, margins, weights, size, sums, at_most=team)
    mass = total(base) if base.size > 1 else float(rows)
    return total(sums) / float(unit * mass * outputs)
