"""Sparse columns of codes: made, counted, and searched for stumps.

Only the rows of a column that are away from its default code (that of 0) are listed. What they add
up to is counted; the default gets what they leave of the total. Sums are of whole numbers, so the
histogram is the one that counting all rows would give.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.best_split import scan_feature, scan_numbers
from pacboost.kernels.cuts import (
    BINS,
    CUT,
    FEATURE,
    LOW,
    MISSING_LEFT,
    MONOTONE,
    PENALTY,
    scan_quickly,
)
from pacboost.kernels.runtime.board import share
from pacboost.kernels.runtime.jit import kernel, on_stack, part_of_kernels, team_kernel
from pacboost.kernels.stumps import NEVER, scan


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
    """Return the first list of a member, and the one after its last: about equally long in total.

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
    """Return the first list that begins at a place or after it."""
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


# Grow a tree on sparse columns of codes: part the rows, divide the lists, scan what is left.
#
# A leaf has a *run* in every column that lists some of its rows: those rows, one after the other. A
# split divides each run in place, so a leaf never reads rows of another; columns that list none of
# its rows cannot split it. What a split is worth, and which one is taken, is said in
# kernels/best_split.py.


@kernel
def part(
    goes_left: NDArray[np.uint8],
    rows: NDArray[np.uint32],
    pairs: NDArray[np.int64],
    totals: NDArray[np.int64],
    heaviest: NDArray[np.int64],
) -> int:
    """Sort rows by side, keeping their order; give how many went left.

    Of each side, left and right, also write what its pairs add up to, and its largest weight.
    """
    spare = np.empty_like(rows)
    left = right = 0
    for k in range(rows.size):
        row = rows[k]
        side = 0 if goes_left[row] else 1
        if side == 0:
            rows[left] = row
            left += 1
        else:
            spare[right] = row
            right += 1
        heaviest[side] = max(heaviest[side], pairs[0, row] & LOW)
        for s in range(totals.shape[1]):
            totals[side, s] += pairs[s, row]
    for k in range(right):
        rows[left + k] = spare[k]
    return left


@team_kernel()
def divide(
    member: int,
    team: int,
    board: NDArray[np.int64],
    starts: NDArray[np.int64],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    rows: NDArray[np.int32],
    codes: NDArray[np.uint8],
    goes_left: NDArray[np.uint8],
    middles: NDArray[np.int64],
) -> None:
    """Sort every run by side, keeping the order; write where its right part begins.

    ``starts`` says where each would begin if they lay one after the other: members divide them.
    Every row is written to both sides, and only one side moves on: no branch to guess wrong.
    """
    first, last = share_of_lists(starts, member, team)
    longest = np.int64(0)
    for k in range(first, last):
        longest = max(longest, ends[k] - begins[k])
    spare_rows, spare_codes = np.empty(longest, np.int32), np.empty(longest, np.uint8)
    for k in range(first, last):
        own_rows, own_codes = rows[begins[k] : ends[k]], codes[begins[k] : ends[k]]
        left = right = np.uint64(0)  # no sign: places need not be checked for being negative
        for i in range(own_rows.size):
            row, code = own_rows[i], own_codes[i]
            to_left = np.uint64(goes_left[np.uint32(row)])
            own_rows[left], own_codes[left] = row, code
            spare_rows[right], spare_codes[right] = row, code
            left += to_left
            right += np.uint64(1) - to_left
        middle = np.int64(left)
        for i in range(np.int64(right)):
            own_rows[middle + i], own_codes[middle + i] = spare_rows[i], spare_codes[i]
        middles[k] = begins[k] + middle


@team_kernel(allocates=False)
def look(
    member: int,
    team: int,
    board: NDArray[np.int64],
    starts: NDArray[np.int64],
    columns: NDArray[np.int64],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    rows: NDArray[np.int32],
    codes: NDArray[np.uint8],
    defaults: NDArray[np.uint8],
    features: NDArray[np.int64],
    allowed: NDArray[np.uint8],
    missing: int,
    pairs: NDArray[np.int64],
    totals: NDArray[np.int64],
    rules: NDArray[np.float64],
    heaviest: int,
    least: float,
    wanted: float,
    span: NDArray[np.float64] | None,
    after: NDArray[np.float64],
    best: NDArray[np.int64],
) -> None:
    """Find the split of a leaf worth more than ``wanted``; write what its sides are worth.

    Without a split that is ``wanted``. Each member looks at some of the columns, and writes what it
    found to its own lines of ``after`` and ``best``. ``heaviest`` is the largest weight of a row,
    ``least`` what each side must weigh, so short runs need not be read. ``span`` is None where
    kernels/plain_split.py would serve; the rest is then not compiled.
    """
    lines = totals.size
    own = on_stack((lines, 256), np.int64)
    sums, found_at = on_stack((256,), np.int64), on_stack((256,), np.float64)
    order = on_stack((1,), np.int64)  # of categories, which no sparse column holds
    first, last = share_of_lists(starts, member, team)
    for k in range(first, last):
        j = columns[k]
        # one side of any split holds none of the default: no more than what is listed
        if not allowed[j] or float((ends[k] - begins[k]) * heaviest) < least:
            continue
        feature, default = features[j], defaults[j]
        bins = feature[BINS]
        run_rows, run_codes = rows[begins[k] : ends[k]], codes[begins[k] : ends[k]]
        count(run_rows, run_codes, pairs[0], totals[0], default, bins, missing, own[0])
        if float((totals[0] - own[0, default]) & LOW) < least:
            continue
        if span is None:
            found, cut, left = scan_quickly(
                own[0, :bins], own[0, bins], totals[0], rules[PENALTY], least, wanted, sums,
                found_at,
            )  # fmt: skip
        elif lines == 1:
            found, cut, left = scan_numbers(
                own[0, :bins], own[0, bins], totals[0], rules, least, span, feature[MONOTONE],
                wanted, sums, found_at,
            )  # fmt: skip
        else:
            for s in range(1, lines):
                count(run_rows, run_codes, pairs[s], totals[s], default, bins, missing, own[s])
            found, cut, left = scan_feature(own, feature, totals, order, rules, least, wanted, 0.0)
        if cut >= 0:
            wanted = found
            best[member, FEATURE], best[member, CUT], best[member, MISSING_LEFT] = j, cut, left
    after[member] = wanted
