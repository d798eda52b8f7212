"""Turn values into small whole numbers: bins cut between the values seen.

A feature with no more distinct values than bins gets a cut between every two neighbours, so that
nothing is lost; any other gets cuts at quantiles. Missing values have a code of their own, the
largest one.

A threshold is a 32-bit float, and ``x`` lies above it when x *rounded to 32 bits* does. So a row
goes the same way whether it comes as float32 or as float64, in any program that can compare either
(see docs/decisions/0002-thresholds.md). ``Bins.cuts`` holds the same thresholds moved up to the
last double that still rounds down to them, by which doubles can be compared without rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.kernels import lookup
from pacboost.kernels.threads import each, row_spans
from pacboost.sources.table import Table

MOST_BINS = 65_535
ROWS_LOOKED_AT = 200_000
"""Quantiles of larger tables come from a fixed random choice of this many rows."""

LARGEST = np.finfo(np.float32).max

Codes = NDArray[np.uint8] | NDArray[np.uint16]


def upper_cuts(thresholds: NDArray[np.float32]) -> NDArray[np.float64]:
    """Give, for each threshold, the largest double that rounds to it or below.

    >>> cut = upper_cuts(np.array([0.1], dtype=np.float32))[0]
    >>> float(np.float32(cut)) == float(np.float32(0.1)), cut > float(np.float32(0.1))
    (True, True)
    """
    here = thresholds.astype(np.float64)
    half = (here + np.nextafter(thresholds, np.float32(np.inf)).astype(np.float64)) / 2
    return np.where(half.astype(np.float32) <= thresholds, half, np.nextafter(half, -np.inf))


@dataclass(frozen=True, eq=False)
class Bins:
    """The thresholds of every feature, and the code of its median."""

    thresholds: tuple[NDArray[np.float32], ...]
    middle: NDArray[np.int64]
    """The code of the median: where a missing value goes if the feature was never missing."""

    @property
    def missing(self) -> int:
        """The code of a missing value: one more than the largest code of a value."""
        return max((t.size for t in self.thresholds), default=0) + 1

    @property
    def dtype(self) -> type[np.unsignedinteger]:
        """The type of a code."""
        return np.uint8 if self.missing <= 255 else np.uint16

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each feature's cuts begin in ``cuts``; one more entry for the end."""
        return np.concatenate([[0], np.cumsum([t.size for t in self.thresholds])]).astype(np.int64)

    @cached_property
    def cuts(self) -> NDArray[np.float64]:
        """All features' thresholds, for comparing doubles, one feature after the other."""
        if not self.thresholds:
            return np.empty(0)
        return upper_cuts(np.concatenate(self.thresholds))

    def encode(self, table: Table) -> Codes:
        """Give the codes (features, rows) of a table."""
        codes = np.empty((table.n_columns, table.n_rows), dtype=self.dtype)
        for first, values in table.blocks():
            last = first + values.shape[1]
            offsets = self.offsets[first : last + 1]

            def task(
                start: int,
                stop: int,
                values: NDArray[np.floating] = values,
                offsets: NDArray[np.int64] = offsets,
                part: Codes = codes[first:last],
            ) -> None:
                lookup.encode(values, self.cuts, offsets, self.missing, part, start, stop)

            each(task, row_spans(table.n_rows))
        return codes


def fit_bins(
    table: Table, max_bins: int = 255, weights: NDArray[np.float64] | None = None
) -> Bins:
    """Choose the bins of every feature from the values seen, weighted if weights are given."""
    if not 2 <= max_bins <= MOST_BINS:
        raise ParameterError(f"max_bins is {max_bins}; it may be 2 to {MOST_BINS}")
    chosen: NDArray[np.intp] | None = None
    if table.n_rows > ROWS_LOOKED_AT:
        generator = np.random.default_rng(0)  # fixed: the same table always gets the same bins
        chosen = np.sort(generator.choice(table.n_rows, ROWS_LOOKED_AT, replace=False))
    thresholds: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * table.n_columns
    middle = np.zeros(table.n_columns, dtype=np.int64)
    for first, values in table.blocks():

        def task(
            start: int, stop: int, first: int = first, values: NDArray[np.floating] = values
        ) -> None:
            for j in range(start, stop):
                thresholds[first + j], middle[first + j] = _cut(
                    values[:, j], max_bins, weights, chosen
                )

        each(task, [(j, j + 1) for j in range(values.shape[1])])
    return Bins(tuple(thresholds), middle)


def _cut(
    column: NDArray[np.floating],
    max_bins: int,
    weights: NDArray[np.float64] | None,
    chosen: NDArray[np.intp] | None,
) -> tuple[NDArray[np.float32], int]:
    """Give one feature's thresholds and the code of its median."""
    looked = slice(None) if chosen is None else chosen
    values, mass = _distinct(column[looked], None if weights is None else weights[looked])
    if chosen is not None and values.size <= max_bins:
        values, mass = _distinct(column, weights)  # few values: a rare one may have been missed
    if values.size < 2:
        return np.empty(0, np.float32), 0
    below = np.cumsum(mass)
    ends: NDArray[np.intp] = np.arange(values.size - 1)
    if values.size > max_bins:
        targets = below[-1] * np.arange(1, max_bins) / max_bins
        ends = np.unique(np.searchsorted(below, targets))
        ends = ends[ends < values.size - 1]
    thresholds = _between(values[ends], values[ends + 1])
    median = values[np.searchsorted(below, below[-1] / 2)]
    return thresholds, int(np.searchsorted(thresholds, median))


def _distinct(
    column: NDArray[np.floating], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Give the distinct values that are not missing, ascending, and the weight on each."""
    with np.errstate(over="ignore"):  # a value too large for 32 bits counts as the largest one
        values = np.clip(np.asarray(column, dtype=np.float32), -LARGEST, LARGEST)
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
        return values[starts], np.diff(starts, append=values.size).astype(np.float64)
    return values[starts], np.add.reduceat(weights, starts)


def _between(low: NDArray[np.float32], high: NDArray[np.float32]) -> NDArray[np.float32]:
    """Give 32-bit floats t with low <= t < high, halfway where the format has room."""
    half = ((low.astype(np.float64) + high.astype(np.float64)) / 2).astype(np.float32)
    return np.where(half < high, half, low)
