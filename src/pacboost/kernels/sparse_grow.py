"""Grow a tree on sparse columns of codes: part the rows, divide the lists, scan the columns.

A leaf has a *run* in every column that lists some of its rows: those rows, one after the other. A
split divides each run in place, so a leaf never reads rows of another; columns that list none of
its rows cannot split it. kernels/split_general.py chooses the split.
"""

from __future__ import annotations

import numpy as np

from pacboost.kernels.layout import BINS, CUT, FEATURE, MISSING_LEFT, MONOTONE, PENALTY
from pacboost.kernels.runtime import Bytes, Floats, Numbers, Rows, Wholes
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import kernel, on_stack, team_kernel
from pacboost.kernels.sparse import count, share_of_lists
from pacboost.kernels.split import LOW, Leaf, scan_quickly
from pacboost.kernels.split_general import scan_feature, scan_numbers


@kernel
def part(goes_left: Bytes, rows: Rows, pairs: Wholes, totals: Wholes, heaviest: Wholes) -> int:
    """Sort rows by side, keeping their order; return how many went left.

    Also write the sum of the pairs and the largest weight of each side.
    """
    spare = np.empty_like(rows)
    n_left = n_right = 0
    for k in range(rows.size):
        row = rows[k]
        side = 0 if goes_left[row] else 1
        if side == 0:
            rows[n_left] = row
            n_left += 1
        else:
            spare[n_right] = row
            n_right += 1
        heaviest[side] = max(heaviest[side], pairs[0, row] & LOW)
        for s in range(totals.shape[1]):
            totals[side, s] += pairs[s, row]
    for k in range(n_right):
        rows[n_left + k] = spare[k]
    return n_left


@team_kernel()
def divide(
    member: Member,
    starts: Wholes,
    begins: Wholes,
    ends: Wholes,
    rows: Numbers,
    codes: Bytes,
    goes_left: Bytes,
    middles: Wholes,
) -> None:
    """Sort every run by side, keeping the order; write where its right part begins.

    ``starts`` are those of the concatenated runs; the members of a team divide them.
    Every row is written to both sides, and only one side moves on: no branch to mispredict.
    """
    first, last = share_of_lists(starts, member)
    longest = np.int64(0)
    for k in range(first, last):
        longest = max(longest, ends[k] - begins[k])
    spare_rows, spare_codes = np.empty(longest, np.int32), np.empty(longest, np.uint8)
    for k in range(first, last):
        own_rows, own_codes = rows[begins[k] : ends[k]], codes[begins[k] : ends[k]]
        n_left = n_right = np.uint64(0)  # unsigned, so that indices need no check
        for i in range(own_rows.size):
            row, code = own_rows[i], own_codes[i]
            to_left = np.uint64(goes_left[np.uint32(row)])
            own_rows[n_left], own_codes[n_left] = row, code
            spare_rows[n_right], spare_codes[n_right] = row, code
            n_left += to_left
            n_right += np.uint64(1) - to_left
        middle = np.int64(n_left)
        for i in range(np.int64(n_right)):
            own_rows[middle + i], own_codes[middle + i] = spare_rows[i], spare_codes[i]
        middles[k] = begins[k] + middle


@team_kernel(allocates=False)
def look(
    member: Member,
    starts: Wholes,
    columns: Wholes,
    begins: Wholes,
    ends: Wholes,
    rows: Numbers,
    codes: Bytes,
    defaults: Bytes,
    features: Wholes,
    allowed: Bytes,
    missing: int,
    pairs: Wholes,
    totals: Wholes,
    rules: Floats,
    heaviest: int,
    min_weight: float,
    min_worth: float,
    span: Floats | None,
    after: Floats,
    best: Wholes,
) -> None:
    """Find the best split of a leaf that is worth over ``min_worth``; write the worth of its sides.

    If there is none, that is ``min_worth``. Each member of a team searches some of the columns, and
    writes to its lines of ``after`` and ``best``. ``heaviest`` is the largest weight of a row,
    ``min_weight`` the minimum weight of a side, so short runs need not be read. ``span`` is None in
    the common case of kernels/split.py; the other branches are then not compiled.
    """
    lines = totals.size
    histogram = on_stack((lines, 256), np.int64)
    sums, worth_of_cuts = on_stack((256,), np.int64), on_stack((256,), np.float64)
    leaf = Leaf(totals[0], rules[PENALTY], min_weight, sums, worth_of_cuts)
    order = on_stack((1,), np.int64)  # of categories, which are never sparse
    first, last = share_of_lists(starts, member)
    for k in range(first, last):
        j = columns[k]
        # one side of any split holds no row with the default, so only listed rows
        if not allowed[j] or float((ends[k] - begins[k]) * heaviest) < min_weight:
            continue
        feature, default = features[j], defaults[j]
        bins = feature[BINS]
        run_rows, run_codes = rows[begins[k] : ends[k]], codes[begins[k] : ends[k]]
        count(run_rows, run_codes, pairs[0], totals[0], default, bins, missing, histogram[0])
        if float((totals[0] - histogram[0, default]) & LOW) < min_weight:
            continue
        if span is None:
            worth, cut, missing_left = scan_quickly(
                histogram[0, :bins], histogram[0, bins], leaf, min_worth
            )
        elif lines == 1:
            worth, cut, missing_left = scan_numbers(
                histogram[0, :bins],
                histogram[0, bins],
                leaf,
                rules,
                span,
                feature[MONOTONE],
                min_worth,
            )
        else:
            for s in range(1, lines):
                count(
                    run_rows, run_codes, pairs[s], totals[s], default, bins, missing, histogram[s]
                )
            worth, cut, missing_left = scan_feature(
                histogram, feature, totals, order, rules, min_weight, min_worth, 0.0
            )
        if cut >= 0:
            min_worth = worth
            (
                best[member.number, FEATURE],
                best[member.number, CUT],
                best[member.number, MISSING_LEFT],
            ) = j, cut, missing_left
    after[member.number] = min_worth
