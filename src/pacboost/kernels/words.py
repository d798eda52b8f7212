"""Words as rules: what each of some words would win, and the scores of a vote of word lists.

Which rows hold a word is ``rows[starts[word] : starts[word + 1]]``, see sources/sparse.py. Sums
over rows are of whole numbers, and every word is weighed alone: nothing depends on threads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.cuts import ERROR, NEWTON
from pacboost.kernels.runtime.board import share
from pacboost.kernels.runtime.jit import kernel, team_kernel

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


@kernel
def gains(
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
    """Write what each word would win on the rows that hold it and are not taken.

    ``rest`` is (2, outputs): the pulls and weights of all rows not taken, where those without the
    word speak too; of shape (2, 0) where they keep silent.
    """
    outputs = weights.shape[1]
    sums = np.empty((2, outputs), np.int64)
    for c in range(words.size):
        held = rows[starts[words[c]] : starts[words[c] + 1]]
        found = add_up(held, taken, weights, pulls, times_weight, sums)
        gain = 0.0
        for k in range(outputs if found else 0):
            gain += spoken(criterion, float(sums[0, k]), float(sums[1, k]), penalty)
        for k in range(rest.shape[1] if found else 0):
            pull, weight = rest[0, k] - sums[0, k], rest[1, k] - sums[1, k]
            gain += spoken(criterion, float(pull), float(weight), penalty)
        out[c] = gain if found else NOTHING


@kernel
def add_up(
    held: NDArray[np.int32],
    taken: NDArray[np.uint8],
    weights: NDArray[np.int64],
    pulls: NDArray[np.integer],
    times_weight: bool,
    sums: NDArray[np.int64],
) -> bool:
    """Write the sums of pulls and weights of the rows that are not taken; tell if there are any."""
    own_pulls, own_weights = sums[0], sums[1]
    sums[:] = 0
    found = False
    for i in held:
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
def gains_of_all(
    member: int,
    team: int,
    board: NDArray[np.int64],
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
    """Do what ``gains`` does, by shares of the words."""
    a, b = share(words.size, member, team)
    gains(
        words[a:b], starts, rows, taken, weights, pulls, times_weight, rest, criterion, penalty,
        out[a:b],
    )  # fmt: skip


@kernel
def score(
    starts: NDArray[np.int64],
    words: NDArray[np.int32],
    entries: NDArray[np.int64],
    lists: NDArray[np.int32],
    lines: NDArray[np.int32],
    n_lists: int,
    values: NDArray[np.float64],
    first: int,
    scores: NDArray[np.float64],
) -> None:
    """Add what word lists say to the scores (rows, outputs), from row ``first`` on.

    Word j stands in the lists ``lists[entries[j] : entries[j + 1]]``, where line ``lines[...]`` of
    ``values`` is what it says. Lines of a list are in the order of its words, so of all words that
    a row holds the one with the least line speaks.
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
                if least[own] < 0:
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
