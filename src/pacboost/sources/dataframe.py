"""Tables from pandas, polars and Arrow, read through narwhals one column at a time."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from pacboost.errors import DataError
from pacboost.sources.table import Table, Values, refuse_infinite, refuse_text


def is_frame(data: object) -> bool:
    """Tell whether narwhals knows this as an eager data frame."""
    return isinstance(nw.from_native(data, pass_through=True, eager_only=True), nw.DataFrame)


class FrameTable(Table):
    """A data frame of numbers and booleans; nulls become NaN."""

    width = 1

    def __init__(self, frame: Any) -> None:
        try:
            self._frame = nw.from_native(frame, eager_only=True)
            self._frame.schema  # noqa: B018 - narwhals looks at the names only here
        except nw.exceptions.DuplicateError as problem:
            raise DataError(f"column names must differ: {problem}") from problem
        self.n_rows, self.n_columns = self._frame.shape
        self.names = tuple(str(name) for name in self._frame.columns)
        text = [
            str(name)
            for name, kind in self._frame.schema.items()
            if not (kind.is_numeric() or kind == nw.Boolean)
        ]
        if text:
            raise refuse_text(text)
        for column in range(self.n_columns):
            refuse_infinite(self._column(column), repr(self.names[column]))

    def block(self, first: int, last: int) -> Values:
        """Convert these columns."""
        if last - first == 1:
            return self._column(first)[:, None]
        return np.column_stack([self._column(j) for j in range(first, last)]).astype(np.float64)

    def _column(self, number: int) -> Values:
        series = self._frame[:, number]
        if series.dtype == nw.Float32 and series.null_count() == 0:
            return np.asarray(series.to_numpy(), dtype=np.float32)
        if series.dtype.is_integer() and series.null_count() == 0:
            return np.asarray(series.to_numpy(), dtype=np.float64)  # Arrow's cast refuses 2**53 + 1
        if series.dtype.is_integer():
            absent = np.asarray(series.is_null().to_numpy(), dtype=np.bool_)
            column = np.asarray(series.fill_null(0).to_numpy(), dtype=np.float64)
            return np.where(absent, np.nan, column)
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
