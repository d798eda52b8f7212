"""Lists of words: the best of each line of words drawn, for the rows that none before it has taken.

Words are weighed by kernels/words.py, and many of them only bounded: kernels/narrow.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels import narrow
from pacboost.kernels.atomic import add
from pacboost.kernels.board import TICKET, last_to_arrive, release
from pacboost.kernels.jit import part_of_kernels, team_kernel
from pacboost.kernels.words import NOTHING, add_up, gains

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
    """Write bounds on what a word would win: kernels/narrow.py."""
    held = rows[starts[word] : starts[word + 1]]
    if held.size >= narrow.MOST_ROWS:
        out[LOW], out[HIGH] = 0.0, np.inf
        return
    count = narrow.add_up(held, taken, copies, free, sums)
    out[LOW] = out[HIGH] = NOTHING
    if count > 0:
        out[LOW], out[HIGH] = narrow.bounds(sums, count, unit, rest, penalty)


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
    """Tell whether the same rows hold two words."""
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
    the best are not weighed exactly: kernels/narrow.py.
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
