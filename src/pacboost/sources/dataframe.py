"""Tables from pandas, polars and Arrow, read through narwhals one column at a time."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

import narwhals as nw
import numpy as np

from pacboost.errors import DataError
from pacboost.sources.dates import DAYS, ORIGIN
from pacboost.sources.levels import NO_LEVELS, Levels, is_unicode
from pacboost.sources.table import ColumnTable, Values, refuse_infinite, refuse_text

DATES = (nw.Date, nw.Datetime, nw.Duration)
WIDE = (nw.Int128, nw.UInt128)
"""Whole numbers that NumPy has no kind for."""
MILLISECONDS = 86_400_000.0
DAYS_BEFORE = (ORIGIN - datetime(1970, 1, 1)).days


def is_frame(data: object) -> bool:
    """Tell whether narwhals knows this as an eager data frame."""
    if isinstance(data, np.ndarray | list):  # asking narwhals takes a tenth of a millisecond
        return False
    try:
        return isinstance(nw.from_native(data, pass_through=True, eager_only=True), nw.DataFrame)
    except nw.exceptions.DuplicateError as problem:
        raise _refuse_doubled(problem) from problem


def open_frame(data: Any) -> nw.DataFrame[Any]:
    """Read through narwhals; the names of columns have to differ, and to be valid Unicode."""
    try:
        frame: nw.DataFrame[Any] = nw.from_native(data, eager_only=True)
        frame.schema  # noqa: B018 - narwhals looks at the names only here
    except nw.exceptions.DuplicateError as problem:
        raise _refuse_doubled(problem) from problem
    for number, name in enumerate(frame.columns):
        if not is_unicode(str(name)):
            raise DataError(
                f"the name of column {number} is {name!a}, which is no valid Unicode and "
                "could not be written to a file; rename the column"
            )
    return frame


def _refuse_doubled(problem: Exception) -> DataError:
    said = " ".join(str(problem).split())
    return DataError(f"column names must differ: {said}. Rename or drop the columns")


def with_dates(data: Any, known: Collection[str] | None = None) -> Any:
    """Replace columns of dates and times by columns of numbers, and durations by seconds.

    They have the same names as those made of dates in files. After a fit, ``known`` names the
    columns to keep; a frame without dates is given back as it is.
    """
    frame = open_frame(data)
    if not any(isinstance(kind, DATES) for kind in frame.schema.values()):
        return data
    columns = []
    for name, kind in frame.schema.items():
        column = nw.col(name)
        if isinstance(kind, nw.Duration):
            columns.append((column.dt.total_microseconds() / 1e6).alias(name))
        elif isinstance(kind, nw.Date | nw.Datetime):
            columns += _parts(column, str(name), kind)
        else:
            columns.append(column)
    made = frame.select(columns)
    if known is not None and set(known) <= set(made.columns):
        made = made.select(list(known))  # a fit on days alone has no hours
    return made.to_native()


def _parts(column: Any, name: str, kind: Any) -> list[Any]:
    zoned = isinstance(kind, nw.Datetime) and kind.time_zone is not None
    clock = column.dt.replace_time_zone(None) if zoned else column
    parts = {"year": clock.dt.year(), "month": clock.dt.month(), "weekday": clock.dt.weekday()}
    if isinstance(kind, nw.Datetime):
        parts["hour"] = clock.dt.hour()
    parts[DAYS] = clock.cast(nw.Datetime("ms")).dt.timestamp("ms") / MILLISECONDS - DAYS_BEFORE
    return [part.alias(f"{name} ({what})") for what, part in parts.items()]


class FrameTable(ColumnTable):
    """A data frame of numbers, booleans and the categories of ``levels``; nulls become NaN."""

    def __init__(self, frame: Any, levels: Levels = NO_LEVELS) -> None:
        self._frame = open_frame(frame)
        self.n_rows, self.n_columns = self._frame.shape
        self.names = tuple(str(name) for name in self._frame.columns)
        self.levels = levels
        text = [
            self.names[j]
            for j, kind in enumerate(self._frame.schema.values())
            if j not in levels and not (kind.is_numeric() or kind == nw.Boolean)
        ]
        if text:
            raise refuse_text(text)
        for j in range(self.n_columns):
            if j not in levels:
                refuse_infinite(self.column(j), repr(self.names[j]))

    def column(self, number: int) -> Values:
        """Convert one column."""
        series = self._frame[:, number]
        if number in self.levels:
            return self.levels.numbers(number, series, repr(self.name(number)))
        if series.dtype == nw.Float32 and series.null_count() == 0:
            return np.asarray(series.to_numpy(), dtype=np.float32)
        if series.dtype in WIDE:
            return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
        if series.dtype.is_integer() and series.null_count() == 0:
            return np.asarray(series.to_numpy(), dtype=np.float64)  # Arrow's cast refuses 2**53 + 1
        if series.dtype.is_integer():
            absent = np.asarray(series.is_null().to_numpy(), dtype=np.bool_)
            column = np.asarray(series.fill_null(0).to_numpy(), dtype=np.float64)
            return np.where(absent, np.nan, column)
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
