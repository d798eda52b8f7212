"""The best cut of one feature in one node of a forest's tree, on the codes of the node's rows.

A row's share is one whole number, its parcel. For two classes and for numbers, the best cut lowers
the squared error: it makes ΣL²/WL + ΣR²/WR largest, where W adds up weights and Σ weighted targets
(with targets 0 and 1 that is Gini's index, Breiman et al. 1984). For many classes every class has
such a target, and the sums of squares are over classes.

Whatever the size of a node, only codes that occur in it are looked at: rows leave a mark at their
code, and marks are folded to bits, 64 a word: a branch for every eight is often guessed wrong.

Arrays are handed over whole, with the place where a node begins: slices are objects, and making
one for every feature of every small node took three times as long as all the rest. Places are
unsigned where they are added up: of a signed one it is asked every time whether it counts from the
end.
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
    """Draw one of 0 … limit - 1 by splitmix64, all as likely up to limit/2³² (limit < 2³²)."""
    state[0] += STEP
    return np.int64(((mixed(state[0]) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


CODES = 256
LOW = np.int64(0xFFFFFFFF)  # two classes: weight·target << 32 | weight
CLASS = np.int64(0xFFFF)  # many classes: weight << 16 | class

# a word of eight marks times this has them as the bits of its first byte
FOLD = np.uint64(0x0102040810204080 if sys.byteorder == "little" else 0x8040201008040201)

# lines of ``sums``: by code weights, weighted targets and rows; the codes found; the first row of
# every chain (or rows less 1); and the node's own weight and weighted target
HEAVY, PULLS, ROWS, FOUND, HEADS, NODE = range(6)
# lines of ``by_class`` beyond those of codes: the node's classes, and those on the left
TOTALS, LEFT = CODES, CODES + 1


class Desk(NamedTuple):
    """Room to work for one tree."""

    rows: Rows
    """The rows of the bag, and beside them their parcels, and their weights if those are apart."""
    parcels: Wholes
    weights: Wholes
    spare_rows: Rows
    spare: Wholes
    codes: Bytes
    """Two lines: the feature at hand, and the best so far."""
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


@inline
def marked(room: Desk, low: Whole, high: Whole) -> Whole:
    """List the marked codes in order, and take the marks away; give how many there are."""
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
    """Cut half-way between two codes that follow one another in a node."""
    return code if following == missing else (code + following - 1) >> 1


@inline
def heap_up(room: Desk, line: Whole, size: Whole, start: Whole, least: Whole) -> None:
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
    if least > 1:
        for i in range(size):
            sums[ROWS, codes[line, i]] += 1


@inline
def best_of_numbers(
    room: Desk,
    line: Whole,
    size: Whole,
    start: Whole,
    low: Whole,
    high: Whole,
    missing: Whole,
    least: Whole,
    lightest: float,
) -> tuple[float, Whole, Whole]:
    """Return what the best cut scores, its code, and 1 where missing values go left of it.

    Sides have at least so many rows, and weigh at least as much as the lightest may. The sums of
    codes are zero before and after.
    """
    weights, sums = room.weights, room.sums
    heap_up(room, line, size, start, least)
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
            if least > 1 and (n < least or size - n < least):
                continue
            ours, theirs, other = float(w), float(sums[NODE, 0] - w), float(sums[NODE, 1] - t)
            if min(ours, theirs) < lightest:
                continue
            score = float(t) * float(t) / ours + other * other / theirs
            if score > best:
                best, side = score, missing_left
                cut = between(code, sums[FOUND, k + 1], missing)
    for k in range(count):
        code = sums[FOUND, k]
        sums[HEAVY, code], sums[PULLS, code], sums[ROWS, code] = 0, 0, 0
    return best, cut, side


# The best cut of one feature for many classes, in one node of a forest's tree.
#
# Small nodes hang their rows on chains, one a code, and move them one by one from right to left;
# larger ones add up a histogram.


@inline
def hang_up(room: Desk, line: Whole, size: Whole, start: Whole, chained: bool) -> None:
    """Hang rows on the chain of their code, or add them to the sums of its classes."""
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
    """Move the rows of a code to the left; give how many they are.

    ``squares`` holds the weight on the left, and the sums of squares on the left and on the right.
    """
    parcels, chain, sums = room.parcels, room.chain, room.sums
    by_class, squares = room.by_class, room.squares
    if not chained:
        w, ours, theirs = squares[0], 0.0, 0.0
        for c in range(by_class.shape[1]):
            left = by_class[LEFT, c] + by_class[code, c]
            right = by_class[TOTALS, c] - left
            by_class[LEFT, c] = left
            w += by_class[code, c]
            ours += left * left
            theirs += right * right
        squares[0], squares[1], squares[2] = w, ours, theirs
        return np.int64(sums[HEADS, code] + 1)
    w, ours, theirs, n = squares[0], squares[1], squares[2], np.int64(0)
    i = sums[HEADS, code]
    while i >= 0:
        parcel = parcels[np.uint64(start + i)]
        own_class, own = np.uint64(parcel & CLASS), float(parcel >> 16)
        left = by_class[LEFT, own_class]
        ours += own * (2 * left + own)
        theirs -= own * (2 * (by_class[TOTALS, own_class] - left) - own)
        by_class[LEFT, own_class] = left + own
        w += own
        n += 1
        i = np.int64(chain[np.uint64(i)])
    squares[0], squares[1], squares[2] = w, ours, theirs
    return n


@inline
def best_of_classes(
    room: Desk,
    line: Whole,
    size: Whole,
    start: Whole,
    low: Whole,
    high: Whole,
    missing: Whole,
    least: Whole,
    lightest: float,
) -> tuple[float, Whole, Whole]:
    """Do what ``best_of_numbers`` does, for many classes.

    What is kept by code, and the left side, are zero before and after; heads of chains are -1.
    ``squares`` ends with the node's weight and its square.
    """
    sums, by_class, squares = room.sums, room.by_class, room.squares
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
            if k < 0 or n < least or size - n < least:
                continue
            other = squares[3] - squares[0]
            score = squares[1] / squares[0] + squares[2] / other
            if score > best and min(squares[0], other) >= lightest:
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


# What one cut of a feature scores, in one node of a tree whose cuts are drawn.


@inline
def right_of(cut: Whole, missing_right: Whole) -> tuple[np.uint8, np.uint8]:
    """Return the first code that goes right and how many do: less the first, as a byte, is fewer.

    Codes above ``cut`` go right, but not those from ``missing_right`` on.
    """
    return np.uint8(cut + 1), np.uint8(min(missing_right, np.int64(CODES)) - cut - 1)


@inline
def score_of_cut(
    room: Desk,
    line: Whole,
    size: Whole,
    start: Whole,
    cut: Whole,
    missing_right: Whole,
    least: Whole,
    lightest: float,
) -> float:
    """Return what one cut scores; below 0 if it leaves too few rows, or too little, on a side.

    Codes above ``cut`` go right, but not those from ``missing_right`` on.
    """
    codes, parcels, weights = room.codes, room.parcels, room.weights
    sums, by_class = room.sums, room.by_class
    rows, own, pull, base = np.int64(0), np.int64(0), np.int64(0), np.uint64(start)
    first, span = right_of(cut, missing_right)
    if least > 1:
        for i in range(size):
            rows += np.uint8(codes[line, i] - first) < span
        if rows < least or size - rows < least:
            return -1.0
    if by_class.shape[1] > 0:
        for i in range(size):
            if np.uint8(codes[line, i] - first) < span:
                parcel = parcels[base + np.uint64(i)]
                by_class[LEFT, np.uint64(parcel & CLASS)] += float(parcel >> 16)
        return score_of_sides(lightest, by_class)
    if weights.size == 0:
        for i in range(size):
            pull += parcels[base + np.uint64(i)] if np.uint8(codes[line, i] - first) < span else 0
        own, pull = pull & LOW, pull >> 32
    else:
        for i in range(size):
            goes, at = np.uint8(codes[line, i] - first) < span, base + np.uint64(i)
            own += weights[at] if goes else 0
            pull += parcels[at] if goes else 0
    w, t = float(sums[NODE, 0] - own), float(sums[NODE, 1] - pull)
    if min(w, float(own)) < lightest:
        return -1.0
    return t * t / w + float(pull) * float(pull) / float(own)


@inline
def score_of_sides(lightest: float, by_class: Floats) -> float:
    """Return what a cut scores whose right side lies in LEFT, which is cleared."""
    w, ours, theirs, weight = 0.0, 0.0, 0.0, 0.0
    for c in range(by_class.shape[1]):
        right, total = by_class[LEFT, c], by_class[TOTALS, c]
        w += right
        weight += total
        theirs += right * right
        ours += (total - right) * (total - right)
        by_class[LEFT, c] = 0.0
    if min(w, weight - w) < lightest:
        return -1.0
    return ours / (weight - w) + theirs / w
