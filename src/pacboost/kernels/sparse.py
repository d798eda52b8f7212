"""Sparse columns of codes: made, counted, and searched for stumps.

Only the rows of a column that are away from its default code (that of 0) are listed. What they add
up to is counted; the default gets what they leave of the total. Sums are of whole numbers, so the
histogram is the one that counting all rows would give.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.board import share
from pacboost.kernels.jit import kernel, part_of_kernels, team_kernel
from pacboost.kernels.split import NEVER, scan


@kernel
def rank(cuts: NDArray[np.float64], value: float) -> int:
    """Count the cuts below a value."""
    low, high = 0, cuts.size
    while low < high:
        middle = (low + high) >> 1
        if cuts[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def encode(
    starts: NDArray[np.int64],
    values: NDArray[np.floating],
    cuts: NDArray[np.float64],
    offsets: NDArray[np.int64],
    missing: int,
    defaults: NDArray[np.unsignedinteger],
    codes: NDArray[np.unsignedinteger],
) -> None:
    """Write the codes of stored values, and of 0 in each column.

    The cuts of column j lie from ``offsets[j]`` to ``offsets[j + 1]``.
    """
    for j in range(defaults.size):
        own = cuts[offsets[j] : offsets[j + 1]]
        defaults[j] = rank(own, 0.0)
        for k in range(starts[j], starts[j + 1]):
            codes[k] = missing if np.isnan(values[k]) else rank(own, values[k])


@kernel
def count(
    rows: NDArray[np.int32],
    codes: NDArray[np.unsignedinteger],
    amounts: NDArray[np.int64],
    total: np.int64,
    default: int,
    bins: int,
    missing: int,
    own: NDArray[np.int64],
) -> None:
    """Add the amounts of rows up in the bins of a column, those of missing values last."""
    for b in range(bins + 1):
        own[b] = 0
    for k in range(rows.size):
        amount = amounts[np.uint32(rows[k])]  # no sign, so no check for being negative
        own[bins if codes[k] == missing else codes[k]] += amount
        total -= amount
    own[default] += total


@kernel
def share_of_lists(starts: NDArray[np.int64], member: int, team: int) -> tuple[int, int]:
    """Give the first list of a member, and the one after its last: about equally long in total.

    List k begins at ``starts[k]``, and the last one ends where one more would begin.
    """
    lists = starts.size - 1
    first, last = share(starts[lists] - starts[0], member, team)
    return (
        0 if member == 0 else first_from(starts, starts[0] + first),
        lists if member == team - 1 else first_from(starts, starts[0] + last),
    )


@part_of_kernels
def first_from(starts: NDArray[np.int64], place: np.int64) -> int:
    """Give the first list that begins at a place or after it."""
    low, high = 0, starts.size - 1
    while low < high:
        middle = (low + high) >> 1
        if starts[middle] < place:
            low = middle + 1
        else:
            high = middle
    return low


@team_kernel()
def edges(
    member: int,
    team: int,
    board: NDArray[np.int64],
    starts: NDArray[np.int64],
    rows: NDArray[np.int32],
    codes: NDArray[np.unsignedinteger],
    defaults: NDArray[np.unsignedinteger],
    bins: NDArray[np.int64],
    missing: int,
    amounts: NDArray[np.int64],
    total: np.int64,
    out: NDArray[np.int64],
) -> None:
    """Write the largest edge that a stump on each column has; see learners/stump.py."""
    own = np.empty(missing + 1, dtype=np.int64)
    first, last = share_of_lists(starts, member, team)
    for j in range(first, last):
        a, b = starts[j], starts[j + 1]
        count(rows[a:b], codes[a:b], amounts, total, defaults[j], bins[j], missing, own)
        out[j] = scan(own, bins[j], NEVER)[0]
