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

    ``starts`` says where each would begin if they lay one after the other: members divide them.
    Every row is written to both sides, and only one side moves on: no branch to guess wrong.
    """
    first, last = share_of_lists(starts, member)
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
    least: float,
    wanted: float,
    span: Floats | None,
    after: Floats,
    best: Wholes,
) -> None:
    """Find the split of a leaf worth more than ``wanted``; write what its sides are worth.

    Without a split that is ``wanted``. Each member looks at some of the columns, and writes what it
    found to its own lines of ``after`` and ``best``. ``heaviest`` is the largest weight of a row,
    ``least`` what each side must weigh, so short runs need not be read. ``span`` is None where
    kernels/split.py would serve; the rest is then not compiled.
    """
    lines = totals.size
    own = on_stack((lines, 256), np.int64)
    sums, found_at = on_stack((256,), np.int64), on_stack((256,), np.float64)
    leaf = Leaf(totals[0], rules[PENALTY], least, sums, found_at)
    order = on_stack((1,), np.int64)  # of categories, which no sparse column holds
    first, last = share_of_lists(starts, member)
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
            found, cut, left = scan_quickly(own[0, :bins], own[0, bins], leaf, wanted)
        elif lines == 1:
            found, cut, left = scan_numbers(
                own[0, :bins], own[0, bins], leaf, rules, span, feature[MONOTONE], wanted
            )
        else:
            for s in range(1, lines):
                count(run_rows, run_codes, pairs[s], totals[s], default, bins, missing, own[s])
            found, cut, left = scan_feature(own, feature, totals, order, rules, least, wanted, 0.0)
        if cut >= 0:
            wanted = found
            (
                best[member.number, FEATURE],
                best[member.number, CUT],
                best[member.number, MISSING_LEFT],
            ) = j, cut, left
    after[member.number] = wanted
