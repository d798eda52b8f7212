"""Chance that is keyed: the same for the same seed, purpose and row, whenever the row comes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels import sieve
from pacboost.kernels.threads import ROWS_FOR_CHEAP_KERNELS, each_rows

UNIT = 2.0**-sieve.BITS


def key_of(*parts: int) -> np.uint64:
    """Make a key from a seed and what it is for; their number counts, since NumPy drops zeros."""
    entropy = (len(parts), *parts)
    return np.uint64(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])


def numbers(rows: NDArray[np.uint64], key: np.uint64) -> NDArray[np.float64]:
    """Give each row its number in [0, 1).

    >>> numbers(np.array([7, 8], dtype=np.uint64), key_of(0, 1)).round(4).tolist()
    [0.9412, 0.904]
    """
    out = np.empty(rows.size, dtype=np.uint64)

    def task(start: int, stop: int) -> None:
        sieve.numbers(rows[start:stop], key, out[start:stop])

    each_rows(task, rows.size, at_least=ROWS_FOR_CHEAP_KERNELS)
    return out.astype(np.float64) * UNIT


def row_numbers(rows: int) -> NDArray[np.uint64]:
    """Number rows, for a choice among them that does not ask which they are."""
    return np.arange(rows, dtype=np.uint64)
