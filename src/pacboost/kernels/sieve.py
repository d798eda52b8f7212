"""Chances keyed by row: whether a row is looked at depends on its identity and a key alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.jit import kernel

BITS = 53
"""Numbers drawn are whole, below 2**53, so that they are floats as well."""


@kernel
def drawn(row: np.uint64, key: np.uint64) -> np.uint64:
    """Give the number of a row under a key (the generator splitmix64 of Steele and others 2014)."""
    z = row * np.uint64(0x9E3779B97F4A7C15) + key
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) >> np.uint64(64 - BITS)


@kernel
def numbers(rows: NDArray[np.uint64], key: np.uint64, out: NDArray[np.uint64]) -> None:
    """Give every row its number."""
    for i in range(rows.size):
        out[i] = drawn(rows[i], key)


@kernel
def below(
    kinds: NDArray[np.uint8],
    limits: NDArray[np.uint64],
    first: int,
    key: np.uint64,
    out: NDArray[np.int64],
) -> int:
    """Find the rows first, first + 1, … whose number is below the limit of their kind."""
    found = 0
    for i in range(kinds.size):
        if drawn(np.uint64(first + i), key) < limits[kinds[i]]:
            out[found] = first + i
            found += 1
    return found


@kernel
def keep(
    tickets: NDArray[np.uint64],
    key: np.uint64,
    chances: NDArray[np.float64],
    bounds: NDArray[np.float64],
    scale: float,
    odds: NDArray[np.float64],
    kept: NDArray[np.int64],
) -> int:
    """Keep each row with its odds: its chance, or its bound if that is less, over the scale.

    Write which rows are kept and their odds, and give how many are. Without bounds, none is less.
    """
    found = 0
    for i in range(tickets.size):
        chance = min(chances[i], bounds[i]) if bounds.size else chances[i]
        odd = min(1.0, chance / scale)
        if drawn(tickets[i], key) * 2.0**-BITS < odd:
            odds[found], kept[found] = odd, i
            found += 1
    return found
