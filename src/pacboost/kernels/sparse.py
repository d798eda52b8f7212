"""Encode sparse columns, count their histograms, and search them for stumps.

Only the rows of a column whose code differs from its default (that of 0) are listed and counted;
the default gets the rest of the total. Sums are of integers, so the histogram equals that of
counting all rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.runtime import Cells, Floats, Numbers, Wholes
from pacboost.kernels.runtime.board import own_share
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import kernel, team_kernel
from pacboost.kernels.stumps import NEVER, scan


@kernel
def rank(ascending: Floats | Wholes, value: float) -> int:
    """Return how many of some ascending numbers are below a value."""
    low, high = 0, ascending.size
    while low < high:
        middle = (low + high) >> 1
        if ascending[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def encode(
    starts: Wholes, values: NDArray[np.floating], cuts: Floats, offsets: Wholes, missing: int,
    defaults: Cells, codes: Cells,
) -> None:  # fmt: skip
    """Write the codes of stored values, and of 0 in each column.

    Column j has the cuts from ``offsets[j]`` to ``offsets[j + 1]``.
    """
    for j in range(defaults.size):
        column_cuts = cuts[offsets[j] : offsets[j + 1]]
        defaults[j] = rank(column_cuts, 0.0)
        for k in range(starts[j], starts[j + 1]):
            codes[k] = missing if np.isnan(values[k]) else rank(column_cuts, values[k])


@kernel
def count(
    rows: Numbers, codes: Cells, amounts: Wholes, total: np.int64, default: int, bins: int,
    missing: int, histogram: Wholes,
) -> None:  # fmt: skip
    """Sum the amounts of rows in the bins of a column, those of missing values last."""
    for b in range(bins + 1):
        histogram[b] = 0
    for k in range(rows.size):
        amount = amounts[np.uint32(rows[k])]  # unsigned, so that the index needs no check
        histogram[bins if codes[k] == missing else codes[k]] += amount
        total -= amount
    histogram[default] += total


@kernel
def share_of_lists(starts: Wholes, member: Member) -> tuple[int, int]:
    """Return the first list of a member, and the one after its last; shares are about equal.

    List k goes from ``starts[k]`` to ``starts[k + 1]``.
    """
    lists = starts.size - 1
    first, last = own_share(starts[lists] - starts[0], member)
    return (
        0 if member.number == 0 else rank(starts[:lists], starts[0] + first),
        lists if member.number == member.team - 1 else rank(starts[:lists], starts[0] + last),
    )


@team_kernel()
def edges(
    member: Member, starts: Wholes, rows: Numbers, codes: Cells, defaults: Cells, bins: Wholes,
    missing: int, amounts: Wholes, total: np.int64, out: Wholes,
) -> None:  # fmt: skip
    """Write the largest edge of a stump on each column; see learners/stump.py."""
    histogram = np.empty(missing + 1, dtype=np.int64)
    first, last = share_of_lists(starts, member)
    for j in range(first, last):
        a, b = starts[j], starts[j + 1]
        count(rows[a:b], codes[a:b], amounts, total, defaults[j], bins[j], missing, histogram)
        out[j] = scan(histogram, bins[j], NEVER)[0]
