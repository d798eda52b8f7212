"""Check whether rows have times: then a random sample of them is not like later rows."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.sources.dataframe import Storage
from pacboost.sources.kinds.column import CellOrigin, InputColumn
from pacboost.sources.kinds.order import PLAIN, learned
from pacboost.sources.rows import Rows
from pacboost.sources.table import Table

ROWS_LOOKED_AT_FIRST = 100
MIN_DISTINCT_VALUES = 20
"""A column of few values in order, such as a class, is no time."""


def have_times(X: Any) -> bool:
    """Check whether a column holds dates, or numbers that never fall from row to row.

    A column of text holds dates if the first of its cells are read as dates. The only column of a
    table is no time if it holds numbers: such tables are often sorted by it.

    >>> rows = np.random.default_rng(0).random((200, 2))
    >>> have_times(rows), have_times(np.column_stack([rows, np.arange(200) // 2]))
    (False, True)
    >>> have_times([{"day": "2024-01-31"}, {"day": "2024-01-30"}])
    True
    """
    rows = Rows.of(X)
    X = rows.given
    if isinstance(X, Table):
        return _table_has_times(X)
    if isinstance(X, list) and X and isinstance(X[0], list | tuple):
        with suppress(TypeError, ValueError):  # rows of texts, or of different lengths
            X = np.asarray(X, dtype=np.float64)
    if isinstance(X, np.ndarray):
        if X.ndim != 2 or X.shape[1] < 2 or X.dtype.kind not in "iuf":
            return False
        return any(_never_falls(X[:, j]) for j in _rising(X))
    named = rows.named
    if named is None:
        return False
    alone = len(named.cells) == 1
    return any(_is_time(cells, named.origin, alone) for cells in named.cells.values())


def _table_has_times(table: Table) -> bool:
    if any(kind.tells_time for kind in table.levels.kinds.values()):
        return True
    if table.n_columns < 2 or not table.n_rows or table.far or table.entries is not None:
        return False
    head = table.take(np.arange(min(ROWS_LOOKED_AT_FIRST, table.n_rows)))
    numbers = (j for j in _rising(head.block(0, head.n_columns)) if j not in table.levels)
    return any(_never_falls(table.column(j)) for j in numbers)


def _is_time(cells: Any, origin: CellOrigin, alone: bool) -> bool:
    head = InputColumn("", cells[:ROWS_LOOKED_AT_FIRST], origin)
    if head.storage not in (Storage.TEXT, Storage.NUMBERS, Storage.MOMENTS):
        return False
    is_empty = head.storage is Storage.TEXT and not head.texts
    kinds = None if is_empty else learned(head)
    if kinds is None or alone or kinds[0].tells_time:
        return kinds is not None and kinds[0].tells_time
    if kinds != [PLAIN] or _falls(PLAIN.read(head)):
        return False
    column = InputColumn("", cells, origin)
    is_same = column.storage is head.storage and learned(column) == kinds
    return is_same and _never_falls(PLAIN.read(column))


def _rising(rows: NDArray[Any]) -> list[int]:
    """Return the columns that do not fall among the first rows."""
    head = rows[:ROWS_LOOKED_AT_FIRST]
    rising: list[int] = np.flatnonzero((head[1:] >= head[:-1]).all(axis=0)).tolist()
    return rising


def _never_falls(values: NDArray[Any]) -> bool:
    if _falls(values[:ROWS_LOOKED_AT_FIRST]) or _falls(values):
        return False
    distinct = 1 + np.count_nonzero(values[1:] > values[:-1])
    return bool(distinct >= max(MIN_DISTINCT_VALUES, math.sqrt(values.size)))


def _falls(values: NDArray[Any]) -> bool:
    return not bool((values[1:] >= values[:-1]).all())
