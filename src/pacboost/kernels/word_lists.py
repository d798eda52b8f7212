"""Lists of words: the best of each line of words drawn, for the rows that none before it has taken.

Words are weighed by kernels/words.py, and many of them only bounded: kernels/word_lists.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.runtime.board import TICKET, add, last_to_arrive, release, share
from pacboost.kernels.runtime.jit import Function, part_of_kernels, team_kernel
from pacboost.kernels.words import NOTHING, add_up, gains

# Bounds on what words would win, from a narrow copy of the pulls and weights of all rows.
#
# With many classes a round reads the pulls and weights of every row many times, and waits for
# memory most of the time. A copy of 16 bits a number is a quarter of that. It bounds every sum from
# both sides, and so the gain of a word; only words that may be the best of a line are then weighed
# by the exact numbers. So the choice is the one that exact numbers alone would make.

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
def add_up_free(
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
    """Return the least and the most that a word can win, by NEWTON: Σ pull²/(weight + penalty).

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


# what ``progress`` holds: how many words the list has, and how many rows are not taken
WORDS, FREE = range(2)
# lines of what words win: the exact numbers, and bounds on them
GAIN, LOW, HIGH = range(3)


@part_of_kernels
def bound_gain(
    word: int,
    starts: NDArray[np.int64],
    rows: NDArray[np.int32],
    taken: NDArray[np.uint8],
    copies: NDArray[np.int16],
    unit: float,
    rest: NDArray[np.int64],
    penalty: float,
    free: NDArray[np.int32],
    sums: NDArray[np.int32],
    out: NDArray[np.float64],
) -> None:
    """Write bounds on what a word would win: kernels/word_lists.py."""
    held = rows[starts[word] : starts[word + 1]]
    if held.size >= MOST_ROWS:
        out[LOW], out[HIGH] = 0.0, np.inf
        return
    count = add_up_free(held, taken, copies, free, sums)
    out[LOW] = out[HIGH] = NOTHING
    if count > 0:
        out[LOW], out[HIGH] = bounds(sums, count, unit, rest, penalty)


@part_of_kernels
def weigh_contenders(
    words: NDArray[np.int64],
    starts: NDArray[np.int64],
    rows: NDArray[np.int32],
    taken: NDArray[np.uint8],
    weights: NDArray[np.int64],
    pulls: NDArray[np.integer],
    times_weight: bool,
    rest: NDArray[np.int64],
    criterion: int,
    penalty: float,
    out: NDArray[np.float64],
) -> None:
    """Write what words win that may be the best by their bounds; a single one need not be weighed.

    All others win NOTHING, and so do words that the same rows hold as one before them: many
    conditions say the same of all training rows, and of equal words the first is taken.
    """
    least, left = out[LOW].max(), 0
    for c in range(words.size):
        contends = out[HIGH, c] >= least
        for other in range(c if contends else 0):
            if out[GAIN, other] > NOTHING and same_rows(words[c], words[other], starts, rows):
                contends = False
                break
        out[GAIN, c] = out[LOW, c] if contends else NOTHING
        left += contends
    for c in range(words.size):
        if out[GAIN, c] > NOTHING and (left > 1 or not out[GAIN, c] > 0):
            gains(
                words[c : c + 1], starts, rows, taken, weights, pulls, times_weight, rest,
                criterion, penalty, out[GAIN, c : c + 1],
            )  # fmt: skip


@part_of_kernels
def same_rows(word: int, other: int, starts: NDArray[np.int64], rows: NDArray[np.int32]) -> bool:
    """Check whether the same rows hold two words."""
    held = rows[starts[word] : starts[word + 1]]
    others = rows[starts[other] : starts[other + 1]]
    if held.size != others.size:
        return False
    different = 0
    for place in range(held.size):
        different += held[place] != others[place]
    return different == 0


@part_of_kernels
def append(
    word: int,
    starts: NDArray[np.int64],
    rows: NDArray[np.int32],
    taken: NDArray[np.uint8],
    asked: NDArray[np.int32],
    cells: NDArray[np.unsignedinteger],
    progress: NDArray[np.int64],
) -> None:
    """Put a word at the end of a list: its rows are taken, and those without a cell get one."""
    for i in rows[starts[word] : starts[word + 1]]:
        progress[FREE] -= 1 - taken[i]
        taken[i] = 1
        if cells[i] == asked.size:
            cells[i] = progress[WORDS]
    asked[progress[WORDS]] = word
    progress[WORDS] += 1


@team_kernel()
def extend(
    member: int,
    team: int,
    board: NDArray[np.int64],
    drawn: NDArray[np.int64],
    starts: NDArray[np.int64],
    rows: NDArray[np.int32],
    taken: NDArray[np.uint8],
    weights: NDArray[np.int64],
    pulls: NDArray[np.integer],
    times_weight: bool,
    rest: NDArray[np.int64],
    criterion: int,
    penalty: float,
    copies: NDArray[np.int16],
    unit: float,
    out: NDArray[np.float64],
    asked: NDArray[np.int32],
    cells: NDArray[np.unsignedinteger],
    progress: NDArray[np.int64],
) -> None:
    """Put the best word of every line drawn at the end of a list, if it wins anything.

    Members take the words of a line one by one, since the numbers of rows that hold them differ,
    and the last one to be done takes the best: ``out`` has room for what each wins, and for bounds
    on it. The rows that hold it and had no cell get the next one; ``cells`` of rows that have none
    is the size of ``asked``. With ``copies``, numbers in units of ``unit``, words that cannot be
    the best are not weighed exactly: kernels/word_lists.py.
    """
    sums = np.empty((2, weights.shape[1]), np.int64)
    room = taken.size if copies.size else 0
    free, copied_sums = np.empty(room, np.int32), np.empty(copies.shape[1], np.int32)
    if last_to_arrive(board, team):
        board[TICKET] = 0
        release(board, team)
    for line in range(drawn.shape[0]):
        if progress[FREE] == 0:
            break
        own, won = drawn[line], out[GAIN]
        c = add(board, TICKET, 1)
        while c < own.size:
            if copies.size:
                bound_gain(
                    own[c], starts, rows, taken, copies, unit, rest, penalty, free, copied_sums,
                    out[:, c],
                )  # fmt: skip
            else:
                gains(
                    own[c : c + 1], starts, rows, taken, weights, pulls, times_weight, rest,
                    criterion, penalty, won[c : c + 1],
                )  # fmt: skip
            c = add(board, TICKET, 1)
        if last_to_arrive(board, team):
            board[TICKET] = 0
            if copies.size:
                weigh_contenders(
                    own, starts, rows, taken, weights, pulls, times_weight, rest, criterion,
                    penalty, out,
                )  # fmt: skip
            best = np.argmax(won)
            if won[best] > 0:
                if rest.shape[1] > 0:
                    held = rows[starts[own[best]] : starts[own[best] + 1]]
                    add_up(held, taken, weights, pulls, times_weight, sums)
                    rest -= sums
                append(own[best], starts, rows, taken, asked, cells, progress)
            release(board, team)
