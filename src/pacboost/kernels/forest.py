"""Grow one tree of a forest, down to pure leaves: depth first, rows sorted in place.

A node is one word of 64 bits: feature (23 bits), whether missing values go left (1), cut (8), and
the place of its right child (32); its left child follows it. A leaf has the largest feature, and
its payload: the bits of a 32-bit float, or with many classes the line of its distribution, where
line c < classes stands for all of class c.

Features are drawn without replacement until ``tries`` are drawn and one of them is not constant.
Those found constant stay so below: their places at the front of the list are passed on.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.forest_rows import (
    fetch,
    random_cut,
    sort_rows,
    sum_up,
    take_bag,
    write_leaf,
)
from pacboost.kernels.forest_split import (
    CODES,
    HEADS,
    NODE,
    Whole,
    below,
    best_of_classes,
    best_of_numbers,
    score_of_cut,
)
from pacboost.kernels.runtime.jit import bare, inline, kernel

LEAF = np.uint64(2**23 - 1)

# places in ``plan``
CLASSES, MISSING, TRIES, LEAST, SMALLEST, DEEPEST, RANDOM = range(7)


@inline
def search(
    columns: NDArray[np.uint8],
    lines: NDArray[np.uint8],
    start: Whole,
    size: Whole,
    known: Whole,
    lightest: float,
    plan: NDArray[np.int64],
    rows: NDArray[np.uint32],
    parcels: NDArray[np.int64],
    weights: NDArray[np.int64],
    codes: NDArray[np.uint8],
    features: NDArray[np.int64],
    state: NDArray[np.uint64],
    marks: NDArray[np.uint64],
    each: NDArray[np.uint8],
    chain: NDArray[np.int32],
    sums: NDArray[np.int64],
    by_class: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> tuple[float, Whole, Whole, Whole, Whole, Whole]:
    """Draw features and cut them; the first ``known`` of the list are constant here.

    Gives the best score, its feature (-1 if there is none), cut and missing side (-1 if nothing is
    missing), the line of ``codes`` that holds its codes, and how many constants are known now.
    """
    missing, least = plan[MISSING], plan[LEAST]
    zero = start - start
    best, feature, cut, side, line = -1.0, zero - 1, zero, zero, zero
    drawn, passed, tried = 0, 0, 0
    first, last = known, features.size  # what is not drawn yet lies between
    perfect = np.inf  # what no cut can surpass: that of two pure sides
    if plan[CLASSES] > 0:
        perfect = squares[3] if plan[CLASSES] > 2 else float(sums[NODE, 1])
    while last > first and (drawn < plan[TRIES] or tried == 0) and best < perfect:
        drawn += 1
        at = below(state, known - passed + last - first)
        if at < known - passed:
            passed += 1  # one of the constants: which one does not matter
            continue
        at += first - (known - passed)
        j = features[at]
        low, high = fetch(columns, lines, j, rows, start, size, codes, line)
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
                c, s = random_cut(codes, line, size, low, high, missing, state)
            score = score_of_cut(
                codes, line, size, start, parcels, weights, c, missing if s else missing + CODES,
                least, lightest, sums, by_class,
            )  # fmt: skip
        elif by_class.shape[1] > 0:
            score, c, s = best_of_classes(
                codes, line, size, start, parcels, low, high, missing, least, lightest, marks, each,
                chain, sums, by_class, squares,
            )  # fmt: skip
        else:
            score, c, s = best_of_numbers(
                codes, line, size, start, parcels, weights, low, high, missing, least, lightest,
                marks, each, sums,
            )  # fmt: skip
        if score > best:
            best, feature, cut = score, j, c
            side = s if high == missing else zero - 1
            line = 1 - line
    return best, feature, cut, side, 1 - line, first


class Desk(NamedTuple):
    """Room to work for one tree."""

    rows: NDArray[np.uint32]
    """The rows of the bag, and beside them their parcels, and their weights if those are apart."""
    parcels: NDArray[np.int64]
    weights: NDArray[np.int64]
    spare_rows: NDArray[np.uint32]
    spare: NDArray[np.int64]
    codes: NDArray[np.uint8]
    """Two lines: the feature at hand, and the best so far."""
    chain: NDArray[np.int32]
    features: NDArray[np.int64]
    state: NDArray[np.uint64]
    marks: NDArray[np.uint64]
    each: NDArray[np.uint8]
    """The marks byte by byte."""
    sums: NDArray[np.int64]
    by_class: NDArray[np.float64]
    squares: NDArray[np.float64]
    number: NDArray[np.float32]
    bits: NDArray[np.uint32]
    """The bits of ``number``."""
    stack: NDArray[np.int64]


def desk(size: int, features: int, plan: NDArray[np.int64], seed: int, *, weighted: bool) -> Desk:
    """Clear room for a tree of so many rows."""
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
        np.empty((min(size, int(plan[DEEPEST])) + 1, 5), np.int64),
    )  # fmt: skip


@kernel
def grow(
    columns: NDArray[np.uint8],
    lines: NDArray[np.uint8],
    all_parcels: NDArray[np.int64],
    all_weights: NDArray[np.int64],
    counts: NDArray[np.int64],
    unit: float,
    lightest: float,
    medians: NDArray[np.int64],
    plan: NDArray[np.int64],
    room: Desk,
    nodes: NDArray[np.uint64],
    table: NDArray[np.float32],
    gains: NDArray[np.float64],
) -> tuple[Whole, Whole]:
    """Write the nodes of a tree, and the distributions of leaves that are not pure.

    Parcels and weights are those of all rows (see forest_split), ``counts`` says how often each row
    is in the bag. ``unit`` turns the target of a parcel into a number, ``lightest`` is the share
    of the weight that a leaf has at least. Where nothing was missing at a split, a missing value
    goes where the code in ``medians`` goes. What a split wins is added to ``gains`` of its feature.
    Gives the number of nodes, and of distributions.
    """
    columns, lines, plan = bare(columns), bare(lines), bare(plan)
    rows, own, heavy = bare(room.rows), bare(room.parcels), bare(room.weights)
    spare_rows, spare, codes = bare(room.spare_rows), bare(room.spare), bare(room.codes)
    chain, features, state = bare(room.chain), bare(room.features), bare(room.state)
    marks, each, sums = bare(room.marks), bare(room.each), bare(room.sums)
    by_class, squares, number = bare(room.by_class), bare(room.squares), bare(room.number)
    bits, stack, table = bare(room.bits), bare(room.stack), bare(table)
    classes, size = plan[CLASSES], rows.size
    take_bag(all_parcels, all_weights, counts, classes, rows, own, heavy)
    zero: Whole = np.int64(0)  # a bare 0 would be a type of its own, and compile calls twice
    written, waiting, lines_written = 0, 0, zero
    start, stop, depth, known = zero, zero + size, zero, zero
    while True:
        m = stop - start
        whole, pure = sum_up(start, stop, own, heavy, sums, by_class, squares)
        if written == 0:
            lightest *= squares[3] if classes > 2 else float(sums[NODE, 0])
        best, feature, cut, side, line = -1.0, zero - 1, zero, zero, zero
        if not (pure or m < plan[SMALLEST] or m < 2 * plan[LEAST] or depth >= plan[DEEPEST]):
            best, feature, cut, side, line, known = search(
                columns, lines, start, m, known, lightest, plan, rows, own, heavy, codes, features,
                state, marks, each, chain, sums, by_class, squares,
            )  # fmt: skip
        if feature < 0:
            value = write_leaf(sums, by_class, unit, lines_written, number, bits, table)
            lines_written += classes > 2 and value >= np.uint64(classes)
            nodes[written] = (LEAF << np.uint64(41)) | value
            written += 1
            if waiting == 0:
                return written, lines_written
            waiting -= 1
            start, stop, depth = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
            known = stack[waiting, 3]
            nodes[stack[waiting, 4]] |= np.uint64(written)
            continue
        gains[feature] += best - whole
        middle = sort_rows(
            codes, line, m, start, cut, plan[MISSING] if side == 1 else plan[MISSING] + CODES,
            rows, own, heavy, spare_rows, spare,
        )  # fmt: skip
        if side < 0:
            side = zero + (medians[feature] <= cut)  # nothing is missing: where the median goes
        nodes[written] = (
            (np.uint64(feature) << np.uint64(41))
            | (np.uint64(side) << np.uint64(40))
            | (np.uint64(cut) << np.uint64(32))
        )
        stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = start + middle, stop, depth + 1
        stack[waiting, 3], stack[waiting, 4] = known, written
        waiting += 1
        written += 1
        stop, depth = start + middle, depth + 1


# Walk rows down the trees of a forest, and add up what their leaves say.
#
# Several rows go down a tree side by side: while one waits for its node to come from memory, the
# others move on.

ABREAST = 8
HALF = 0 if sys.byteorder == "little" else 1  # where in a word the 32-bit float of a leaf lies


@kernel
def descend(
    lines: NDArray[np.uint8],
    nodes: NDArray[np.uint64],
    first: Whole,
    missing: Whole,
    places: NDArray[np.int64],
) -> None:
    """Write the place, within its tree, of the leaf that each row comes to."""
    for start in range(0, places.size, ABREAST):
        here = places[start : start + ABREAST]
        here[:] = 0
        moving = 1
        while moving > 0:
            moving = 0
            for k in range(here.size):
                node = nodes[first + here[k]]
                feature = node >> np.uint64(41)
                if feature != LEAF:
                    code = np.int64(lines[start + k, np.int64(feature)])
                    left = code <= np.int64((node >> np.uint64(32)) & np.uint64(255))
                    left |= (code == missing) & ((node >> np.uint64(40)) & np.uint64(1) != 0)
                    right = np.int64(node & np.uint64(0xFFFFFFFF))
                    here[k] = here[k] + 1 if left else right
                    moving += 1


@kernel
def add_numbers(
    lines: NDArray[np.uint8],
    nodes: NDArray[np.uint64],
    firsts: NDArray[np.int64],
    missing: Whole,
    hard: bool,
    places: NDArray[np.int64],
    sums: NDArray[np.float64],
) -> None:
    """Add the value of every row's leaf, tree by tree; ``hard``: 1 for values above one half."""
    values = nodes.view(np.float32)
    for t in range(firsts.size - 1):
        descend(lines, nodes, firsts[t], missing, places)
        for i in range(places.size):
            value = float(values[2 * (firsts[t] + places[i]) + HALF])
            if hard:
                value = 1.0 if value > 0.5 else 0.0
            sums[i, 0] += value


@kernel
def add_classes(
    lines: NDArray[np.uint8],
    nodes: NDArray[np.uint64],
    firsts: NDArray[np.int64],
    missing: Whole,
    hard: bool,
    table: NDArray[np.float32],
    bases: NDArray[np.int64],
    places: NDArray[np.int64],
    sums: NDArray[np.float64],
) -> None:
    """Add the distribution of every row's leaf, tree by tree; ``hard``: 1 for its likeliest."""
    classes = sums.shape[1]
    for t in range(firsts.size - 1):
        descend(lines, nodes, firsts[t], missing, places)
        for i in range(places.size):
            said = np.int64(nodes[firsts[t] + places[i]] & np.uint64(0xFFFFFFFF))
            if said < classes:
                sums[i, said] += 1.0
            else:
                line = table[bases[t] + said - classes]
                if hard:
                    sums[i, line.argmax()] += 1.0
                else:
                    for c in range(classes):
                        sums[i, c] += line[c]
