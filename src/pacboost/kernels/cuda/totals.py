"""Sums of floats on the GPU that have the bits of ``total`` of numerics/same_bits.py."""

from __future__ import annotations

from typing import Any

from pacboost.kernels.cuda.device import on_gpu
from pacboost.numerics.same_bits import total

FEW = 4_096
"""So many numbers are copied to the CPU, and added up there."""


def total_anywhere(values: Any) -> float:
    """Add numbers up where they are: halves are added to each other until few are left.

    >>> import numpy as np
    >>> total_anywhere(np.array([0.25, 0.5, 1.0]))
    1.75
    """
    if not on_gpu(values):
        return total(values)
    left = values.reshape(-1)
    while left.size > FEW:
        half = (left.size + 1) // 2
        rest, left = left[half:], left[:half].copy()
        left[: rest.size] += rest
    return total(left.get())
