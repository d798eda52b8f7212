"""Tables from pandas, polars and Arrow, read through narwhals one column at a time."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

import narwhals as nw
import numpy as np

from pacboost.errors import DataError
from pacboost.sources.cells import DAYS, ORIGIN
from pacboost.sources.levels import NO_LEVELS, Levels, is_unicode
from pacboost.sources.table import ColumnTable, Values, refuse_infinite, refuse_text

DATES = (nw.Date, nw.Datetime, nw.Duration)
WIDE = (nw.Int128, nw.UInt128)
"""Whole numbers that NumPy has no kind for."""
MILLISECONDS = 86_400_000.0
DAYS_BEFORE = (ORIGIN - datetime(1970, 1, 1)).days


def is_frame(data: object) -> bool:
    """Check whether narwhals knows this as an eager data frame."""
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
        kinds = frame.schema.values()  # narwhals looks at the names only here
        if frame.implementation.is_pandas() and nw.Unknown() in kinds:
            frame = nw.from_native(_dense(frame.to_native()), eager_only=True)
    except nw.exceptions.DuplicateError as problem:
        raise _refuse_doubled(problem) from problem
    for number, name in enumerate(frame.columns):
        if not is_unicode(str(name)):
            raise DataError(
                f"the name of column {number} is {name!a}, which is no valid Unicode and "
                "could not be written to a file; rename the column"
            )
    return frame


def _dense(data: Any) -> Any:
    """Fill in the sparse columns of a pandas frame, which narwhals does not know."""
    kinds = data.dtypes.items()
    sparse = {n: k.subtype for n, k in kinds if hasattr(k, "fill_value") and hasattr(k, "subtype")}
    return data.astype(sparse) if sparse else data


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
        self._refuse_others()
        for j in range(self.n_columns):
            if j not in levels:
                refuse_infinite(self.column(j), repr(self.names[j]))

    def _refuse_others(self) -> None:
        """Raise if a column holds neither numbers nor booleans, and is none of the categories."""
        text = []
        for j, kind in enumerate(self._frame.schema.values()):
            if kind.is_numeric() or kind == nw.Boolean or j in self.levels:
                continue
            if isinstance(kind, nw.Unknown):
                raise DataError(
                    f"column {self.name(j)!r} holds {self._frame[:, j].to_native().dtype}, which "
                    "is neither numbers, text, categories nor dates. Convert it to one of these "
                    "(periods by .dt.to_timestamp()), or leave the column out"
                )
            text.append(self.name(j))
        if text:
            raise refuse_text(text)

    def column(self, number: int) -> Values:
        series = self._frame[:, number]
        if number in self.levels:
            return self.levels.numbers(number, series, repr(self.name(number)))
        return numbers_of(series)


def numbers_of(series: nw.Series[Any]) -> Values:
    """Convert a column of numbers or booleans; nulls become NaN."""
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
