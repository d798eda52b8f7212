"""Hashes of rows (see samples/row_hashes.py), and random numbers that depend on row and key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.runtime import Bytes, Floats, Wholes, Words
from pacboost.kernels.runtime.jit import inline, kernel, part_of_kernels
from pacboost.kernels.runtime.threads import each_rows
from pacboost.numerics.memory import lies_on_gpu

if TYPE_CHECKING:
    from pacboost.kernels.cuda.device import GpuArray

STEP = MISSING = np.uint64(0x9E3779B97F4A7C15)
"""The increment of splitmix64, and the cell of missing values."""
MIN_CELLS_TO_COMPILE = 2_000_000
"""On fewer cells, NumPy ends before these kernels are compiled."""


@inline
def mixed(x: np.uint64) -> np.uint64:
    """Spread bits over the whole word: the finalizer of splitmix64 (Steele, Lea and Flood 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@part_of_kernels
def cell(value: float) -> np.uint64:
    """Return the bits of a value rounded to 32 bits; all missing values are equal."""
    rounded = np.float32(value) + np.float32(0)  # turns -0 into 0
    return MISSING if np.isnan(rounded) else np.uint64(np.float32(rounded).view(np.uint32))


@kernel
def add_hashes(values: NDArray[np.floating], factors: Words, total: Words) -> None:
    """Add the hash of every value (rows, columns) to that of its row."""
    for i in range(total.size):
        for j in range(factors.size):
            total[i] += mixed(cell(values[i, j]) + factors[j])


@kernel
def finish(total: Words) -> None:
    """Turn the sum of every row into its hash."""
    for i in range(total.size):
        total[i] = mixed(total[i])


@kernel
def below_limit(
    values: NDArray[np.floating], columns: Wholes, factors: Words, salt: np.uint64,
    limit: np.uint64, is_below: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Find the rows whose hash of some columns is below a limit."""
    for i in range(is_below.size):
        total = salt
        for k in range(columns.size):
            j = columns[k]
            total += mixed(cell(values[i, j]) + factors[j])
        is_below[i] = mixed(total) < limit


def rows_below(
    values: GpuArray, chosen: NDArray[np.intp] | None, columns: Wholes, factors: Words, salt: int,
    limit: int,
) -> NDArray[np.intp]:  # fmt: skip
    """Return the rows whose hash of some columns is below a limit; on a GPU, of those chosen."""
    if lies_on_gpu(values):
        from pacboost.kernels.cuda import encode

        return encode.rows_below(values, chosen, columns, factors, salt, limit)
    is_below = np.empty(len(values), dtype=np.bool_)
    fixed = columns, factors, np.uint64(salt), np.uint64(limit)
    each_rows(
        lambda a, b: below_limit(values[a:b], *fixed, is_below[a:b]),
        len(values),
        width=columns.size,
    )
    return np.flatnonzero(is_below)


BITS = 53
"""Random numbers are integers below 2**53, which are exact as floats."""


@kernel
def drawn(row: np.uint64, key: np.uint64) -> np.uint64:
    """Return the random number of a row under a key (splitmix64)."""
    return mixed(row * STEP + key) >> np.uint64(64 - BITS)


@kernel
def numbers(rows: Words, key: np.uint64, out: Words) -> None:
    """Write the random numbers of rows."""
    for i in range(rows.size):
        out[i] = drawn(rows[i], key)


@kernel
def below(kinds: Bytes, limits: Words, first: int, key: np.uint64, out: Wholes) -> int:
    """Find the rows first, first + 1, … whose random number is below the limit of their kind."""
    count = 0
    for i in range(kinds.size):
        if drawn(np.uint64(first + i), key) < limits[kinds[i]]:
            out[count] = first + i
            count += 1
    return count


@kernel
def keep(
    tickets: Words, key: np.uint64, chances: Floats, bounds: Floats, scale: float, odds: Floats,
    chosen: Wholes,
) -> int:  # fmt: skip
    """Choose each row with a probability: the smaller of its chance and its bound, over the scale.

    Write the chosen rows and their probabilities (``odds``), and return how many they are.
    ``bounds`` may be empty.
    """
    count = 0
    for i in range(tickets.size):
        chance = min(chances[i], bounds[i]) if bounds.size else chances[i]
        probability = min(1.0, chance / scale)
        if drawn(tickets[i], key) * 2.0**-BITS < probability:
            odds[count], chosen[count] = probability, i
            count += 1
    return count
