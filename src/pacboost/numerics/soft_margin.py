"""The soft margin of a vote, and products of votes and rules that are the same in any order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.exact import FRESH_TOTAL, VOTE_UNIT
from pacboost.numerics.same_bits import total

Floats = NDArray[np.float64]


def soft_margin(margins: Floats, base: Floats, share: float) -> float:
    """Return the mean margin of the worst ``share`` of the rows; of the single worst one if 0.

    It is the least mean that weights of at most base/share can give, and so the dual of boosting
    with capped weights: max over ρ of ρ - mean(max(0, ρ - margin))/share. Margins are (rows,
    outputs), ``base`` is one weight a row, or one for all.

    >>> soft_margin(np.array([[0.5], [-0.1], [0.3], [0.1]]), np.ones(1), 0.5)     # (-0.1 + 0.1)/2
    0.0
    >>> soft_margin(np.array([[0.5], [-0.1], [0.3], [0.1]]), np.ones(1), 0.0)
    -0.1
    """
    if share <= 0:
        return float(margins.min())
    flat = margins.reshape(-1)
    masses = np.repeat(np.broadcast_to(base, margins.shape[:1]), margins.shape[1])
    left = share * total(masses)
    if base.size == 1 and left <= masses[0]:
        return float(flat.min())
    order = np.argsort(flat, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(masses[order])[:-1]])
    taken = np.minimum(masses[order], np.maximum(left - before, 0.0))
    return total(taken * flat[order]) / left


# Products of a matrix of -1, 0 and +1 that come out the same in any order.
#
# Votes are multiples of 2^-40 and weights of 2^-52 (numerics/exact.py). Sums of either that stay
# below 1 need no more than 52 bits, so a double holds every sum on the way: whatever a library does
# to multiply fast, on however many threads, it rounds nothing.

Columns = NDArray[np.int8]
"""What each rule (a line) is to each kind of rows: right, wrong, or silent."""

CELLS_AT_ONCE = 2**17
"""Converted to doubles at a time: a megabyte, which a processor keeps near."""
ALONE = 2**18
"""A product of matrices of so many steps is not worth a thread to OpenBLAS, whose threads wait for
each other by spinning: on a busy machine, that has been seen to make it 30 times slower."""


def margins_of(columns: Columns, votes: Floats) -> Floats:
    """Σ_t votes[t] columns[t], for every kind of rows.

    >>> margins_of(np.array([[1, -1], [1, 1]], dtype=np.int8), np.array([0.75, 0.25])).tolist()
    [1.0, -0.5]
    """
    margins = np.empty(columns.shape[1])
    for part, block in _blocks(columns, np.flatnonzero(votes)):
        margins[part] = votes[votes != 0] @ block
    return margins


def edges_of(columns: Columns, weights: Floats) -> Floats:
    """The correlation of every rule with what is wanted, under weights that sum to 1.

    >>> edges_of(np.array([[1, -1], [1, 1]], dtype=np.int8), np.array([0.75, 0.25])).tolist()
    [0.5, 1.0]
    """
    edges = np.zeros(len(columns))
    for part, block in _blocks(columns):
        edges += block @ weights[part]
    return edges


def products_of(columns: Columns, weights: Floats) -> Floats:
    """The weighted mean of the product of every two rules.

    >>> products_of(np.array([[1, -1], [1, 1]], dtype=np.int8), np.array([0.75, 0.25])).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    products = np.zeros((len(columns), len(columns)))
    some = np.flatnonzero(weights)
    weighed = weights[some]
    width = max(8, ALONE // max(1, len(columns)) ** 2)
    for part, block in _blocks(columns[:, some]):
        own = block * weighed[part]
        for start in range(0, own.shape[1], width):
            few = slice(start, start + width)
            products += own[:, few] @ block[:, few].T
    return products


def whole_votes(votes: Floats) -> Floats:
    """Round to multiples of 2^-40."""
    rounded: Floats = np.rint(votes / VOTE_UNIT) * VOTE_UNIT
    return rounded


def whole_weights(weights: Floats) -> Floats:
    """Round to multiples of 2^-52."""
    rounded: Floats = np.rint(weights * FRESH_TOTAL) / FRESH_TOTAL
    return rounded


def _blocks(
    columns: Columns, lines: NDArray[np.intp] | None = None
) -> Iterator[tuple[slice, Floats]]:
    """Return parts of the columns as doubles, one after the other."""
    count = len(columns) if lines is None else lines.size
    width = max(1, CELLS_AT_ONCE // max(1, count))
    for start in range(0, columns.shape[1], width):
        part = slice(start, start + width)
        block = columns[:, part] if lines is None else columns[lines, part]
        yield part, block.astype(np.float64)
