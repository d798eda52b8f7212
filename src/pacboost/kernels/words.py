"""Words as rules: what each of some words would win, and the scores of a vote of word lists.

Which rows hold a word is ``rows[starts[word] : starts[word + 1]]``, see sources/sparse.py. Sums
over rows are of whole numbers, and every word is weighed alone: nothing depends on threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.runtime import Bytes, Cells, Floats, Numbers, Wholes
from pacboost.kernels.runtime.board import TICKET, last_to_arrive, own_share, release
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import Function, add, kernel, part_of_kernels, team_kernel
from pacboost.kernels.split import ERROR, NEWTON

NOTHING = -1.0
"""The gain of a word that no free row holds: less than that of any other."""


@kernel
def spoken(criterion: int, pull: float, weight: float, penalty: float) -> float:
    """What a cell wins by speaking instead of keeping silent, of one output.

    NEWTON: pull²/(weight + penalty). ERROR: |pull|. Z: W - 2√(W₊W₋) = W - √(W² - pull²), by which
    the sum of weights falls (Schapire and Singer 2000, for rules that may abstain).
    """
    if criterion == NEWTON:
        below = weight + penalty
        return pull * pull / below if below > 0 else 0.0
    if criterion == ERROR:
        return abs(pull)
    # both factors are whole: weight² - pull² would lose digits where a cell is nearly pure
    return float(weight - np.sqrt(max((weight - pull) * (weight + pull), 0.0)))


class WordRows(NamedTuple):
    """The rows that hold each word, what all rows ask for, and how words are judged by it."""

    starts: Wholes
    rows: Numbers
    taken: Bytes
    weights: Wholes
    pulls: NDArray[np.integer]
    times_weight: bool
    rest: Wholes
    """(2, outputs): the pulls and weights of all rows not taken, where those without a word speak
    too; of shape (2, 0) where they keep silent."""
    criterion: int
    penalty: float


@part_of_kernels
def gain_of(word: int, held: WordRows, sums: Wholes) -> float:
    """Return what a word would win on the rows that hold it and are not taken."""
    if not add_up(word, held, sums):
        return NOTHING
    gain, rest = 0.0, held.rest
    for k in range(sums.shape[1]):
        gain += spoken(held.criterion, float(sums[0, k]), float(sums[1, k]), held.penalty)
    for k in range(rest.shape[1]):
        pull, weight = rest[0, k] - sums[0, k], rest[1, k] - sums[1, k]
        gain += spoken(held.criterion, float(pull), float(weight), held.penalty)
    return gain


@part_of_kernels
def add_up(word: int, held: WordRows, sums: Wholes) -> bool:
    """Write sums of pulls and weights of a word's rows not taken; tell if there are any."""
    taken, weights, pulls, times_weight = held.taken, held.weights, held.pulls, held.times_weight
    own_pulls, own_weights = sums[0], sums[1]
    sums[:] = 0
    found = False
    for i in held.rows[held.starts[word] : held.starts[word + 1]]:
        if taken[i]:
            continue
        found = True
        weight, pull = weights[i], pulls[i]
        if times_weight:
            for k in range(weight.size):
                own_weights[k] += weight[k]
                own_pulls[k] += weight[k] * pull[k]
        else:
            for k in range(weight.size):
                own_weights[k] += weight[k]
                own_pulls[k] += pull[k]
    return found


@team_kernel()
def gains_of_all(member: Member, words: Wholes, held: WordRows, out: Floats) -> None:
    """Write what each word would win."""
    sums = np.empty((2, held.weights.shape[1]), np.int64)
    first, last = own_share(words.size, member)
    for c in range(first, last):
        out[c] = gain_of(words[c], held, sums)


@kernel
def score(
    starts: Wholes,
    words: Numbers,
    entries: Wholes,
    lists: Numbers,
    lines: Numbers,
    n_lists: int,
    values: Floats,
    first: int,
    scores: Floats,
) -> None:
    """Add what word lists say to the scores (rows, outputs), from row ``first`` on.

    Word j stands in the lists ``lists[entries[j] : entries[j + 1]]``, where line ``lines[...]`` of
    ``values`` is what it says. Lines of a list are in the order of its words, so of all words that
    a row holds the one with the least line speaks; of lists with the number -1 every word does.
    """
    least, met = np.full(n_lists, -1, np.int32), np.empty(n_lists, np.int32)
    known = entries.size - 1
    for i in range(scores.shape[0]):
        count = 0
        for q in range(starts[first + i], starts[first + i + 1]):
            word = words[q]
            if word >= known:
                continue
            for entry in range(entries[word], entries[word + 1]):
                own, line = lists[entry], lines[entry]
                if own < 0:
                    for k in range(scores.shape[1]):
                        scores[i, k] += values[line, k]
                elif least[own] < 0:
                    least[own] = line
                    met[count] = own
                    count += 1
                elif line < least[own]:
                    least[own] = line
        for m in range(count):
            line = least[met[m]]
            least[met[m]] = -1
            for k in range(scores.shape[1]):
                scores[i, k] += values[line, k]


@kernel
def separate(
    starts: Wholes,
    words: Numbers,
    values: Floats,
    rare: Floats,
    signs: NDArray[np.int8],
    costs: Floats,
    orders: Numbers,
    first: int,
    last: int,
    slopes: Floats,
    pushes: Floats,
) -> None:
    """Find the linear functions with the least Σ w²/2 + Σ cost·max(0, 1 - y·w(x))², for outputs
    from ``first`` to ``last``: coordinate descent in the dual (Hsieh et al. 2008).

    Row i holds ``words`` with ``values``, and words of its own whose squares add up to ``rare``;
    the last line of ``slopes`` belongs to all rows. ``pushes`` are the dual variables (rows,
    outputs); ``orders`` names all rows once for every pass.
    """
    always, room = slopes[-1, first:last], np.empty(last - first)
    for order in orders:
        for i in order:
            if costs[i] <= 0:
                continue
            push, sign, looser = pushes[i, first:last], signs[i, first:last], 0.5 / costs[i]
            square = 1.0 + rare[i] + looser
            for k in range(room.size):
                room[k] = always[k] + rare[i] * sign[k] * push[k]
            for q in range(starts[i], starts[i + 1]):
                value, line = values[q], slopes[words[q], first:last]
                square += value * value
                for k in range(room.size):
                    room[k] += value * line[k]
            moved = False
            for k in range(room.size):
                lack = 1.0 - sign[k] * room[k] - looser * push[k]
                more = max(push[k] + lack / square, 0.0) - push[k]
                push[k] += more
                room[k] = sign[k] * more
                moved |= more != 0
            if moved:
                for k in range(room.size):
                    always[k] += room[k]
                for q in range(starts[i], starts[i + 1]):
                    value, line = values[q], slopes[words[q], first:last]
                    for k in range(room.size):
                        line[k] += value * room[k]


# Lists of words: the best of each line of words drawn, for the rows that none before it has taken.
#
# Words are weighed by kernels/words.py, and many of them only bounded: kernels/words.py.

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
    member: Member,
    weights: Wholes,
    pulls: Wholes,
    shift: int,
    copies: NDArray[np.int16],
    bits: Wholes,
) -> None:
    """Drop the last ``shift`` bits of pulls and weights (rows, outputs); a row's pulls come first.

    ``bits`` gets every bit that occurs in one of the numbers, so that it shows if they fit.
    """
    a, b = own_share(weights.shape[0], member)
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
    bits[member.number] = found


@part_of_kernels
def add_up_free(
    held: Numbers, taken: Bytes, copies: NDArray[np.int16], free: Numbers, sums: Numbers
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
    sums: Numbers, count: int, unit: float, rest: Wholes, penalty: float
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
    held: WordRows,
    copies: NDArray[np.int16],
    unit: float,
    free: Numbers,
    sums: Numbers,
    out: Floats,
) -> None:
    """Write bounds on what a word would win."""
    rows = held.rows[held.starts[word] : held.starts[word + 1]]
    if rows.size >= MOST_ROWS:
        out[LOW], out[HIGH] = 0.0, np.inf
        return
    count = add_up_free(rows, held.taken, copies, free, sums)
    out[LOW] = out[HIGH] = NOTHING
    if count > 0:
        out[LOW], out[HIGH] = bounds(sums, count, unit, held.rest, held.penalty)


@part_of_kernels
def weigh_contenders(words: Wholes, held: WordRows, sums: Wholes, out: Floats) -> None:
    """Write what words win that may be the best by their bounds; a single one need not be weighed.

    All others win NOTHING, and so do words that the same rows hold as one before them: many
    conditions say the same of all training rows, and of equal words the first is taken.
    """
    least, left = out[LOW].max(), 0
    for c in range(words.size):
        contends = out[HIGH, c] >= least
        for other in range(c if contends else 0):
            if out[GAIN, other] > NOTHING and same_rows(words[c], words[other], held):
                contends = False
                break
        out[GAIN, c] = out[LOW, c] if contends else NOTHING
        left += contends
    for c in range(words.size):
        if out[GAIN, c] > NOTHING and (left > 1 or not out[GAIN, c] > 0):
            out[GAIN, c] = gain_of(words[c], held, sums)


@part_of_kernels
def same_rows(word: int, other: int, held: WordRows) -> bool:
    """Check whether the same rows hold two words."""
    rows = held.rows[held.starts[word] : held.starts[word + 1]]
    others = held.rows[held.starts[other] : held.starts[other + 1]]
    if rows.size != others.size:
        return False
    different = 0
    for place in range(rows.size):
        different += rows[place] != others[place]
    return different == 0


@part_of_kernels
def append(word: int, held: WordRows, asked: Numbers, cells: Cells, progress: Wholes) -> None:
    """Put a word at the end of a list: its rows are taken, and those without a cell get one."""
    for i in held.rows[held.starts[word] : held.starts[word + 1]]:
        progress[FREE] -= 1 - held.taken[i]
        held.taken[i] = 1
        if cells[i] == asked.size:
            cells[i] = progress[WORDS]
    asked[progress[WORDS]] = word
    progress[WORDS] += 1


@team_kernel()
def extend(
    member: Member,
    drawn: Wholes,
    held: WordRows,
    copies: NDArray[np.int16],
    unit: float,
    out: Floats,
    asked: Numbers,
    cells: Cells,
    progress: Wholes,
) -> None:
    """Put the best word of every line drawn at the end of a list, if it wins anything.

    Members take the words of a line one by one, since the numbers of rows that hold them differ,
    and the last one to be done takes the best: ``out`` has room for what each wins, and for bounds
    on it. The rows that hold it and had no cell get the next one; ``cells`` of rows that have none
    is the size of ``asked``. With ``copies``, numbers in units of ``unit``, words that cannot be
    the best are not weighed exactly.
    """
    sums, rest = np.empty((2, held.weights.shape[1]), np.int64), held.rest
    room = held.taken.size if copies.size else 0
    free, copied_sums = np.empty(room, np.int32), np.empty(copies.shape[1], np.int32)
    if last_to_arrive(member):
        member.board[TICKET] = 0
        release(member)
    for line in range(drawn.shape[0]):
        if progress[FREE] == 0:
            break
        own, won = drawn[line], out[GAIN]
        c = add(member.board, TICKET, 1)
        while c < own.size:
            if copies.size:
                bound_gain(own[c], held, copies, unit, free, copied_sums, out[:, c])
            else:
                won[c] = gain_of(own[c], held, sums)
            c = add(member.board, TICKET, 1)
        if last_to_arrive(member):
            member.board[TICKET] = 0
            if copies.size:
                weigh_contenders(own, held, sums, out)
            best = np.argmax(won)
            if won[best] > 0:
                if rest.shape[1] > 0:
                    add_up(own[best], held, sums)
                    rest -= sums
                append(own[best], held, asked, cells, progress)
            release(member)
