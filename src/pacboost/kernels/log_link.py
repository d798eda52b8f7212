"""The exponential function of scores, with the same bits on every machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.exp_log import natural_exp
from pacboost.kernels.jit import kernel


@kernel
def exponentials(scores: NDArray[np.float64], sign: float, out: NDArray[np.float64]) -> None:
    """Write exp(sign · score)."""
    for i in range(scores.size):
        out[i] = natural_exp(sign * scores[i])
