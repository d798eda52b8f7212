"""Turn values into small whole numbers: bins cut between the observed values.

A feature with no more distinct values than bins gets a cut between every two neighbours, so that
nothing is lost; any other gets cuts at quantiles. The largest code stands for missing values. A
categorical feature holds level numbers, and is cut between every two: its codes are its levels.

A threshold is a 32-bit float, and ``x`` lies above it when x *rounded to 32 bits* does. So a row
goes the same way whether it comes as float32 or as float64, in any program that can compare either
(see docs/decisions/0002-thresholds.md). ``upper_cuts`` moves thresholds up to the last double that
still rounds down to them, so that doubles can be compared without rounding.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import invalid
from pacboost.kernels.bins import pack, quantiles_on_gpu
from pacboost.kernels.native import native
from pacboost.kernels.threads import each_columns, each_rows
from pacboost.samples.cuts import (
    TIE,
    Cut,
    cut,
    cut_by_quantiles,
    cut_entries,
    cuts_of_distinct,
    cuts_of_two,
    distinct_values,
)
from pacboost.sources.table import Table
from pacboost.sources.values import Values

MAX_BINS = 65_535
# Quantiles of so many rows are off by about 1/(2√200,000), a thousandth of all rows; each of 255
# bins holds four thousandths.
MAX_ROWS_FOR_QUANTILES = 200_000
"""Larger tables are binned by the quantiles of a fixed random choice of this many rows."""
COLUMNS_PER_COPY = 8  # of 64-bit numbers: one cache line of a row
ROWS_PER_COPY = 1_024

Codes = NDArray[np.uint8] | NDArray[np.uint16]


def upper_cuts(thresholds: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return, for each threshold, the largest double that rounds to it or below."""
    here = thresholds.astype(np.float64)
    with np.errstate(over="ignore"):
        above = np.nextafter(thresholds, np.float32(np.inf)).astype(np.float64)
        above = np.minimum(above, 2.0**128)  # where infinity would come if numbers went on evenly
        half = (here + above) / 2
        return np.where(half.astype(np.float32) <= thresholds, half, np.nextafter(half, -np.inf))


class Bins:
    """The thresholds of every feature, and the code of its median."""

    def __init__(
        self,
        thresholds: tuple[NDArray[np.float32], ...],
        middle: NDArray[np.int64],
        levels: NDArray[np.int64] | None = None,
        sizes: NDArray[np.int64] | None = None,
    ) -> None:
        features = len(thresholds)
        self.thresholds, self.middle = thresholds, middle
        """``middle`` is where a missing value goes if the feature was never missing."""
        self.levels = np.zeros(features, dtype=np.int64) if levels is None else levels
        """The number of levels of each feature, 0 if it is not categorical."""
        self.sizes = (
            np.fromiter(map(len, thresholds), np.int64, features) if sizes is None else sizes
        )
        """The number of thresholds of each feature; a model file omits those that no rule needs."""

    @cached_property
    def missing(self) -> int:
        """The code of a missing value: one more than the largest code of a value."""
        return int(self.sizes.max(initial=0)) + 1

    @property
    def dtype(self) -> type[np.unsignedinteger]:
        return np.uint8 if self.missing <= 255 else np.uint16

    def encode(self, table: Table, features: NDArray[np.int64] | None = None) -> Codes:
        """Return the codes (features, rows) of a table; of some features only, ascending, if named.

        >>> from pacboost.sources.arrays import ArrayTable
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
            part = values[start:stop]
            native.encode(part, first, features, *self.packed, self.missing, codes, start)

        each_rows(task, values.shape[0], width=max(1, features.size))

    def encode_rows(self, values: Values, rows: NDArray[np.int64]) -> Codes | None:
        """Return the codes of some rows of a matrix of floats; None if a value is infinite.

        >>> bins = Bins((np.array([1.5], dtype=np.float32),), np.zeros(1))
        >>> bins.encode_rows(np.array([[1.0], [2.0], [np.nan]]), np.array([2, 1])).tolist()
        [[2, 1]]
        """
        picked, every = values[rows], np.arange(values.shape[1])
        if np.isinf(picked).any():
            return None
        codes = np.empty((every.size, rows.size), dtype=self.dtype)
        native.encode(picked, 0, every, *self.packed, self.missing, codes, 0)
        return codes

    @cached_property
    def packed(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The cuts of all features, and where those of each begin and end (kernels/bins.py)."""
        return pack([upper_cuts(thresholds) for thresholds in self.thresholds])


def fit_bins(
    table: Table,
    max_bins: int = 255,
    weights: NDArray[np.float64] | None = None,
    levels: NDArray[np.int64] | None = None,
) -> Bins:
    """Choose the bins of every feature from its observed values, weighted if weights are given.

    ``levels`` is the number of levels of each feature, 0 for one that is not categorical; by
    default the table's.
    """
    if not 2 <= max_bins <= MAX_BINS:
        raise invalid("max_bins", max_bins, f"may be 2 to {MAX_BINS}")
    levels = table.levels.counts(table.n_columns) if levels is None else levels
    chosen: NDArray[np.intp] | None = None
    if table.n_rows > MAX_ROWS_FOR_QUANTILES:
        generator = np.random.default_rng(0)  # fixed: the same table always gets the same bins
        chosen = np.sort(generator.choice(table.n_rows, MAX_ROWS_FOR_QUANTILES, replace=False))
    if table.entries is not None and not levels.any():
        return Bins(*cut_entries(table.entries, max_bins, weights, chosen), levels)
    if chosen is not None and table.in_place() is not None:
        return _fit_to_some(table, max_bins, weights, chosen, levels)
    thresholds: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * table.n_columns
    middle = np.zeros(table.n_columns, dtype=np.int64)
    for first, values in table.blocks():
        own_levels = levels[first : first + values.shape[1]]
        cuts = _cut_block(values, max_bins, weights, chosen, own_levels)
        for j, (cuts_of_feature, median) in enumerate(cuts, start=first):
            thresholds[j], middle[j] = cuts_of_feature, median
    return Bins(tuple(thresholds), middle, levels)


def _fit_to_some(
    table: Table, max_bins: int, weights: NDArray[np.float64] | None, chosen: NDArray[np.intp],
    levels: NDArray[np.int64],
) -> Bins:  # fmt: skip
    """Cut by the chosen rows, but columns of few values by all rows, as some may be rare."""
    cuts_of: dict[int, Cut] = {}
    rows = table.take(chosen).in_place()
    if rows is not None and weights is None and not levels.any():
        quantiles = quantiles_on_gpu(*rows, max_bins, TIE)
        cuts_of = {} if quantiles is None else cut_by_quantiles(*quantiles)
    rest = [j for j in range(table.n_columns) if j not in cuts_of]
    if rest:
        some = table.take(chosen).rows()
        some = some[:, rest] if cuts_of else some
        chosen_weights = None if weights is None else weights[chosen]
        cuts_of_some = _cut_block(some, max_bins, chosen_weights, None, levels[rest])
        cuts_of |= zip(rest, cuts_of_some, strict=True)
        few = {rest[k] for k in _columns_of_few_values(some, max_bins)}
        del some

        def task(first: int, last: int) -> None:
            for start in range(first, last, COLUMNS_PER_COPY):
                stop = min(last, start + COLUMNS_PER_COPY)
                wanted = few.intersection(range(start, stop))
                columns = _columns(table.block(start, stop)) if wanted else ()
                for j in wanted:
                    cuts_of[j] = _cut(columns[j - start], max_bins, weights, None, int(levels[j]))

        each_columns(task, table.n_columns, table.n_rows)
    cuts, middle = zip(*(cuts_of[j] for j in range(table.n_columns)), strict=True)
    return Bins(cuts, np.array(middle, dtype=np.int64), levels)


def _columns_of_few_values(values: Values, max_bins: int) -> list[int]:
    """Return the columns with at most ``max_bins`` distinct values."""
    few: list[int] = []

    def task(first: int, last: int) -> None:
        for start in range(first, last, COLUMNS_PER_COPY):
            some = values[:, start : min(last, start + COLUMNS_PER_COPY)]
            for j, column in enumerate(_columns(some), start=start):
                # its first rows mostly suffice to see that it has many values
                parts = column[: 16 * max_bins], column
                if all(distinct_values(part, None)[0].size <= max_bins for part in parts):
                    few.append(j)

    each_columns(task, values.shape[1], len(values))
    return few


def _cut_block(
    values: Values, max_bins: int, weights: NDArray[np.float64] | None,
    chosen: NDArray[np.intp] | None, levels: NDArray[np.int64],
) -> list[Cut]:  # fmt: skip
    rows, columns = values.shape
    cuts: list[Cut] = [(np.empty(0, np.float32), 0)] * columns
    known: dict[int, Cut] = {}
    if weights is None and chosen is None:
        known = cuts_of_two(values) | cuts_of_distinct(values, max_bins)

    def task(first: int, last: int) -> None:
        for start in range(first, last, COLUMNS_PER_COPY):
            some = values[:, start : min(last, start + COLUMNS_PER_COPY)]
            for j, column in enumerate(_columns(some), start=start):
                if j in known and not levels[j]:
                    cuts[j] = known[j]
                else:
                    cuts[j] = _cut(column, max_bins, weights, chosen, int(levels[j]))

    each_columns(task, columns, rows)
    return cuts


def _columns(values: Values) -> NDArray[np.floating]:
    """Return a few columns, each contiguous, by reading the rows once."""
    if values.shape[1] == 1 or values.strides[0] <= values.strides[1]:
        return values.T
    columns = np.empty(values.shape[::-1], dtype=values.dtype)
    for first in range(0, len(values), ROWS_PER_COPY):
        last = first + ROWS_PER_COPY
        columns[:, first:last] = values[first:last].T
    return columns


def _cut(
    column: NDArray[np.floating], max_bins: int, weights: NDArray[np.float64] | None,
    chosen: NDArray[np.intp] | None, levels: int,
) -> tuple[NDArray[np.float32], int]:  # fmt: skip
    rows = slice(None) if chosen is None else chosen
    values, below = distinct_values(column[rows], None if weights is None else weights[rows])
    if chosen is not None and values.size <= max_bins:  # a rare value may have been missed
        values, below = distinct_values(column, weights)
    return cut(values, below, max_bins, levels)
