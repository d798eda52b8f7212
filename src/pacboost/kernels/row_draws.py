"""Draw the rows that a tree is grown on, in spans that the members of a team divide.

Each span of consecutive rows gets its part of the draw, to within one row. Within a span, every set
of so many rows is equally likely, and selection sampling (Knuth 1997, 3.4.2, algorithm S) finds it
in ascending order. The random number of a row depends on the key and the row alone, so the draw is
the same for any number of members.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.hashing import STEP, mixed
from pacboost.kernels.native import native
from pacboost.kernels.runtime import Rows
from pacboost.kernels.runtime.board import own_share
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import inline, part_of_kernels
from pacboost.kernels.runtime.team import team_for, together

ROWS_PER_SPAN = 1_024
KEY_BITS = 20
"""A seed shifted by these is a key, for drawing rows and the features of each leaf of a tree."""


@part_of_kernels
def draw_share(
    member: Member, key: np.int64, rows: int, chosen: Rows | NDArray[np.intp]
) -> tuple[int, np.int64]:
    """Draw this member's spans, and write their rows; return the first and last of their places."""
    spans = max(1, rows // ROWS_PER_SPAN)  # the last one also has the remaining rows
    first, last = own_share(spans, member)
    row = first * ROWS_PER_SPAN
    begin = row * chosen.size // rows
    place = np.int64(begin)
    start = mixed(np.uint64(key))
    for span in range(first, last):
        stop = rows if span == spans - 1 else (span + 1) * ROWS_PER_SPAN
        end = stop * chosen.size // rows
        while place < end:
            number = np.int64(mixed(start + np.uint64(row) * STEP) >> np.uint64(32))
            chosen[place] = row
            place += np.int64((number * (stop - row)) >> 32 < end - place)
            row += 1
        row = stop
    return begin, place


@inline
def gap(chosen: Rows | NDArray[np.intp], k: int, rows: int) -> tuple[np.int64, np.int64]:
    """Return the first row after drawn row ``k - 1``, and drawn row ``k``, or the ends."""
    first, last = np.int64(0), np.int64(rows)
    if k > 0:
        first = np.int64(chosen[k - 1]) + 1
    if k < chosen.size:
        last = np.int64(chosen[k])
    return first, last


def draw_rows(seed: int, rows: int, count: int) -> NDArray[np.intp]:
    """Return ``count`` of the rows 0, 1, …, in ascending order.

    >>> draw_rows(0, rows=10, count=4)
    array([0, 3, 5, 7])
    """
    chosen = np.empty(count, dtype=np.intp)
    together(native.draw, int(seed) << KEY_BITS, rows, chosen, at_most=team_for(rows))
    return chosen
