"""Tables from pandas, polars and Arrow, read through narwhals one column at a time."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from pacboost.errors import DataError
from pacboost.sources.levels import NO_LEVELS, Levels
from pacboost.sources.table import ColumnTable, Values, refuse_infinite, refuse_text


def is_frame(data: object) -> bool:
    """Tell whether narwhals knows this as an eager data frame."""
    if isinstance(data, np.ndarray | list):  # asking narwhals takes a tenth of a millisecond
        return False
    return isinstance(nw.from_native(data, pass_through=True, eager_only=True), nw.DataFrame)


def open_frame(data: Any) -> nw.DataFrame[Any]:
    """Read through narwhals; the names of columns have to differ."""
    try:
        frame: nw.DataFrame[Any] = nw.from_native(data, eager_only=True)
        frame.schema  # noqa: B018 - narwhals looks at the names only here
    except nw.exceptions.DuplicateError as problem:
        raise DataError(f"column names must differ: {problem}") from problem
    return frame


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
        if series.dtype.is_integer() and series.null_count() == 0:
            return np.asarray(series.to_numpy(), dtype=np.float64)  # Arrow's cast refuses 2**53 + 1
        if series.dtype.is_integer():
            absent = np.asarray(series.is_null().to_numpy(), dtype=np.bool_)
            column = np.asarray(series.fill_null(0).to_numpy(), dtype=np.float64)
            return np.where(absent, np.nan, column)
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
