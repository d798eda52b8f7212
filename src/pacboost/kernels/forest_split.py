"""The best cut of one feature in one node of a forest's tree, on the codes of the node's rows.

The weight and target of a row are packed into one integer, its parcel. For two classes and for
regression, the best cut minimizes the squared error: it maximizes ΣL²/WL + ΣR²/WR, where W are sums
of weights and Σ sums of weighted targets (with targets 0 and 1 that is Gini's index, Breiman et al.
1984). With many classes, every class has such a target, and squares are summed over classes.

Only codes that occur in a node are visited: rows set a mark at their code, and marks are folded to
bits, 64 in a word.

Arrays are passed uncut, with the place where a node begins: creating a slice for every feature of
every small node took three times as long as all other work. Indices are unsigned, because numba
would check signed ones for counting from the end.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.hashing import STEP, mixed
from pacboost.kernels.runtime import Bytes, Floats, Numbers, Rows, Wholes, Words
from pacboost.kernels.runtime.jit import inline, trailing_zeros

Whole = int | np.int64


@inline
def below(state: Words, limit: Whole) -> np.int64:
    """Draw one of 0 … limit - 1 by splitmix64, uniformly up to limit/2³² (limit < 2³²)."""
    state[0] += STEP
    return np.int64(((mixed(state[0]) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


CLASSES, MISSING, TRIES, LEAST, SMALLEST, DEEPEST, RANDOM = range(7)
"""Places in ``plan``: the number of classes, the code of missing values, the number of features to
draw, the minimum rows of a leaf and of a node to split, the maximum depth, and whether cuts are
random. kernels/cuda/forest.cuh has the same order."""

CODES = 256
LOW = np.int64(0xFFFFFFFF)  # two classes: weight·target << 32 | weight
CLASS = np.int64(0xFFFF)  # many classes: weight << 16 | class

FOLD = np.uint64(0x0102040810204080 if sys.byteorder == "little" else 0x8040201008040201)
"""Multiplied by a word of eight marks, its first byte has them as bits."""

HEAVY, PULLS, ROWS, FOUND, HEADS, NODE = range(6)
"""Lines of ``sums``: by code the weights, weighted targets and numbers of rows; the codes that
occur; the first row of every chain (or rows minus 1); and the node's weight and weighted target."""
TOTALS, LEFT = CODES, CODES + 1
"""Lines of ``by_class`` after those of codes: the classes of the node, and those on the left."""


class Desk(NamedTuple):
    """The work space of one tree."""

    rows: Rows
    """The rows of the bag; then their parcels, and their weights if these are separate."""
    parcels: Wholes
    weights: Wholes
    spare_rows: Rows
    spare: Wholes
    codes: Bytes
    """Two lines: the current feature, and the best one so far."""
    chain: Numbers
    features: Wholes
    state: Words
    marks: Words
    each: Bytes
    """The marks byte by byte."""
    sums: Wholes
    by_class: Floats
    squares: Floats
    number: NDArray[np.float32]
    bits: Rows
    """The bits of ``number``."""
    stack: Wholes
    plan: Wholes


@inline
def marked(room: Desk, low: Whole, high: Whole) -> Whole:
    """List the marked codes in order, clear the marks, and return how many there are."""
    marks, sums = room.marks, room.sums
    count = 0
    for block in range(low >> 6, (high >> 6) + 1):
        bits = np.uint64(0)
        for k in range(8):
            bits |= marks[8 * block + k] * FOLD >> np.uint64(56) << np.uint64(8 * k)
            marks[8 * block + k] = 0
        while bits != 0:
            sums[FOUND, count] = 64 * block + trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            count += 1
    return count


@inline
def between(code: Whole, following: Whole, missing: Whole) -> Whole:
    """Return the cut halfway between two successive codes of a node."""
    return code if following == missing else (code + following - 1) >> 1


@inline
def heap_up(room: Desk, line: Whole, size: Whole, start: Whole, min_rows: Whole) -> None:
    """Add the rows of a node to the sums of their codes."""
    codes, parcels, weights = room.codes, room.parcels, room.weights
    each, sums = room.each, room.sums
    base = np.uint64(start)
    if weights.size == 0:
        for i in range(size):
            code = codes[line, i]
            sums[HEAVY, code] += parcels[base + np.uint64(i)]  # both halves at once
            each[code] = 1
    else:
        for i in range(size):
            code, at = codes[line, i], base + np.uint64(i)
            sums[HEAVY, code] += weights[at]
            sums[PULLS, code] += parcels[at]
            each[code] = 1
    if min_rows > 1:
        for i in range(size):
            sums[ROWS, codes[line, i]] += 1


@inline
def best_of_numbers(
    room: Desk, line: Whole, size: Whole, start: Whole, low: Whole, high: Whole, lightest: float
) -> tuple[float, Whole, Whole]:
    """Return the score of the best cut, its code, and 1 if missing values go left.

    Each side has at least ``LEAST`` rows of the plan and the weight ``lightest``. The sums of codes
    are zero before and after.
    """
    weights, sums, missing, min_rows = room.weights, room.sums, room.plan[MISSING], room.plan[LEAST]
    heap_up(room, line, size, start, min_rows)
    count = marked(room, low, high)
    if weights.size == 0:
        for k in range(count):
            code = sums[FOUND, k]
            sums[PULLS, code] = sums[HEAVY, code] >> 32
            sums[HEAVY, code] &= LOW
    best, cut, side = -1.0, low, low - low
    for missing_left in range(2 if high == missing else 1):
        w, t, n = np.int64(0), np.int64(0), np.int64(0)
        if missing_left:
            w, t, n = sums[HEAVY, missing], sums[PULLS, missing], sums[ROWS, missing]
        for k in range(count - 1 - missing_left):
            code = sums[FOUND, k]
            w += sums[HEAVY, code]
            t += sums[PULLS, code]
            n += sums[ROWS, code]
            if min_rows > 1 and (n < min_rows or size - n < min_rows):
                continue
            left_weight, right_weight = float(w), float(sums[NODE, 0] - w)
            right_pull = float(sums[NODE, 1] - t)
            if min(left_weight, right_weight) < lightest:
                continue
            score = float(t) * float(t) / left_weight + right_pull * right_pull / right_weight
            if score > best:
                best, side = score, missing_left
                cut = between(code, sums[FOUND, k + 1], missing)
    for k in range(count):
        code = sums[FOUND, k]
        sums[HEAVY, code], sums[PULLS, code], sums[ROWS, code] = 0, 0, 0
    return best, cut, side


@inline
def hang_up(room: Desk, line: Whole, size: Whole, start: Whole, chained: bool) -> None:
    """Link rows to the chain of their code, or add them to the sums of its classes."""
    codes, parcels, each = room.codes, room.parcels, room.each
    chain, sums, by_class = room.chain, room.sums, room.by_class
    base = np.uint64(start)
    if chained:
        for i in range(size):
            code = codes[line, i]
            each[code] = 1
            chain[i] = sums[HEADS, code]
            sums[HEADS, code] = i
    else:
        for i in range(size):
            code, parcel = codes[line, i], parcels[base + np.uint64(i)]
            each[code] = 1
            by_class[code, np.uint64(parcel & CLASS)] += float(parcel >> 16)
            sums[HEADS, code] += 1


@inline
def move_left(room: Desk, code: Whole, start: Whole, chained: bool) -> Whole:
    """Move the rows of a code to the left; return their number.

    ``squares`` holds the weight on the left, and the sums of squares on the left and on the right.
    """
    parcels, chain, sums = room.parcels, room.chain, room.sums
    by_class, squares = room.by_class, room.squares
    if not chained:
        w, left_square, right_square = squares[0], 0.0, 0.0
        for c in range(by_class.shape[1]):
            left_sum = by_class[LEFT, c] + by_class[code, c]
            right_sum = by_class[TOTALS, c] - left_sum
            by_class[LEFT, c] = left_sum
            w += by_class[code, c]
            left_square += left_sum * left_sum
            right_square += right_sum * right_sum
        squares[0], squares[1], squares[2] = w, left_square, right_square
        return np.int64(sums[HEADS, code] + 1)
    w, left_square, right_square, n = squares[0], squares[1], squares[2], np.int64(0)
    i = sums[HEADS, code]
    while i >= 0:
        parcel = parcels[np.uint64(start + i)]
        row_class, weight = np.uint64(parcel & CLASS), float(parcel >> 16)
        left_sum = by_class[LEFT, row_class]
        left_square += weight * (2 * left_sum + weight)
        right_square -= weight * (2 * (by_class[TOTALS, row_class] - left_sum) - weight)
        by_class[LEFT, row_class] = left_sum + weight
        w += weight
        n += 1
        i = np.int64(chain[np.uint64(i)])
    squares[0], squares[1], squares[2] = w, left_square, right_square
    return n


@inline
def best_of_classes(
    room: Desk, line: Whole, size: Whole, start: Whole, low: Whole, high: Whole, lightest: float
) -> tuple[float, Whole, Whole]:
    """Find the best cut for many classes, as ``best_of_numbers`` does for a number.

    Small nodes link their rows to chains, one for each code, and move them one by one from right to
    left; larger ones count a histogram. Sums by code and of the left side are zero before and
    after; heads of chains are -1. ``squares`` ends with the node's weight and its square.
    """
    sums, by_class, squares = room.sums, room.by_class, room.squares
    missing, min_rows = room.plan[MISSING], room.plan[LEAST]
    chained = bool(3 * size < by_class.shape[1] * min(size, high - low + 1))  # measured
    hang_up(room, line, size, start, chained)
    count = marked(room, low, high)
    best, cut, side = -1.0, low, low - low
    for missing_left in range(2 if high == missing else 1):
        squares[0], squares[1], squares[2] = 0.0, 0.0, squares[4]
        n = np.int64(0)
        for k in range(-missing_left, count - 1 - missing_left):
            code = sums[FOUND, k] if k >= 0 else missing
            n += move_left(room, code, start, chained)
            if k < 0 or n < min_rows or size - n < min_rows:
                continue
            right_weight = squares[3] - squares[0]
            score = squares[1] / squares[0] + squares[2] / right_weight
            if score > best and min(squares[0], right_weight) >= lightest:
                best, side = score, missing_left
                cut = between(code, sums[FOUND, k + 1], missing)
        for c in range(by_class.shape[1]):
            by_class[LEFT, c] = 0.0
    for k in range(count):
        code = sums[FOUND, k]
        sums[HEADS, code] = -1
        for c in range(0 if chained else by_class.shape[1]):
            by_class[code, c] = 0.0
    return best, cut, side


@inline
def right_of(room: Desk, cut: Whole, side: Whole) -> tuple[np.uint8, np.uint8]:
    """Return the first code that goes right, and how many do.

    Codes above ``cut`` go right; missing values, the last code, go left if ``side`` is 1. A code
    goes right if its difference to the first one, as a byte, is below that number.
    """
    end = min(room.plan[MISSING], np.int64(CODES)) if side == 1 else np.int64(CODES)
    return np.uint8(cut + 1), np.uint8(end - cut - 1)


@inline
def score_of_cut(
    room: Desk, line: Whole, size: Whole, start: Whole, cut: Whole, side: Whole, lightest: float
) -> float:
    """Return the score of a drawn cut; below 0 if a side has too few rows or too little weight.

    Codes above ``cut`` go right; missing values go left if ``side`` is 1.
    """
    codes, parcels, weights = room.codes, room.parcels, room.weights
    sums, by_class, min_rows = room.sums, room.by_class, room.plan[LEAST]
    n_right = right_weight = right_pull = np.int64(0)
    base = np.uint64(start)
    first, span = right_of(room, cut, side)
    if min_rows > 1:
        for i in range(size):
            n_right += np.uint8(codes[line, i] - first) < span
        if n_right < min_rows or size - n_right < min_rows:
            return -1.0
    if by_class.shape[1] > 0:
        for i in range(size):
            if np.uint8(codes[line, i] - first) < span:
                parcel = parcels[base + np.uint64(i)]
                by_class[LEFT, np.uint64(parcel & CLASS)] += float(parcel >> 16)
        return score_of_sides(lightest, by_class)
    if weights.size == 0:
        for i in range(size):
            right_pull += (
                parcels[base + np.uint64(i)] if np.uint8(codes[line, i] - first) < span else 0
            )
        right_weight, right_pull = right_pull & LOW, right_pull >> 32
    else:
        for i in range(size):
            goes, at = np.uint8(codes[line, i] - first) < span, base + np.uint64(i)
            right_weight += weights[at] if goes else 0
            right_pull += parcels[at] if goes else 0
    w, t = float(sums[NODE, 0] - right_weight), float(sums[NODE, 1] - right_pull)
    if min(w, float(right_weight)) < lightest:
        return -1.0
    return t * t / w + float(right_pull) * float(right_pull) / float(right_weight)


@inline
def score_of_sides(lightest: float, by_class: Floats) -> float:
    """Return the score of a cut whose right side is in LEFT, which is cleared."""
    w, left_square, right_square, weight = 0.0, 0.0, 0.0, 0.0
    for c in range(by_class.shape[1]):
        right, total = by_class[LEFT, c], by_class[TOTALS, c]
        w += right
        weight += total
        right_square += right * right
        left_square += (total - right) * (total - right)
        by_class[LEFT, c] = 0.0
    if min(w, weight - w) < lightest:
        return -1.0
    return left_square / (weight - w) + right_square / w
