"""Turn values into small whole numbers: bins cut between the values seen.

A feature with no more distinct values than bins gets a cut between every two neighbours, so that
nothing is lost; any other gets cuts at quantiles. Missing values have a code of their own, the
largest one. A categorical feature holds level numbers, and is cut between every two: its codes are
its levels.

A threshold is a 32-bit float, and ``x`` lies above it when x *rounded to 32 bits* does. So a row
goes the same way whether it comes as float32 or as float64, in any program that can compare either
(see docs/decisions/0002-thresholds.md). ``upper_cuts`` moves thresholds up
to the last double that still rounds down to them: by those, doubles compare without rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacboost.errors import ParameterError
from pacboost.kernels import bins as lookup
from pacboost.kernels import sparse as kernels
from pacboost.kernels.runtime.threads import each_columns, each_rows
from pacboost.samples.cuts import (
    TIE,
    Cut,
    cut,
    cut_by_quantiles,
    cut_entries,
    cuts_of_two,
    distinct_values,
)
from pacboost.sources.table import Entries, Places, Table, Values, picked

MOST_BINS = 65_535
ROWS_LOOKED_AT = 200_000
"""Quantiles of larger tables come from a fixed random choice of this many rows."""
COLUMNS_AT_ONCE = 8  # of 64-bit numbers: what the cache reads at once of a row
ROWS_AT_ONCE = 1_024

Codes = NDArray[np.uint8] | NDArray[np.uint16]


def upper_cuts(thresholds: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return, for each threshold, the largest double that rounds to it or below.

    >>> cut = upper_cuts(np.array([0.1], dtype=np.float32))[0]
    >>> bool(np.float32(cut) == np.float32(0.1)), bool(cut > np.float64(np.float32(0.1)))
    (True, True)
    """
    here = thresholds.astype(np.float64)
    with np.errstate(over="ignore"):
        above = np.nextafter(thresholds, np.float32(np.inf)).astype(np.float64)
        above = np.minimum(above, 2.0**128)  # where infinity would come if numbers went on evenly
        half = (here + above) / 2
        return np.where(half.astype(np.float32) <= thresholds, half, np.nextafter(half, -np.inf))


@dataclass(frozen=True, eq=False)
class Bins:
    """The thresholds of every feature, and the code of its median."""

    thresholds: tuple[NDArray[np.float32], ...]
    middle: NDArray[np.int64]
    """The code of the median: where a missing value goes if the feature was never missing."""
    levels: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """How many levels each feature has, 0 where it is not categorical; none is, if left out."""
    sizes: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """How many thresholds each feature has; a model from a file lacks those that no rule needs."""

    def __post_init__(self) -> None:
        if self.levels.size == 0:
            object.__setattr__(self, "levels", np.zeros(len(self.thresholds), dtype=np.int64))
        if self.sizes.size == 0:
            sizes = np.fromiter(map(len, self.thresholds), np.int64, len(self.thresholds))
            object.__setattr__(self, "sizes", sizes)

    @cached_property
    def missing(self) -> int:
        """The code of a missing value: one more than the largest code of a value."""
        return int(self.sizes.max(initial=0)) + 1

    @property
    def dtype(self) -> type[np.unsignedinteger]:
        return np.uint8 if self.missing <= 255 else np.uint16

    def differ(self, other: Bins) -> bool:
        """Check whether other bins cut elsewhere, or take other features as categorical."""
        named = ("levels", "sizes")
        return any(not np.array_equal(getattr(self, n), getattr(other, n)) for n in named) or any(
            a.size == b.size and not np.array_equal(a, b)  # else one of them is not known
            for a, b in zip(self.thresholds, other.thresholds, strict=True)
        )

    def encode(self, table: Table, features: NDArray[np.int64] | None = None) -> Codes:
        """Return the codes (features, rows) of a table; of some features only, ascending, if named.

        >>> from pacboost.sources.arrays import ArrayTable
        >>> bins = Bins((np.array([1.5]), np.array([0.5]), np.array([2.5])), np.zeros(3))
        >>> bins.encode(ArrayTable(np.array([[1.0, 1.0, 3.0]])), np.array([0, 2])).tolist()
        [[0], [1]]
        """
        every = np.arange(table.n_columns) if features is None else features
        codes = np.empty((every.size, table.n_rows), dtype=self.dtype)
        for first, values in table.blocks_of(every.tolist()):
            lines = slice(*np.searchsorted(every, [first, first + values.shape[1]]).tolist())
            self._encode_block(values, first, every[lines], codes[lines])
        return codes

    def _encode_block(
        self, values: Values, first: int, features: NDArray[np.int64], codes: Codes
    ) -> None:
        def task(start: int, stop: int) -> None:
            own = values[start:stop]
            lookup.encode(own, first, features, *self.packed, self.missing, codes, start)

        each_rows(task, values.shape[0], width=max(1, features.size))

    def encode_rows(self, values: Values, rows: NDArray[np.int64]) -> Codes | None:
        """Return the codes of some rows of a matrix of floats; None if a value is infinite.

        >>> bins = Bins((np.array([1.5], dtype=np.float32),), np.zeros(1))
        >>> bins.encode_rows(np.array([[1.0], [2.0], [np.nan]]), np.array([2, 1])).tolist()
        [[2, 1]]
        """
        codes = np.empty((values.shape[1], rows.size), dtype=self.dtype)
        finite = lookup.encode_rows(values, rows, *self.packed, self.missing, codes)
        return codes if finite else None

    @cached_property
    def packed(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The cuts of all features, and where those of each begin and end (kernels/bins.py)."""
        return lookup.pack([upper_cuts(thresholds) for thresholds in self.thresholds])


def fit_bins(
    table: Table,
    max_bins: int = 255,
    weights: NDArray[np.float64] | None = None,
    levels: NDArray[np.int64] | None = None,
) -> Bins:
    """Choose the bins of every feature from the values seen, weighted if weights are given.

    ``levels`` says how many levels each feature has (0: it is not categorical); the table knows.
    """
    if not 2 <= max_bins <= MOST_BINS:
        raise ParameterError(f"max_bins is {max_bins}; it may be 2 to {MOST_BINS}")
    levels = table.levels.counts(table.n_columns) if levels is None else levels
    chosen: NDArray[np.intp] | None = None
    if table.n_rows > ROWS_LOOKED_AT:
        generator = np.random.default_rng(0)  # fixed: the same table always gets the same bins
        chosen = np.sort(generator.choice(table.n_rows, ROWS_LOOKED_AT, replace=False))
    if table.entries is not None and not levels.any():
        return Bins(*cut_entries(table.entries, max_bins, weights, chosen), levels)
    if chosen is not None and table.in_place() is not None:
        return _fit_to_some(table, max_bins, weights, chosen, levels)
    thresholds: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * table.n_columns
    middle = np.zeros(table.n_columns, dtype=np.int64)
    for first, values in table.blocks():
        own_levels = levels[first : first + values.shape[1]]
        found = _cut_block(values, max_bins, weights, chosen, own_levels)
        for j, (own, median) in enumerate(found, start=first):
            thresholds[j], middle[j] = own, median
    return Bins(tuple(thresholds), middle, levels)


def _fit_to_some(
    table: Table,
    max_bins: int,
    weights: NDArray[np.float64] | None,
    chosen: NDArray[np.intp],
    levels: NDArray[np.int64],
) -> Bins:
    """Copy the chosen rows at once, and of columns with few values all rows."""
    found: dict[int, Cut] = {}
    rows = table.take(chosen).in_place()
    if rows is not None and weights is None and not levels.any():
        quantiles = lookup.quantiles(*rows, max_bins, TIE)
        found = {} if quantiles is None else cut_by_quantiles(*quantiles)
    rest = [j for j in range(table.n_columns) if j not in found]
    if rest:
        some = table.take(chosen).rows()
        some = some[:, rest] if found else some
        own = None if weights is None else weights[chosen]
        few = _cut_block(some, max_bins, own, None, levels[rest])
        for k, j in enumerate(rest):
            found[j] = few[k]
            column = some[:, k]  # of which the first rows mostly tell that it has many values
            if few[k][0].size < max_bins and all(
                distinct_values(part, None)[0].size <= max_bins
                for part in (column[: 16 * max_bins], column)
            ):
                whole = table.column(j)
                found[j] = _cut(whole, max_bins, weights, None, int(levels[j]))
    cuts, middle = zip(*(found[j] for j in range(table.n_columns)), strict=True)
    return Bins(cuts, np.array(middle, dtype=np.int64), levels)


def _cut_block(
    values: Values,
    max_bins: int,
    weights: NDArray[np.float64] | None,
    chosen: NDArray[np.intp] | None,
    levels: NDArray[np.int64],
) -> list[Cut]:
    rows, columns = values.shape
    found: list[Cut] = [(np.empty(0, np.float32), 0)] * columns
    two = cuts_of_two(values) if weights is None and chosen is None else {}

    def task(first: int, last: int) -> None:
        for start in range(first, last, COLUMNS_AT_ONCE):
            some = values[:, start : min(last, start + COLUMNS_AT_ONCE)]
            for j, column in enumerate(_columns(some), start=start):
                if j in two and not levels[j]:
                    found[j] = two[j]
                else:
                    found[j] = _cut(column, max_bins, weights, chosen, int(levels[j]))

    each_columns(task, columns, rows)
    return found


def _columns(values: Values) -> NDArray[np.floating]:
    """Return a few columns, each in one piece: rows are read once for all of them."""
    if values.shape[1] == 1 or values.strides[0] <= values.strides[1]:
        return values.T
    columns = np.empty(values.shape[::-1], dtype=values.dtype)
    for first in range(0, len(values), ROWS_AT_ONCE):
        last = first + ROWS_AT_ONCE
        columns[:, first:last] = values[first:last].T
    return columns


def _cut(
    column: NDArray[np.floating],
    max_bins: int,
    weights: NDArray[np.float64] | None,
    chosen: NDArray[np.intp] | None,
    levels: int,
) -> tuple[NDArray[np.float32], int]:
    """Return one feature's thresholds and the code of its median."""
    looked = slice(None) if chosen is None else chosen
    values, below = distinct_values(column[looked], None if weights is None else weights[looked])
    if chosen is not None and values.size <= max_bins:  # a rare value may have been missed
        values, below = distinct_values(column, weights)
    return cut(values, below, max_bins, levels)


# Codes of a sparse table: those of its columns' rows that are away from the code of 0.
#
# Five bytes for each (six where codes have two bytes), and a few for each column: never rows times
# columns.

CELLS_AT_ONCE = 1 << 24
"""So many codes are opened up at once, where rows are walked down trees."""


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """The rows of column j from ``starts[j]`` to ``starts[j + 1]``; all others have its default."""

    n_rows: int
    starts: Places
    rows: NDArray[np.int32]
    codes: Codes
    defaults: Codes
    """The code of 0 in each column."""

    @classmethod
    def of(cls, entries: Entries, bins: Bins, columns: Places | None = None) -> SparseCodes:
        """Encode what a table stores, or its ``columns`` of these numbers.

        >>> entries = Entries(3, np.array([0, 2]), np.int32([0, 2]), np.array([-1.0, np.nan]))
        >>> bins = Bins((np.array([-0.5], dtype=np.float32),), np.array([1]))
        >>> codes = SparseCodes.of(entries, bins)
        >>> codes.column(0).tolist(), codes.defaults.tolist()
        ([0, 1, 2], [1])
        """
        own = bins.thresholds
        if columns is not None:
            entries, own = entries.of(columns), tuple(own[j] for j in columns)
        offsets = np.cumsum([0, *map(len, own)])
        cuts = upper_cuts(np.concatenate([np.empty(0, np.float32), *own]))
        codes: Codes = np.empty(entries.rows.size, dtype=bins.dtype)
        defaults: Codes = np.empty(len(own), dtype=bins.dtype)
        values = entries.values
        values = values if values.flags.c_contiguous else values.copy()  # a single 1 for all words
        kernels.encode(entries.starts, values, cuts, offsets, bins.missing, defaults, codes)
        away = codes != defaults[entries.columns]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(away)])[entries.starts]
        return cls(entries.n_rows, starts, entries.rows[away], codes[away], defaults)

    def pick(self, columns: Places) -> SparseCodes:
        starts, places = picked(self.starts, columns)
        rows, codes = self.rows[places], self.codes[places]
        return SparseCodes(self.n_rows, starts, rows, codes, self.defaults[columns])

    def column(self, number: int) -> Codes:
        dense = np.full(self.n_rows, self.defaults[number])
        own = slice(self.starts[number], self.starts[number + 1])
        dense[self.rows[own]] = self.codes[own]
        return dense

    def dense(self) -> Codes:
        """Open up all columns: (columns, rows)."""
        dense = self._defaults(self.n_rows)
        columns = np.repeat(np.arange(self.defaults.size), np.diff(self.starts))
        dense[columns, self.rows] = self.codes
        return dense

    def blocks(self) -> Iterator[tuple[int, Codes]]:
        """Open up some rows at a time: the number of the first, and codes (columns, rows)."""
        shape = (self.n_rows, self.defaults.size)
        places = np.arange(self.rows.size)
        by_row = sparse.csc_array((places, self.rows, self.starts), shape=shape).tocsr()
        step = max(1, CELLS_AT_ONCE // max(1, shape[1]))
        for first in range(0, self.n_rows, step):
            last = min(first + step, self.n_rows)
            dense = self._defaults(last - first)
            own = slice(by_row.indptr[first], by_row.indptr[last])
            inside = self.rows[by_row.data[own]] - first
            dense[by_row.indices[own], inside] = self.codes[by_row.data[own]]
            yield first, dense

    def _defaults(self, rows: int) -> Codes:
        dense: Codes = np.empty((self.defaults.size, rows), dtype=self.defaults.dtype)
        dense[:] = self.defaults[:, None]
        return dense
