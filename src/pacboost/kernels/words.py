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
from pacboost.kernels.runtime.jit import add, kernel, part_of_kernels, team_kernel
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


# what ``progress`` holds: how many words the list has, and how many rows are not taken
WORDS, FREE = range(2)


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
    gains: Floats,
    asked: Numbers,
    cells: Cells,
    progress: Wholes,
) -> None:
    """Put the best word of every line drawn at the end of a list, if it wins anything.

    Members take the words of a line one by one, since the numbers of rows that hold them differ,
    and the last one to be done takes the best: ``gains`` has room for what each wins. The rows that
    hold it and had no cell get the next one; ``cells`` of rows that have none is the size of
    ``asked``.
    """
    sums, rest = np.empty((2, held.weights.shape[1]), np.int64), held.rest
    if last_to_arrive(member):
        member.board[TICKET] = 0
        release(member)
    for line in range(drawn.shape[0]):
        if progress[FREE] == 0:
            break
        words = drawn[line]
        c = add(member.board, TICKET, 1)
        while c < words.size:
            gains[c] = gain_of(words[c], held, sums)
            c = add(member.board, TICKET, 1)
        if last_to_arrive(member):
            member.board[TICKET] = 0
            best = np.argmax(gains)
            if gains[best] > 0:
                if rest.shape[1] > 0:
                    add_up(words[best], held, sums)
                    rest -= sums
                append(words[best], held, asked, cells, progress)
            release(member)
