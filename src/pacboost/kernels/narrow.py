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
from pacboost.kernels.jit import part_of_kernels, team_kernel

BITS = 15
"""A copied number is at least -2^15 and less than 2^15."""
MOST_ROWS = 2**16
"""Sums of so many copied numbers fit into 32 bits."""
SLACK = 1e-9
"""By what share of themselves bounds are widened, since floats are rounded."""


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


@part_of_kernels
def bounds(
    sums: NDArray[np.int32],
    count: int,
    unit: float,
    rest: NDArray[np.int64],
    penalty: float,
) -> tuple[float, float]:
    """Give the least and the most that a word can win, by NEWTON: Σ pull²/(weight + penalty).

    A copied number is its original in units of ``unit``, rounded down: the sums of ``count`` rows
    are off by ``half`` at most, once they are raised by it. ``rest`` is as in kernels/words.py.
    """
    outputs = sums.size // 2
    half = 0.5 * count * unit
    low = high = 0.0
    for k in range(outputs):
        pull, weight = sums[k] * unit + half, sums[outputs + k] * unit + half
        least, most = newton_bounds(pull, weight, half, penalty)
        low += least
        high += most
        if rest.shape[1] > 0:
            least, most = newton_bounds(rest[0, k] - pull, rest[1, k] - weight, half, penalty)
            low += least
            high += most
    return low * (1 - SLACK), high * (1 + SLACK)


@part_of_kernels
def newton_bounds(pull: float, weight: float, half: float, penalty: float) -> tuple[float, float]:
    """Bound pull²/(weight + penalty), where both sums are off by ``half`` at most."""
    least, most = weight - half + penalty, weight + half + penalty
    if not least > 0:
        return 0.0, np.inf  # where nothing weighs, nothing is won
    size = abs(pull)
    nearer = size - half if size > half else 0.0
    farther = size + half
    return nearer * nearer / most, farther * farther / least
