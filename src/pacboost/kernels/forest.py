"""Grow one tree of a forest, down to pure leaves: depth first, rows sorted in place.

A node is one word of 64 bits: feature (23 bits), whether missing values go left (1), cut (8), and
the place of its right child (32); its left child follows it. A leaf has the largest feature number,
and its payload: the bits of a 32-bit float, or with many classes the line of its distribution,
where line c < classes stands for a pure leaf of class c.

Features are drawn without replacement until ``tries`` are drawn and one of them is not constant.
Features that are constant in a node are so below it: they stay at the front of the list.

Large nodes read codes by column, in the order of rows; small ones by row, where all features of a
row are in one or two cache lines, which stay cached while the whole subtree is grown. Codes are
copied side by side first: then many loads are under way at once, and the rows of the best feature
need not be read again to be sorted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.forest_split import (
    CLASS,
    CLASSES,
    CODES,
    DEEPEST,
    HEADS,
    LEAST,
    LOW,
    MISSING,
    NODE,
    RANDOM,
    SMALLEST,
    TOTALS,
    TRIES,
    Desk,
    Whole,
    below,
    best_of_classes,
    best_of_numbers,
    right_of,
    score_of_cut,
)
from pacboost.kernels.runtime import Bytes, Floats, Wholes, Words
from pacboost.kernels.runtime.jit import inline, kernel, uncounted

LEAF = np.uint64(2**23 - 1)

ROWS_PER_ROW_READ = 32
"""Nodes that hold less than one in this many rows read codes by row."""


@kernel
def count_drawn(order: NDArray[np.intp], places: Wholes, counts: Wholes) -> None:
    """Count how often each row was drawn; ``places`` are the drawn places in ``order``."""
    for i in range(places.size):
        counts[order[places[i]]] += 1


@inline
def take_bag(room: Desk, parcels: Wholes, weights: Wholes, counts: Wholes, classes: Whole) -> None:
    """Copy the rows of a bag, with parcels and weights multiplied by their counts."""
    rows, parcels_of_bag, weights_of_bag = room.rows, room.parcels, room.weights
    at = 0
    for i in range(counts.size):
        if counts[i] > 0:
            rows[at], parcels_of_bag[at] = i, parcels[i]
            if weights.size > 0:
                weights_of_bag[at] = weights[i] * counts[i]
                parcels_of_bag[at] *= weights_of_bag[at]
            elif classes > 2:
                parcels_of_bag[at] += (parcels[i] >> 16) * (counts[i] - 1) << 16
            else:
                parcels_of_bag[at] *= counts[i]
            at += 1


@inline
def fetch(
    room: Desk, columns: Bytes, lines: Bytes, feature: Whole, start: Whole, size: Whole, line: Whole
) -> tuple[Whole, Whole]:
    """Copy the codes of a node's rows side by side; return the smallest and the largest."""
    rows, codes = room.rows, room.codes
    low, high, base = np.uint8(255), np.uint8(0), np.uint64(start)
    if size * ROWS_PER_ROW_READ > columns.shape[1]:
        for i in range(size):
            codes[line, i] = columns[feature, rows[base + np.uint64(i)]]
    else:
        for i in range(size):
            codes[line, i] = lines[rows[base + np.uint64(i)], feature]
    for i in range(size):
        low, high = min(low, codes[line, i]), max(high, codes[line, i])
    return np.int64(low), np.int64(high)


@inline
def sort_rows(room: Desk, line: Whole, size: Whole, start: Whole, cut: Whole, side: Whole) -> Whole:
    """Move the rows that go left to the front, keeping their order; return their number.

    Every row is written to both sides, and only one side moves on: no branch to mispredict.
    """
    codes, rows, parcels, weights = room.codes, room.rows, room.parcels, room.weights
    spare_rows, spare = room.spare_rows, room.spare
    first, span = right_of(room, cut, side)
    base = np.uint64(start)
    l = base  # noqa: E741
    for i in range(size):
        row, parcel = rows[base + np.uint64(i)], parcels[base + np.uint64(i)]
        r = base + np.uint64(i) - l
        rows[l], parcels[l] = row, parcel
        spare_rows[r], spare[r] = row, parcel
        l += np.uint64(np.uint8(codes[line, i] - first) >= span)  # noqa: E741
    for i in range(size - np.int64(l - base)):
        rows[l + np.uint64(i)], parcels[l + np.uint64(i)] = spare_rows[i], spare[i]
    if weights.size > 0:
        at = base
        for i in range(size):
            weight = weights[base + np.uint64(i)]
            weights[at], spare[base + np.uint64(i) - at] = weight, weight
            at += np.uint64(np.uint8(codes[line, i] - first) >= span)
        for i in range(size - np.int64(l - base)):
            weights[l + np.uint64(i)] = spare[i]
    return np.int64(l - base)


@inline
def random_cut(
    room: Desk, line: Whole, size: Whole, low: Whole, high: Whole
) -> tuple[Whole, Whole]:
    """Draw a cut between the smallest and the largest code, and a side for missing values."""
    codes, state, missing = room.codes, room.state, room.plan[MISSING]
    side = low - low
    if high == missing:
        high = low
        for i in range(size):
            if codes[line, i] < missing:
                high = max(high, np.int64(codes[line, i]))
        if high == low:
            return low, side
        side = below(state, side + 2)
    return low + below(state, high - low), side


@inline
def sum_up(room: Desk, targets: Wholes, start: Whole, stop: Whole) -> tuple[float, bool]:
    """Sum the rows of a node; return its score without a split, and whether it is pure.

    ``targets`` are those of all rows, if weights are separate.
    """
    rows, parcels, weights, sums = room.rows, room.parcels, room.weights, room.sums
    by_class, squares = room.by_class, room.squares
    base = np.uint64(start)
    if by_class.shape[1] > 0:
        for c in range(by_class.shape[1]):
            by_class[TOTALS, c] = 0.0
        for i in range(stop - start):
            parcel = parcels[base + np.uint64(i)]
            by_class[TOTALS, np.uint64(parcel & CLASS)] += float(parcel >> 16)
        weight, square, present = 0.0, 0.0, 0
        for c in range(by_class.shape[1]):
            class_weight = by_class[TOTALS, c]
            weight += class_weight
            square += class_weight * class_weight
            present += class_weight > 0
        squares[3], squares[4] = weight, square
        return square / weight, present == 1
    w, t, same = np.int64(0), np.int64(0), True
    if weights.size == 0:
        for i in range(stop - start):
            w += parcels[base + np.uint64(i)]
        w, t = w & LOW, w >> 32
        same = t * (w - t) == 0
    else:
        for i in range(stop - start):
            at = base + np.uint64(i)
            w += weights[at]
            t += parcels[at]
        for i in range(1, stop - start):
            same = targets[rows[base + np.uint64(i)]] == targets[rows[base]]
            if not same:
                break
    sums[NODE, 0], sums[NODE, 1] = w, t
    return float(t) * float(t) / float(w), same


@inline
def write_leaf(room: Desk, unit: float, lines: Whole, table: NDArray[np.float32]) -> np.uint64:
    """Return the payload of a leaf; unless it is pure, write its distribution to ``table``."""
    sums, by_class = room.sums, room.by_class
    if by_class.shape[1] == 0:
        room.number[0] = np.float32(float(sums[NODE, 1]) / float(sums[NODE, 0]) * unit)
        return np.uint64(room.bits[0])
    weight, only = 0.0, 0
    for c in range(by_class.shape[1]):
        weight += by_class[TOTALS, c]
        if by_class[TOTALS, c] > 0:
            only = c
    if by_class[TOTALS, only] == weight:
        return np.uint64(only)
    for c in range(by_class.shape[1]):
        table[lines, c] = np.float32(by_class[TOTALS, c] / weight)
    return np.uint64(by_class.shape[1] + lines)


@inline
def search(
    room: Desk, columns: Bytes, lines: Bytes, start: Whole, size: Whole, n_constant: Whole,
    lightest: float,
) -> tuple[float, Whole, Whole, Whole, Whole, Whole]:  # fmt: skip
    """Draw features and find their cuts; the first ``n_constant`` of the list are constant here.

    Return the best score, its feature (-1 if there is none), cut and side of missing values (-1 if
    nothing is missing), the line of ``codes`` with its codes, and the new ``n_constant``.
    """
    features, state, plan = room.features, room.state, room.plan
    missing = plan[MISSING]
    zero = start - start
    best, feature, cut, side, line = -1.0, zero - 1, zero, zero, zero
    drawn, passed, tried = 0, 0, 0
    first, last = n_constant, features.size  # features not drawn yet are between
    perfect = np.inf  # the score of two pure sides, which no cut exceeds
    if plan[CLASSES] > 0:
        perfect = room.squares[3] if plan[CLASSES] > 2 else float(room.sums[NODE, 1])
    while last > first and (drawn < plan[TRIES] or tried == 0) and best < perfect:
        drawn += 1
        at = below(state, n_constant - passed + last - first)
        if at < n_constant - passed:
            passed += 1  # a constant feature; which one does not matter
            continue
        at += first - (n_constant - passed)
        j = features[at]
        low, high = fetch(room, columns, lines, j, start, size, line)
        if low == high:
            features[at], features[first] = features[first], j
            first += 1
            continue
        last -= 1
        features[at], features[last] = features[last], j
        tried += 1
        c, s = low, zero
        if plan[RANDOM] or (high == low + 1 and high < missing):
            if plan[RANDOM]:
                c, s = random_cut(room, line, size, low, high)
            score = score_of_cut(room, line, size, start, c, s, lightest)
        elif room.by_class.shape[1] > 0:
            score, c, s = best_of_classes(room, line, size, start, low, high, lightest)
        else:
            score, c, s = best_of_numbers(room, line, size, start, low, high, lightest)
        if score > best:
            best, feature, cut = score, j, c
            side = s if high == missing else zero - 1
            line = 1 - line
    return best, feature, cut, side, 1 - line, first


def desk(size: int, features: int, plan: Wholes, seed: int, *, weighted: bool) -> Desk:
    """Allocate the work space for a tree on ``size`` rows."""
    classes = int(plan[CLASSES]) if plan[CLASSES] > 2 else 0
    each, number = np.zeros(CODES, np.uint8), np.empty(1, np.float32)
    sums = np.zeros((6, CODES + 8), np.int64)
    sums[HEADS] = -1
    return Desk(
        np.empty(size, np.uint32), np.empty(size, np.int64),
        np.empty(size if weighted else 0, np.int64),
        np.empty(size, np.uint32), np.empty(size, np.int64), np.empty((2, size), np.uint8),
        np.empty(size if classes else 0, np.int32), np.arange(features),
        np.array([seed], np.uint64), each.view(np.uint64), each, sums,
        np.zeros((CODES + 2, classes)), np.zeros(5), number, number.view(np.uint32),
        np.empty((min(size, int(plan[DEEPEST])) + 1, 5), np.int64), plan,
    )  # fmt: skip


@uncounted
def grow(
    columns: Bytes, lines: Bytes, all_parcels: Wholes, all_weights: Wholes, counts: Wholes,
    unit: float, lightest: float, medians: Wholes, room: Desk, nodes: Words,
    table: NDArray[np.float32], gains: Floats,
) -> tuple[Whole, Whole]:  # fmt: skip
    """Write the nodes of a tree, and the distributions of leaves that are not pure.

    Parcels and weights are those of all rows (see forest_split); ``counts`` is how often each row
    is in the bag. ``unit`` turns the target of a parcel into a number; ``lightest`` is the minimum
    share of the weight in a leaf. If nothing is missing at a split, missing values go where the
    code in ``medians`` goes. The gain of a split is added to ``gains`` of its feature. Return the
    number of nodes, and of distributions.
    """
    stack, plan = room.stack, room.plan
    classes, size = plan[CLASSES], room.rows.size
    take_bag(room, all_parcels, all_weights, counts, classes)
    # a literal 0 has another type, for which calls would be compiled twice
    zero: Whole = np.int64(0)
    written, waiting, lines_written = 0, 0, zero
    start, stop, depth, n_constant = zero, zero + size, zero, zero
    while True:
        m = stop - start
        unsplit, pure = sum_up(room, all_parcels, start, stop)
        if written == 0:
            lightest *= room.squares[3] if classes > 2 else float(room.sums[NODE, 0])
        best, feature, cut, side, line = -1.0, zero - 1, zero, zero, zero
        if not (pure or m < plan[SMALLEST] or m < 2 * plan[LEAST] or depth >= plan[DEEPEST]):
            best, feature, cut, side, line, n_constant = search(
                room, columns, lines, start, m, n_constant, lightest
            )
        if feature < 0:
            value = write_leaf(room, unit, lines_written, table)
            lines_written += classes > 2 and value >= np.uint64(classes)
            nodes[written] = (LEAF << np.uint64(41)) | value
            written += 1
            if waiting == 0:
                return written, lines_written
            waiting -= 1
            start, stop, depth = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
            n_constant = stack[waiting, 3]
            nodes[stack[waiting, 4]] |= np.uint64(written)
            continue
        gains[feature] += best - unsplit
        middle = sort_rows(room, line, m, start, cut, side)
        if side < 0:
            side = zero + (medians[feature] <= cut)  # nothing is missing: where the median goes
        nodes[written] = (
            (np.uint64(feature) << np.uint64(41))
            | (np.uint64(side) << np.uint64(40))
            | (np.uint64(cut) << np.uint64(32))
        )
        stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = start + middle, stop, depth + 1
        stack[waiting, 3], stack[waiting, 4] = n_constant, written
        waiting += 1
        written += 1
        stop, depth = start + middle, depth + 1
