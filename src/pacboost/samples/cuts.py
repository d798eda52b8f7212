"""Choose cuts between the values of a feature, or of all columns of a sparse table at once.

The number of zeros of a sparse column follows from that of its stored cells, so they need not be
visited. Its cuts equal those of the same table as a dense array.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.sources.table import Entries, Places

TIE = 1e-9
"""Relative difference up to which two masses count as equal."""
MAX_FLOAT32 = np.finfo(np.float32).max

NO_CUTS = np.empty(0, dtype=np.float32)
SIGN = np.uint32(1 << 31)

Floats = NDArray[np.float32]
Masses = NDArray[np.float64]
Cut = tuple[Floats, int]
"""The thresholds of a feature, and the code of its median."""


MAX_ROWS_TO_RULE_OUT_TWO = 64
"""This many rows mostly suffice to see that a column has more than two values, or equal ones."""
MAX_ROWS_TO_CUT_AT_ONCE = 8_192
"""On more rows, NumPy's calls for each column take less time than its sorting."""


def to_32_bits(values: NDArray[np.floating]) -> Floats:
    """Round values to 32 bits, and clip those that are too large."""
    with np.errstate(over="ignore"):
        rounded: Floats = np.clip(np.asarray(values, dtype=np.float32), -MAX_FLOAT32, MAX_FLOAT32)
    return rounded


def cut(
    values: Floats, below: NDArray[np.float64], max_bins: int, levels: int = 0
) -> tuple[Floats, int]:
    """Return the thresholds between distinct values (ascending), and the code of the median.

    ``below`` is the cumulative weight of the values, each included; ``levels`` is above 0 for a
    category, see samples/bins.py.
    """
    thresholds = np.arange(0.5, levels - 1, dtype=np.float32)  # none unless it is categorical
    if values.size < (1 if levels else 2):
        return thresholds, 0
    ends, middle = _ends(below, max_bins)
    if not levels:
        thresholds = between(values[ends], values[ends + 1])
    return thresholds, int(np.searchsorted(thresholds, values[middle]))


def _ends(below: NDArray[np.float64], max_bins: int) -> tuple[NDArray[np.intp], np.intp]:
    """Return the places of the last value of each bin but the last one, and of the median."""
    slack = below[-1] * TIE  # so that sums added in another order cut at the same place
    ends: NDArray[np.intp] = np.arange(below.size - 1)
    if below.size > max_bins:
        targets = below[-1] * np.arange(1, max_bins) / max_bins
        ends = np.unique(np.searchsorted(below, targets - slack))
        ends = ends[ends < below.size - 1]
    return ends, np.searchsorted(below, below[-1] / 2 - slack)


def cuts_of_two(values: NDArray[np.floating]) -> dict[int, Cut]:
    """Cut all columns of exactly two distinct values at once, as ``cut`` does.

    A column with missing values is omitted, because NaN equals nothing.
    """
    if len(values) == 0:
        return {}
    with np.errstate(invalid="ignore"):
        columns = np.flatnonzero(_has_two(values[:MAX_ROWS_TO_RULE_OUT_TWO]))
        some = values[:, columns]
        low, high = to_32_bits(some.min(axis=0)), to_32_bits(some.max(axis=0))
        two = _has_two(some) & (low < high)
    mass = (some == some.min(axis=0)).sum(axis=0)
    thresholds = between(low, high)
    codes = mass < len(values) / 2 - len(values) * TIE
    return {
        int(columns[k]): (thresholds[k : k + 1].copy(), int(codes[k]))
        for k in np.flatnonzero(two).tolist()
    }


def cuts_of_distinct(values: NDArray[np.floating], max_bins: int) -> dict[int, Cut]:
    """Cut all columns without equal or missing values at once, as ``cut`` does."""
    if not 1 < len(values) <= MAX_ROWS_TO_CUT_AT_ONCE:
        return {}
    some = np.sort(values[:MAX_ROWS_TO_RULE_OUT_TWO], axis=0)
    columns = np.flatnonzero((some[1:] != some[:-1]).all(axis=0) & ~np.isnan(some[-1]))
    lines = np.sort(to_32_bits(np.ascontiguousarray(values[:, columns].T)), axis=1)
    distinct = (lines[:, 1:] != lines[:, :-1]).all(axis=1) & ~np.isnan(lines[:, -1])
    columns, lines = columns[distinct], lines[distinct]
    ends, middle = _ends(np.arange(1.0, len(values) + 1), max_bins)
    thresholds = between(lines[:, ends], lines[:, ends + 1])
    codes = (thresholds < lines[:, middle, None]).sum(axis=1)
    return {
        j: (thresholds[k].copy(), code)
        for k, (j, code) in enumerate(zip(columns.tolist(), codes.tolist(), strict=True))
    }


def _has_two(values: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Check, for each column, whether every value is its smallest or its largest."""
    either = (values == values.min(axis=0)) | (values == values.max(axis=0))
    is_two_valued: NDArray[np.bool_] = np.logical_and.reduce(either, axis=0)
    return is_two_valued


def cut_by_quantiles(
    many: NDArray[np.bool_], lows: Floats, highs: Floats, medians: Floats
) -> dict[int, Cut]:
    """Cut columns with ``many`` values by the values next to each cut, as ``cut`` does.

    ``lows`` (columns, cuts) are the largest values below each cut, ``highs`` the next larger ones;
    where none is larger, they are not above ``lows``.
    """
    cuts: dict[int, Cut] = {}
    for j in np.flatnonzero(many).tolist():
        low, high = lows[j], highs[j]
        first = np.concatenate([[True], low[1:] != low[:-1]]) & (high > low)
        thresholds = between(low[first], high[first])
        cuts[j] = thresholds, int(np.searchsorted(thresholds, medians[j]))
    return cuts


def between(low: Floats, high: Floats) -> Floats:
    """Return 32-bit floats t with low <= t < high, halfway between them if the format allows."""
    half = ((low.astype(np.float64) + high.astype(np.float64)) / 2).astype(np.float32)
    return np.where(half < high, half, low)


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct values of every column, ascending and without missing ones, and their masses.

    Column j has those from ``starts[j]`` to ``starts[j + 1]``.
    """

    starts: Places
    values: Floats
    mass: Masses

    def column(self, column: int) -> tuple[Floats, Masses]:
        places = slice(self.starts[column], self.starts[column + 1])
        return self.values[places], self.mass[places]


def cut_entries(
    entries: Entries, max_bins: int, weights: Masses | None, chosen: NDArray[np.intp] | None
) -> tuple[tuple[Floats, ...], Places]:
    """Return the thresholds of every column, and the codes of the medians.

    If rows are ``chosen``, columns of many values are cut by those rows only.
    """
    all_rows = distinct(entries, weights)
    many = np.flatnonzero(np.diff(all_rows.starts) > max_bins)
    thresholds, middle = _cut_everywhere(all_rows)
    some_rows = all_rows
    if chosen is not None and many.size:
        some_rows = _in_rows(entries.of(many), weights, chosen)
    for k, column in enumerate(many.tolist()):
        values, mass = some_rows.column(column if some_rows is all_rows else k)
        if values.size <= max_bins:  # a rare value may not be among the chosen rows
            values, mass = all_rows.column(column)
        thresholds[column], middle[column] = cut(values, np.cumsum(mass), max_bins)
    return tuple(thresholds), middle


def distinct(entries: Entries, weights: Masses | None) -> Distinct:
    """Find the distinct values of all columns, zero among them, by sorting once.

    The keys are integers: the column in the high bits, the value in the low ones.
    """
    columns, width = entries.columns, entries.starts.size - 1
    values = to_32_bits(entries.values) + np.float32(0)  # turns -0 into 0
    present = ~np.isnan(values)
    stored = np.diff(entries.starts)
    zeros = np.flatnonzero(stored < entries.n_rows)
    keys = _keys(columns[present], values[present])
    keys = np.concatenate([keys, _keys(zeros, np.zeros(zeros.size, dtype=np.float32))])
    if weights is None:
        rest = entries.n_rows - stored[zeros]
        masses = np.concatenate([np.ones(keys.size - zeros.size), rest.astype(np.float64)])
    else:
        stored_mass = np.bincount(columns, weights[entries.rows], width)
        rest = np.maximum(weights.sum() - stored_mass[zeros], 0.0)
        masses = np.concatenate([weights[entries.rows][present], rest])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    firsts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: keys.size])
    mass = np.add.reduceat(masses[order], firsts) if firsts.size else np.empty(0)
    keys = keys[firsts]
    counts = np.bincount((keys >> np.uint64(32)).astype(np.int64), minlength=width)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return Distinct(starts, _values(keys), mass)


def _keys(columns: Places, values: Floats) -> NDArray[np.uint64]:
    bits = values.view(np.uint32)
    ordered = np.where(bits & SIGN, ~bits, bits | SIGN).astype(np.uint64)
    return (columns.astype(np.uint64) << np.uint64(32)) | ordered


def _values(keys: NDArray[np.uint64]) -> Floats:
    ordered = keys.astype(np.uint32)
    values: Floats = np.where(ordered & SIGN, ordered ^ SIGN, ~ordered).view(np.float32)
    return values


def _cut_everywhere(values: Distinct) -> tuple[list[Floats], Places]:
    """Cut between every two values of every column."""
    starts, width = values.starts, values.starts.size - 1
    column = np.repeat(np.arange(width), np.diff(starts))
    inside = np.flatnonzero(column[1:] == column[:-1])
    cuts = between(values.values[inside], values.values[inside + 1])
    thresholds = [NO_CUTS] * width
    ends = np.cumsum(np.bincount(column[inside], minlength=width))
    for j in np.flatnonzero(np.diff(starts) > 1):
        thresholds[j] = cuts[ends[j] - (starts[j + 1] - starts[j] - 1) : ends[j]]
    below = np.cumsum(values.mass)
    before = np.concatenate([[0.0], below])[starts]
    total = np.diff(before)
    half = (before[:-1] + total / 2 - total * TIE)[column]
    middle = np.bincount(column[below < half], minlength=width)
    return thresholds, middle.astype(np.int64)


def _in_rows(entries: Entries, weights: Masses | None, chosen: NDArray[np.intp]) -> Distinct:
    chosen_rows = np.zeros(entries.n_rows, dtype=np.bool_)
    chosen_rows[chosen] = True
    numbers = np.cumsum(chosen_rows) - 1
    is_chosen = chosen_rows[entries.rows]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_chosen)])[entries.starts]
    rows = numbers[entries.rows[is_chosen]].astype(np.int32)
    some = Entries(chosen.size, starts, rows, entries.values[is_chosen])
    return distinct(some, None if weights is None else weights[chosen])


def distinct_values(
    column: NDArray[np.floating], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Return the distinct values that are not missing, ascending, and their cumulative weight."""
    values = to_32_bits(column)
    present = ~np.isnan(values)
    if not present.all():
        values = values[present]
        weights = None if weights is None else weights[present]
    if values.size == 0:
        return values, np.empty(0)
    if weights is None:
        values = np.sort(values)
    else:
        order = np.argsort(values, kind="stable")
        values, weights = values[order], weights[order]
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    if weights is None:
        return values[starts], np.append(starts[1:], values.size).astype(np.float64)
    return values[starts], np.cumsum(np.add.reduceat(weights, starts))
