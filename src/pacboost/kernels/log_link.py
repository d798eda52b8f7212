"""The exponential function of scores, with the same bits on every machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.exp_log import natural_exp
from pacboost.kernels.runtime.board import share
from pacboost.kernels.runtime.jit import team_kernel


@team_kernel(allocates=False)
def exponentials(
    member: int,
    team: int,
    board: NDArray[np.int64],
    scores: NDArray[np.float64],
    sign: float,
    out: NDArray[np.float64],
) -> None:
    """Write exp(sign · score)."""
    first, last = share(scores.size, member, team)
    for i in range(first, last):
        out[i] = natural_exp(sign * scores[i])
