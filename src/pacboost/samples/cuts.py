"""Where to cut between the values of a feature; of sparse tables, all columns at once.

The zeros of a sparse column are as many as its stored cells leave, so they need not be looked at.
Its cuts are those of the same table opened up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.sources.table import Entries, Places

TIE = 1e-9
LARGEST = np.finfo(np.float32).max

NONE = np.empty(0, dtype=np.float32)
SIGN = np.uint32(1 << 31)

Floats = NDArray[np.float32]
Masses = NDArray[np.float64]
Cut = tuple[Floats, int]
"""The thresholds of a feature, and the code of its median."""


ROWS_OF_A_GUESS = 64
"""So many rows mostly tell that a column has more than two values."""


def to_32_bits(values: NDArray[np.floating]) -> Floats:
    """Round values; one too large for 32 bits counts as the largest there is."""
    with np.errstate(over="ignore"):
        rounded: Floats = np.clip(np.asarray(values, dtype=np.float32), -LARGEST, LARGEST)
    return rounded


def cut(
    values: Floats, below: NDArray[np.float64], max_bins: int, levels: int = 0
) -> tuple[Floats, int]:
    """Return the thresholds between distinct values (ascending), and the code of the median.

    ``below`` is the weight up to each value, its own included; ``levels`` is above 0 for a
    category, see samples/bins.py.

    >>> cut(np.array([1, 2, 4], dtype=np.float32), np.array([1.0, 2.0, 3.0]), 255)
    (array([1.5, 3. ], dtype=float32), 1)
    """
    thresholds = np.arange(0.5, levels - 1, dtype=np.float32)  # none unless it is categorical
    if values.size < (1 if levels else 2):
        return thresholds, 0
    slack = below[-1] * TIE  # so that sums made in another order cut at the same place
    if not levels:
        ends: NDArray[np.intp] = np.arange(values.size - 1)
        if values.size > max_bins:
            targets = below[-1] * np.arange(1, max_bins) / max_bins
            ends = np.unique(np.searchsorted(below, targets - slack))
            ends = ends[ends < values.size - 1]
        thresholds = between(values[ends], values[ends + 1])
    median = values[np.searchsorted(below, below[-1] / 2 - slack)]
    return thresholds, int(np.searchsorted(thresholds, median))


def cuts_of_two(values: NDArray[np.floating]) -> dict[int, Cut]:
    """Do what ``cut`` does for all columns of two distinct values at once; by column.

    Missing values are equal to nothing, so a column with one is left out.
    """
    if len(values) == 0:
        return {}
    with np.errstate(invalid="ignore"):
        columns = np.flatnonzero(_has_two(values[:ROWS_OF_A_GUESS]))
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


def _has_two(values: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Return of each column whether all of its values are its least or its largest."""
    either = (values == values.min(axis=0)) | (values == values.max(axis=0))
    found: NDArray[np.bool_] = np.logical_and.reduce(either, axis=0)
    return found


def cut_by_quantiles(
    many: NDArray[np.bool_], lows: Floats, highs: Floats, medians: Floats
) -> dict[int, Cut]:
    """Do what ``cut`` does for columns with ``many`` values, of which those next to cuts are known.

    ``lows`` (columns, cuts) are the largest below each cut, ``highs`` the next larger ones, or some
    that are not larger where there is none.
    """
    cuts: dict[int, Cut] = {}
    for j in np.flatnonzero(many).tolist():
        low, high = lows[j], highs[j]
        first = np.concatenate([[True], low[1:] != low[:-1]]) & (high > low)
        thresholds = between(low[first], high[first])
        cuts[j] = thresholds, int(np.searchsorted(thresholds, medians[j]))
    return cuts


def between(low: Floats, high: Floats) -> Floats:
    """Return 32-bit floats t with low <= t < high, halfway where the format has room."""
    half = ((low.astype(np.float64) + high.astype(np.float64)) / 2).astype(np.float32)
    return np.where(half < high, half, low)


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct values of every column, ascending, missing ones left out, and their masses.

    Those of column j lie from ``starts[j]`` to ``starts[j + 1]``.
    """

    starts: Places
    values: Floats
    mass: Masses

    def of(self, column: int) -> tuple[Floats, Masses]:
        own = slice(self.starts[column], self.starts[column + 1])
        return self.values[own], self.mass[own]


def cut_entries(
    entries: Entries, max_bins: int, weights: Masses | None, chosen: NDArray[np.intp] | None
) -> tuple[tuple[Floats, ...], Places]:
    """Return the thresholds of every column, and the codes of the medians.

    If rows are ``chosen``, columns of many values are cut by those alone.
    """
    found = distinct(entries, weights)
    many = np.flatnonzero(np.diff(found.starts) > max_bins)
    thresholds, middle = _cut_everywhere(found)
    some = found
    if chosen is not None and many.size:
        some = _in_rows(entries.of(many), weights, chosen)
    for k, column in enumerate(many.tolist()):
        values, mass = some.of(column if some is found else k)
        if values.size <= max_bins:  # few of the rows looked at: a rare value may be missing
            values, mass = found.of(column)
        thresholds[column], middle[column] = cut(values, np.cumsum(mass), max_bins)
    return tuple(thresholds), middle


def distinct(entries: Entries, weights: Masses | None) -> Distinct:
    """Find the distinct values of all columns, zero among them, by sorting once.

    What is sorted are whole numbers: the column above, the bits of the value below.
    """
    columns, width = entries.columns, entries.starts.size - 1
    values = to_32_bits(entries.values) + np.float32(0)  # -0 becomes 0
    seen = ~np.isnan(values)
    stored = np.diff(entries.starts)
    zeros = np.flatnonzero(stored < entries.n_rows)
    keys = _keys(columns[seen], values[seen])
    keys = np.concatenate([keys, _keys(zeros, np.zeros(zeros.size, dtype=np.float32))])
    if weights is None:
        rest = entries.n_rows - stored[zeros]
        own = np.concatenate([np.ones(keys.size - zeros.size), rest.astype(np.float64)])
    else:
        held = np.bincount(columns, weights[entries.rows], width)
        rest = np.maximum(weights.sum() - held[zeros], 0.0)
        own = np.concatenate([weights[entries.rows][seen], rest])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    firsts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: keys.size])
    mass = np.add.reduceat(own[order], firsts) if firsts.size else np.empty(0)
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


def _cut_everywhere(found: Distinct) -> tuple[list[Floats], Places]:
    """Cut between every two values of every column; the code of the median is then its place."""
    starts, width = found.starts, found.starts.size - 1
    column = np.repeat(np.arange(width), np.diff(starts))
    inside = np.flatnonzero(column[1:] == column[:-1])
    cuts = between(found.values[inside], found.values[inside + 1])
    thresholds = [NONE] * width
    ends = np.cumsum(np.bincount(column[inside], minlength=width))
    for j in np.flatnonzero(np.diff(starts) > 1):
        thresholds[j] = cuts[ends[j] - (starts[j + 1] - starts[j] - 1) : ends[j]]
    below = np.cumsum(found.mass)
    before = np.concatenate([[0.0], below])[starts]
    total = np.diff(before)
    half = (before[:-1] + total / 2 - total * TIE)[column]
    middle = np.bincount(column[below < half], minlength=width)
    return thresholds, middle.astype(np.int64)


def _in_rows(entries: Entries, weights: Masses | None, chosen: NDArray[np.intp]) -> Distinct:
    looked = np.zeros(entries.n_rows, dtype=np.bool_)
    looked[chosen] = True
    numbers = np.cumsum(looked) - 1
    kept = looked[entries.rows]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])[entries.starts]
    rows = numbers[entries.rows[kept]].astype(np.int32)
    some = Entries(chosen.size, starts, rows, entries.values[kept])
    return distinct(some, None if weights is None else weights[chosen])


def distinct_values(
    column: NDArray[np.floating], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Return the distinct values that are not missing, ascending, and the weight up to each."""
    values = to_32_bits(column)
    seen = ~np.isnan(values)
    if not seen.all():
        values = values[seen]
        weights = None if weights is None else weights[seen]
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
