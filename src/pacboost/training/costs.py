"""The mean cost of margins, by a kernel: what potentials and metrics share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels import row_costs, team_measures
from pacboost.kernels.cuda.device import flat
from pacboost.kernels.team import team_for, together
from pacboost.kernels.threads import span_count, span_size
from pacboost.numerics.same_bits import total


def mean_cost(
    kind: int, margins: NDArray[np.float64], base: NDArray[np.float64], unit: float = 1.0
) -> float:
    """Give the mean cost of margins (rows, outputs), by a kernel of kernels/row_costs.py.

    In regression, residuals take the place of the margins.
    """
    rows, outputs = margins.shape
    size = span_size(outputs)
    sums = np.zeros(span_count(rows, outputs))
    team = min(team_for(rows * outputs), max(1, sums.size))
    if kind == row_costs.LOGISTIC and outputs == base.size == 1:
        together(team_measures.log_costs, flat(margins), size, sums, at_most=team)
    else:
        weights = np.ones(1) if base.size == 1 else base
        together(team_measures.potential, kind, margins, weights, size, sums, at_most=team)
    mass = total(base) if base.size > 1 else float(rows)
    return total(sums) / float(unit * mass * outputs)
