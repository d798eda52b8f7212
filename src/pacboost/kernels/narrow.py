"""Bounds on what words would win, from a narrow copy of the pulls and weights of all rows.

With many classes a round reads the pulls and weights of every row many times, and waits for memory
most of the time. A copy of 16 bits a number is a quarter of that. It bounds every sum from both
sides, and so the gain of a word; only words that may be the best of a line are then weighed by the
exact numbers. So the choice is the one that exact numbers alone would make.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.board import share
from pacboost.kernels.jit import Function, part_of_kernels, team_kernel

BITS = 15
"""A copied number is at least -2^15 and less than 2^15."""
MOST_ROWS = 2**16
"""Sums of so many copied numbers fit into 32 bits."""
MOST_OUTPUTS = 1_000
ROUNDED, SLACK = np.float32(2.0**-20), 1e-4
"""By what share of themselves numbers of 32 bits, and sums of so many, may be off by rounding."""


@team_kernel(allocates=False)
def copy(
    member: int,
    team: int,
    board: NDArray[np.int64],
    weights: NDArray[np.int64],
    pulls: NDArray[np.int64],
    shift: int,
    copies: NDArray[np.int16],
    bits: NDArray[np.int64],
) -> None:
    """Drop the last ``shift`` bits of pulls and weights (rows, outputs); a row's pulls come first.

    ``bits`` gets every bit that occurs in one of the numbers, so that it shows if they fit.
    """
    a, b = share(weights.shape[0], member, team)
    outputs = weights.shape[1]
    own_pulls, own_weights, own_copies = pulls[a:b], weights[a:b], copies[a:b]
    found = np.int64(0)
    for i in range(own_pulls.shape[0]):
        pull, weight, row = own_pulls[i], own_weights[i], own_copies[i]
        first, second = row[:outputs], row[outputs:]
        for k in range(outputs):
            first[k] = np.int16(pull[k] >> shift)
            second[k] = np.int16(weight[k] >> shift)
        for k in range(outputs):
            found |= pull[k] ^ (pull[k] >> np.int64(63))
            found |= weight[k]
    bits[member] = found


@part_of_kernels
def add_up(
    held: NDArray[np.int32],
    taken: NDArray[np.uint8],
    copies: NDArray[np.int16],
    free: NDArray[np.int32],
    sums: NDArray[np.int32],
) -> int:
    """Write the sums of the copies of rows that are not taken; give the number of these rows."""
    count = 0
    for i in held:
        free[count] = i
        count += 1 - taken[i]
    sums[:] = 0
    fours = count // 4 * 4
    for j in range(0, fours, 4):  # four rows at once: sums are read and written once for them
        a, b = copies[free[j]], copies[free[j + 1]]
        c, d = copies[free[j + 2]], copies[free[j + 3]]
        for k in range(sums.size):
            sums[k] += np.int32((a[k] + b[k]) + (c[k] + d[k]))
    for j in range(fours, count):
        a = copies[free[j]]
        for k in range(sums.size):
            sums[k] += np.int32(a[k])
    return count


def loosely_added(function: Function) -> Function:
    """Make a part of kernels whose sums may be added in any order, and so run on vectors."""
    return part_of_kernels(function, fastmath={"reassoc"})


@loosely_added
def bounds(
    sums: NDArray[np.int32], count: int, unit: float, rest: NDArray[np.int64], penalty: float
) -> tuple[float, float]:
    """Give the least and the most that a word can win, by NEWTON: Σ pull²/(weight + penalty).

    A copied number is its original in units of ``unit``, rounded down: the sums of ``count`` rows
    are off by ``half`` at most, once they are raised by it. ``rest`` is as in kernels/words.py.
    """
    outputs = sums.size // 2
    half, added = np.float32(0.5 * count), np.float32(penalty / unit)
    low = high = np.float32(0)
    for k in range(outputs):
        pull, weight = np.float32(sums[k]) + half, np.float32(sums[outputs + k]) + half
        off = half + ROUNDED * (abs(pull) + weight)
        least, most = newton_bounds(pull, weight, off, added)
        low += least
        high += most
    for k in range(rest.shape[1]):
        all_pulls, all_weights = np.float32(rest[0, k] / unit), np.float32(rest[1, k] / unit)
        pull, weight = np.float32(sums[k]) + half, np.float32(sums[outputs + k]) + half
        off = half + ROUNDED * (abs(pull) + weight + abs(all_pulls) + all_weights)
        least, most = newton_bounds(all_pulls - pull, all_weights - weight, off, added)
        low += least
        high += most
    scale = float(unit)  # pull² has it twice, and the weight once
    return float(low) * (1 - SLACK) * scale, float(high) * (1 + SLACK) * scale


@loosely_added
def newton_bounds(
    pull: np.float32, weight: np.float32, off: np.float32, penalty: np.float32
) -> tuple[np.float32, np.float32]:
    """Bound pull²/(weight + penalty), where both sums are off by ``off`` at most."""
    least, most = weight - off + penalty, weight + off + penalty
    nearer, farther = max(abs(pull) - off, np.float32(0)), abs(pull) + off
    weighs = least > 0  # where nothing weighs, nothing is won
    low = nearer * nearer / most if weighs else np.float32(0)
    return low, farther * farther / least if weighs else np.float32(np.inf)
