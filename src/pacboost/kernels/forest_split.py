"""The best cut of one feature in one node of a forest's tree, on the codes of the node's rows.

Here for two classes and for numbers; kernels/forest_class_split.py is for many classes, and
kernels/forest_one_cut.py for cuts that were drawn.

A row's share is one whole number, its parcel. For two classes and for numbers, the best cut lowers
the squared error: it makes ΣL²/WL + ΣR²/WR largest, where W adds up weights and Σ weighted targets
(with targets 0 and 1 that is Gini's index, Breiman et al. 1984). For many classes every class has
such a target, and the sums of squares are over classes.

Whatever the size of a node, only codes that occur in it are looked at: rows leave a mark at their
code, and marks are read eight at a time.

Arrays are handed over whole, with the place where a node begins: slices are objects, and making
one for every feature of every small node took three times as long as all the rest. Places are
unsigned where they are added up: of a signed one it is asked every time whether it counts from the
end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.chance import Whole
from pacboost.kernels.inline import inline

CODES = 256
LOW = np.int64(0xFFFFFFFF)  # two classes: weight·target << 32 | weight
CLASS = np.int64(0xFFFF)  # many classes: weight << 16 | class

# lines of ``sums``: by code weights, weighted targets and rows; the codes found; the first row of
# every chain (or rows less 1); and the node's own weight and weighted target
HEAVY, PULLS, ROWS, FOUND, HEADS, NODE = range(6)
# lines of ``by_class`` beyond those of codes: the node's classes, and those on the left
TOTALS, LEFT = CODES, CODES + 1


@inline
def marked(
    marks: NDArray[np.uint64],
    each: NDArray[np.uint8],
    low: Whole,
    high: Whole,
    sums: NDArray[np.int64],
) -> Whole:
    """List the marked codes in order, and take the marks away; give how many there are."""
    count = 0
    for word in range(low >> 3, (high >> 3) + 1):
        if marks[word] != 0:
            for code in range(8 * word, 8 * word + 8):
                sums[FOUND, count] = code
                count += each[code]
            marks[word] = 0
    return count


@inline
def between(code: Whole, following: Whole, missing: Whole) -> Whole:
    """Cut half-way between two codes that follow one another in a node."""
    return code if following == missing else (code + following - 1) >> 1


@inline
def heap_up(
    codes: NDArray[np.uint8],
    line: Whole,
    size: Whole,
    start: Whole,
    parcels: NDArray[np.int64],
    weights: NDArray[np.int64],
    least: Whole,
    each: NDArray[np.uint8],
    sums: NDArray[np.int64],
) -> None:
    """Add the rows of a node to the sums of their codes."""
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
            sums[PULLS, code] += weights[at] * parcels[at]
            each[code] = 1
    if least > 1:
        for i in range(size):
            sums[ROWS, codes[line, i]] += 1


@inline
def best_of_numbers(
    codes: NDArray[np.uint8],
    line: Whole,
    size: Whole,
    start: Whole,
    parcels: NDArray[np.int64],
    weights: NDArray[np.int64],
    low: Whole,
    high: Whole,
    missing: Whole,
    least: Whole,
    lightest: float,
    marks: NDArray[np.uint64],
    each: NDArray[np.uint8],
    sums: NDArray[np.int64],
) -> tuple[float, Whole, Whole]:
    """Give what the best cut scores, its code, and 1 where missing values go left of it.

    Sides have at least so many rows, and weigh at least as much as the lightest may. The sums of
    codes are zero before and after.
    """
    heap_up(codes, line, size, start, parcels, weights, least, each, sums)
    count = marked(marks, each, low, high, sums)
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
