"""Hashes of rows, and chances that are keyed by rows: see samples/row_hashes.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.cuda import encode
from pacboost.kernels.cuda.device import on_gpu
from pacboost.kernels.runtime import Bytes, Floats, Wholes, Words
from pacboost.kernels.runtime.jit import inline, kernel, part_of_kernels
from pacboost.kernels.runtime.threads import each_rows

STEP = MISSING = np.uint64(0x9E3779B97F4A7C15)
"""By which splitmix64 moves on; and the cell of missing values."""
CELLS_WORTH_COMPILING = 2_000_000
"""On fewer cells, NumPy is done before this is compiled."""


@inline
def mixed(x: np.uint64) -> np.uint64:
    """Spread bits over the whole word: the end of splitmix64 (Steele, Lea and Flood 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@part_of_kernels
def cell(value: float) -> np.uint64:
    """Return the bits of a value rounded to 32 bits; missing values are all alike."""
    rounded = np.float32(value) + np.float32(0)  # -0 becomes 0
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
    values: NDArray[np.floating],
    columns: Wholes,
    factors: Words,
    salt: np.uint64,
    limit: np.uint64,
    is_below: NDArray[np.bool_],
) -> None:
    """Find the rows whose hash of some columns is below a limit."""
    for i in range(is_below.size):
        total = salt
        for k in range(columns.size):
            j = columns[k]
            total += mixed(cell(values[i, j]) + factors[j])
        is_below[i] = mixed(total) < limit


def rows_below(
    values: Any, chosen: NDArray[np.intp] | None, columns: Wholes, factors: Words, salt: int,
    limit: int,
) -> NDArray[np.intp]:  # fmt: skip
    """Return the rows whose hash of some columns is below a limit, of those chosen on a GPU."""
    if on_gpu(values):
        return encode.rows_below(values, chosen, columns, factors, salt, limit)
    is_below = np.empty(len(values), dtype=np.bool_)
    fixed = columns, factors, np.uint64(salt), np.uint64(limit)
    each_rows(
        lambda a, b: below_limit(values[a:b], *fixed, is_below[a:b]),
        len(values),
        width=columns.size,
    )
    return np.flatnonzero(is_below)


# Chances keyed by row: whether a row is looked at depends on its identity and a key alone.

BITS = 53
"""Numbers drawn are whole, below 2**53, so that they are floats as well."""


@kernel
def drawn(row: np.uint64, key: np.uint64) -> np.uint64:
    """Return number of a row under a key (splitmix64)."""
    return mixed(row * STEP + key) >> np.uint64(64 - BITS)


@kernel
def numbers(rows: Words, key: np.uint64, out: Words) -> None:
    """Number the rows."""
    for i in range(rows.size):
        out[i] = drawn(rows[i], key)


@kernel
def below(kinds: Bytes, limits: Words, first: int, key: np.uint64, out: Wholes) -> int:
    """Find the rows first, first + 1, … whose number is below the limit of their kind."""
    found = 0
    for i in range(kinds.size):
        if drawn(np.uint64(first + i), key) < limits[kinds[i]]:
            out[found] = first + i
            found += 1
    return found


@kernel
def keep(
    tickets: Words,
    key: np.uint64,
    chances: Floats,
    bounds: Floats,
    scale: float,
    odds: Floats,
    kept: Wholes,
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
