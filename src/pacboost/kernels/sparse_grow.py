"""Grow a tree on sparse columns of codes: part the rows, divide the lists, scan the columns.

A leaf has a *run* in every column that lists some of its rows: those rows, one after the other. A
split divides each run in place, so a leaf never reads rows of another; columns that list none of
its rows cannot split it. kernels/split_general.py chooses the split.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pacboost.kernels import layout
from pacboost.kernels.runtime import Bytes, Floats, Numbers, Rows, Wholes
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import kernel, on_stack, team_kernel
from pacboost.kernels.sparse import count, share_of_lists
from pacboost.kernels.split import LOW, NEWTON, Leaf, scan_quickly
from pacboost.kernels.split_general import NodeTotals, scan_feature


class Runs(NamedTuple):
    """The listed rows of a leaf and their codes, column by column, for some of the columns."""

    columns: Wholes
    begins: Wholes
    ends: Wholes
    rows: Numbers
    """Column ``columns[k]`` has those from ``begins[k]`` to ``ends[k]``."""
    codes: Bytes

    def within(self, begins: Wholes, ends: Wholes, min_rows: int) -> Runs:
        """Return parts of the runs, without the columns that list fewer than ``min_rows`` rows."""
        some = ends >= begins + min_rows
        return Runs(self.columns[some], begins[some], ends[some], self.rows, self.codes)

    def starts(self) -> Wholes:
        """Return the starts of the runs if they were concatenated, and the end of the last one."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.ends - self.begins)])


class SparseColumns(NamedTuple):
    """What does not change from leaf to leaf: the features, and the pairs (lines, rows) of rows."""

    features: Wholes
    defaults: Bytes
    """The code of rows that a column does not list."""
    missing: int
    pairs: Wholes
    rules: Floats


class SparseLeaf(NamedTuple):
    """A leaf whose split is searched."""

    totals: Wholes
    """The sum of the pairs of its rows, for each line."""
    heaviest: int
    min_weight: float
    min_worth: float
    """What the sides of a split have to be worth."""
    allowed: Bytes


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
def divide(member: Member, starts: Wholes, runs: Runs, goes_left: Bytes, middles: Wholes) -> None:
    """Sort every run by side, keeping the order; write where its right part begins.

    ``starts`` are those of the concatenated runs; the members of a team divide them.
    """
    _, begins, ends, rows, codes = runs
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
    member: Member, starts: Wholes, runs: Runs, columns: SparseColumns, leaf: SparseLeaf,
    span: Floats | None, after: Floats, best: Wholes,
) -> None:  # fmt: skip
    """Find the best split of a leaf; write the worth of its sides, or ``min_worth`` of the leaf.

    Each member of a team searches some of the columns, and writes to its lines of ``after`` and
    ``best``. ``span`` is None in the common case of kernels/split.py; the other branches are then
    not compiled.
    """
    features, defaults, missing, pairs, rules = columns
    totals, min_weight, min_worth = leaf.totals, leaf.min_weight, leaf.min_worth
    lines, best_of_member = totals.size, best[member.number]
    is_quick = lines == 1 and int(rules[layout.CRITERION]) == NEWTON
    worth, cut, missing_left = min_worth, -1, False
    histogram = on_stack((lines, 256), np.int64)
    sums, worth_of_cuts = on_stack((256,), np.int64), on_stack((256,), np.float64)
    quick_leaf = Leaf(totals[0], rules[layout.PENALTY], min_weight, sums, worth_of_cuts)
    order = on_stack((1,), np.int64)  # of categories, which are never sparse
    first, last = share_of_lists(starts, member)
    for k in range(first, last):
        j, begin, end = runs.columns[k], runs.begins[k], runs.ends[k]
        # one side of any split holds no row with the default, so only listed rows
        if not leaf.allowed[j] or float((end - begin) * leaf.heaviest) < min_weight:
            continue
        feature, default = features[j], defaults[j]
        bins, rows, codes = feature[layout.BINS], runs.rows[begin:end], runs.codes[begin:end]
        count(rows, codes, pairs[0], totals[0], default, bins, missing, histogram[0])
        if float((totals[0] - histogram[0, default]) & LOW) < min_weight:
            continue
        if is_quick and feature[layout.MONOTONE] == 0:
            worth, cut, missing_left = scan_quickly(
                histogram[0, :bins], histogram[0, bins], quick_leaf, min_worth
            )
        elif span is not None:
            for s in range(1, lines):
                count(rows, codes, pairs[s], totals[s], default, bins, missing, histogram[s])
            node = NodeTotals(totals, rules, span, min_weight, 0.0)
            worth, cut, missing_left = scan_feature(node, histogram, feature, order, min_worth, 0.0)
        if cut >= 0:
            min_worth = worth
            best_of_member[layout.FEATURE], best_of_member[layout.CUT] = j, cut
            best_of_member[layout.MISSING_LEFT] = missing_left
    after[member.number] = min_worth
