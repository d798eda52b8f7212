"""Words as rules: the gains of words, and the scores of a vote of word lists.

The rows that hold a word are ``rows[starts[word] : starts[word + 1]]``, see sources/sparse.py. Sums
over rows are of integers, and every word is judged separately: nothing depends on threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.runtime import Bytes, Cells, Floats, Numbers, Wholes
from pacboost.kernels.runtime.board import TICKET, last_to_arrive, own_share, release
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import add, kernel, part_of_kernels, team_kernel
from pacboost.kernels.split import Z, worth_of_one

NO_ROWS = -1.0
"""The gain of a word that no free row holds: smaller than any other."""


@kernel
def spoken(criterion: int, pull: float, weight: float, penalty: float) -> float:
    """Return the gain of a cell, for one output, over abstaining.

    NEWTON: pull²/(weight + penalty). ERROR: |pull|. Z: W - 2√(W₊W₋) = W - √(W² - pull²), the
    decrease of the sum of weights (Schapire and Singer 2000, for rules that may abstain).
    """
    if weight + penalty <= 0:
        return 0.0
    worth = worth_of_one(criterion, pull, weight, penalty)
    return weight + worth if criterion == Z else worth


class WordRows(NamedTuple):
    """The rows that hold each word, the pulls and weights of all rows, and the criterion."""

    starts: Wholes
    rows: Numbers
    taken: Bytes
    weights: Wholes
    pulls: NDArray[np.integer]
    times_weight: bool
    rest: Wholes
    """(2, outputs): the sums of pulls and weights of all rows not taken; of shape (2, 0) if lists
    abstain on rows without a word."""
    criterion: int
    penalty: float


@part_of_kernels
def gain_of(word: int, word_rows: WordRows, sums: Wholes) -> float:
    """Return the gain of a word on the rows that hold it and are not taken."""
    if not add_up(word, word_rows, sums):
        return NO_ROWS
    gain, rest = 0.0, word_rows.rest
    for k in range(sums.shape[1]):
        gain += spoken(word_rows.criterion, float(sums[0, k]), float(sums[1, k]), word_rows.penalty)
    for k in range(rest.shape[1]):
        pull, weight = rest[0, k] - sums[0, k], rest[1, k] - sums[1, k]
        gain += spoken(word_rows.criterion, float(pull), float(weight), word_rows.penalty)
    return gain


@part_of_kernels
def add_up(word: int, word_rows: WordRows, sums: Wholes) -> bool:
    """Sum the pulls and weights of a word's rows not taken; return whether there are any."""
    weights, pulls = word_rows.weights, word_rows.pulls
    pull_sums, weight_sums = sums[0], sums[1]
    sums[:] = 0
    has_rows = False
    for i in word_rows.rows[word_rows.starts[word] : word_rows.starts[word + 1]]:
        if word_rows.taken[i]:
            continue
        has_rows = True
        weight, pull = weights[i], pulls[i]
        for k in range(weight.size):
            weight_sums[k] += weight[k]
            pull_sums[k] += weight[k] * pull[k] if word_rows.times_weight else pull[k]
    return has_rows


@team_kernel()
def gains_of_all(member: Member, words: Wholes, word_rows: WordRows, out: Floats) -> None:
    """Write the gain of each word."""
    sums = np.empty((2, word_rows.weights.shape[1]), np.int64)
    first, last = own_share(words.size, member)
    for c in range(first, last):
        out[c] = gain_of(words[c], word_rows, sums)


@kernel
def score(
    starts: Wholes, words: Numbers, entries: Wholes, lists: Numbers, lines: Numbers, n_lists: int,
    values: Floats, first: int, scores: Floats,
) -> None:  # fmt: skip
    """Add the values of word lists to the scores (rows, outputs), from row ``first`` on.

    Word j is in the lists ``lists[entries[j] : entries[j + 1]]``, with the values in line
    ``lines[...]`` of ``values``. Lines of a list are in the order of its words, so the word of a
    row with the smallest line counts; in lists with the number -1 every word does.
    """
    first_line, met = np.full(n_lists, -1, np.int32), np.empty(n_lists, np.int32)
    n_words = entries.size - 1
    for i in range(scores.shape[0]):
        count = 0
        for q in range(starts[first + i], starts[first + i + 1]):
            word = words[q]
            if word >= n_words:
                continue
            for entry in range(entries[word], entries[word + 1]):
                list_number, line = lists[entry], lines[entry]
                if list_number < 0:
                    for k in range(scores.shape[1]):
                        scores[i, k] += values[line, k]
                elif first_line[list_number] < 0:
                    first_line[list_number] = line
                    met[count] = list_number
                    count += 1
                elif line < first_line[list_number]:
                    first_line[list_number] = line
        for m in range(count):
            line = first_line[met[m]]
            first_line[met[m]] = -1
            for k in range(scores.shape[1]):
                scores[i, k] += values[line, k]


@kernel
def separate(
    starts: Wholes, words: Numbers, values: Floats, rare: Floats, signs: NDArray[np.int8],
    costs: Floats, orders: Numbers, first: int, last: int, slopes: Floats, pushes: Floats,
) -> None:  # fmt: skip
    """Find the linear functions with the least Σ w²/2 + Σ cost·max(0, 1 - y·w(x))², for outputs
    from ``first`` to ``last``: coordinate descent in the dual (Hsieh et al. 2008).

    Row i holds ``words`` with ``values``, and words that no other row holds, whose squares sum to
    ``rare``; the last line of ``slopes`` is the intercept. ``pushes`` are the dual variables (rows,
    outputs); ``orders`` lists all rows once for every pass.
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
                step = max(push[k] + lack / square, 0.0) - push[k]
                push[k] += step
                room[k] = sign[k] * step
                moved |= step != 0
            if moved:
                for k in range(room.size):
                    always[k] += room[k]
                for q in range(starts[i], starts[i + 1]):
                    value, line = values[q], slopes[words[q], first:last]
                    for k in range(room.size):
                        line[k] += value * room[k]


WORDS, FREE = range(2)
"""Places in ``progress``: the number of words in the list, and of rows not taken."""


@part_of_kernels
def append(word: int, word_rows: WordRows, asked: Numbers, cells: Cells, progress: Wholes) -> None:
    """Append a word to a list: its rows are taken, and those without a cell get one."""
    for i in word_rows.rows[word_rows.starts[word] : word_rows.starts[word + 1]]:
        progress[FREE] -= 1 - word_rows.taken[i]
        word_rows.taken[i] = 1
        if cells[i] == asked.size:
            cells[i] = progress[WORDS]
    asked[progress[WORDS]] = word
    progress[WORDS] += 1


@team_kernel()
def extend(
    member: Member, drawn: Wholes, word_rows: WordRows, gains: Floats, asked: Numbers, cells: Cells,
    progress: Wholes,
) -> None:  # fmt: skip
    """Append the best word of every line drawn to a list, if it gains anything.

    Members of a team take the words of a line one by one, because they differ in their numbers of
    rows; the last member to end appends the best by ``gains``. The rows that hold it and have no
    cell get the next one; a cell of ``asked.size`` means none.
    """
    sums, rest = np.empty((2, word_rows.weights.shape[1]), np.int64), word_rows.rest
    if last_to_arrive(member):
        member.board[TICKET] = 0
        release(member)
    for line in range(drawn.shape[0]):
        if progress[FREE] == 0:
            break
        words = drawn[line]
        c = add(member.board, TICKET, 1)
        while c < words.size:
            gains[c] = gain_of(words[c], word_rows, sums)
            c = add(member.board, TICKET, 1)
        if last_to_arrive(member):
            member.board[TICKET] = 0
            best = np.argmax(gains)
            if gains[best] > 0:
                if rest.shape[1] > 0:
                    add_up(words[best], word_rows, sums)
                    rest -= sums
                append(words[best], word_rows, asked, cells, progress)
            release(member)
