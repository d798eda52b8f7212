"""Check whether rows have times: then a random sample of them is not like later rows."""

from __future__ import annotations

import math
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pacboost.sources.columns import Columns
from pacboost.sources.dataframe import is_frame, open_frame

ROWS_LOOKED_AT_FIRST = 100
MIN_DISTINCT_VALUES = 20
"""A column of few values in order, such as a class, is no time."""


def have_times(X: Any) -> bool:
    """Check whether a column holds dates, or numbers that never fall from row to row.

    The only column of a table is no time: such tables are often sorted by it.

    >>> rows = np.random.default_rng(0).random((200, 2))
    >>> have_times(rows), have_times(np.column_stack([rows, np.arange(200) // 2]))
    (False, True)
    """
    if isinstance(X, np.ndarray):
        if X.ndim != 2 or X.shape[1] < 2 or X.dtype.kind not in "iuf":
            return False
        head = X[:ROWS_LOOKED_AT_FIRST]
        rising = np.flatnonzero((head[1:] >= head[:-1]).all(axis=0))
        return any(_never_falls(X[:, j]) for j in rising.tolist())
    if isinstance(X, Columns):
        columns = list(X.cells.values())
    elif is_frame(X):
        columns = list(open_frame(X).iter_columns())
    else:
        return False
    return any(_is_time(column, alone=len(columns) == 1) for column in columns)


def _is_time(column: Any, alone: bool) -> bool:
    if isinstance(column, nw.Series):
        if isinstance(column.dtype, nw.Date | nw.Datetime):
            return True
        if not column.dtype.is_numeric():
            return False
        column = column.to_numpy()
    return not alone and column.dtype.kind in "iuf" and _never_falls(column)


def _never_falls(values: NDArray[Any]) -> bool:
    head = values[:ROWS_LOOKED_AT_FIRST]
    if not (head[1:] >= head[:-1]).all() or not (values[1:] >= values[:-1]).all():
        return False
    distinct = 1 + np.count_nonzero(values[1:] > values[:-1])
    return bool(distinct >= max(MIN_DISTINCT_VALUES, math.sqrt(values.size)))
