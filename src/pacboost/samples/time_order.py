"""Check whether rows have times: then a random sample of them is not like later rows.

Files come oldest first or newest first, data frames hold times in their index, and dates may be
levels of a category.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.sources.columns import Columns, columns_of_records
from pacboost.sources.dataframe import Storage
from pacboost.sources.kinds.categories import Categories
from pacboost.sources.kinds.column import CellOrigin, InputColumn
from pacboost.sources.kinds.dates import orders
from pacboost.sources.kinds.kind import ColumnKind
from pacboost.sources.kinds.order import PLAIN, learned
from pacboost.sources.rows import Rows
from pacboost.sources.table import Table
from pacboost.sources.values import distinct, is_missing

ROWS_LOOKED_AT_FIRST = 100
MIN_DISTINCT_VALUES = 20
"""A column of few values in order, such as a class, is no time."""


def have_times(X: Any) -> bool:
    """Check whether rows hold dates, or numbers that never fall, or never rise, from row to row.

    A column of text, or the index of a data frame, holds dates if its first cells can be read as
    dates. The only column of a table is no time if it holds numbers: such tables are often sorted
    by it.

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
        return any(_is_sorted(X[:, j]) for j in _sorted_head(X))
    try:
        named = rows.named
    except DataError:  # rows for a learner of one's own may hold lists, or have names of their own
        named = _single_cells(X)
    if named is None:
        return False
    if _index_tells_time(getattr(X, "index", None)):
        return True
    alone = len(named.cells) == 1
    return any(_is_time(cells, named.origin, alone) for cells in named.cells.values())


def _single_cells(records: Sequence[Mapping[str, Any]]) -> Columns:
    """Return those columns of records that hold one value in each row."""
    names = [
        name
        for name in records[0]
        if not any(isinstance(row.get(name, ()), list | tuple | dict) for row in records)
    ]
    if not names:
        return Columns({})
    return Columns(columns_of_records([{name: row[name] for name in names} for row in records]))


def _table_has_times(table: Table) -> bool:
    if any(map(_tells_time, table.levels.kinds.values())):
        return True
    if table.n_columns < 2 or not table.n_rows or table.far or table.entries is not None:
        return False
    head = table.take(np.arange(min(ROWS_LOOKED_AT_FIRST, table.n_rows)))
    numbers = (j for j in _sorted_head(head.block(0, head.n_columns)) if j not in table.levels)
    return any(_is_sorted(table.column(j)) for j in numbers)


def _tells_time(kind: ColumnKind) -> bool:
    return kind.tells_time or (isinstance(kind, Categories) and _are_dates(kind.levels))


def _are_dates(cells: Iterable[Any]) -> bool:
    """Check whether all cells that are not missing are texts of dates, in any order of the day."""
    texts = [cell for cell in cells if not is_missing(cell)]
    return bool(texts) and all(isinstance(text, str) for text in texts) and bool(orders(texts))


def _index_tells_time(index: Any) -> bool:
    """Check whether the index of a data frame, or a level of it, holds dates."""
    levels = getattr(index, "levels", None) or [index]
    for level in levels:
        held = getattr(level, "inferred_type", None)  # of pandas and those that follow it
        if held in ("datetime64", "datetime", "date", "period"):
            return True
        if held == "string" and _are_dates(level[:ROWS_LOOKED_AT_FIRST].tolist()):
            return True
    return False


def _is_time(cells: Any, origin: CellOrigin, alone: bool) -> bool:
    head = InputColumn("", cells[:ROWS_LOOKED_AT_FIRST], origin)
    if head.storage is Storage.CATEGORIES:
        with suppress(TypeError):  # cells that have no order are refused elsewhere
            return _are_dates(distinct(head.cells))
    if head.storage not in (Storage.TEXT, Storage.NUMBERS, Storage.MOMENTS):
        return False
    if head.storage is Storage.TEXT and (not head.texts or _are_dates(head.texts)):
        return bool(head.texts)
    kinds = learned(head)
    if kinds is None or alone or kinds[0].tells_time:
        return kinds is not None and kinds[0].tells_time
    if kinds != [PLAIN] or not _is_in_order(PLAIN.read(head)):
        return False
    column = InputColumn("", cells, origin)
    is_same = column.storage is head.storage and learned(column) == kinds
    return is_same and _is_sorted(PLAIN.read(column))


def _sorted_head(rows: NDArray[Any]) -> list[int]:
    """Return the columns whose first numbers are in order, but for missing ones."""
    head = rows[:ROWS_LOOKED_AT_FIRST]
    before, after = head[:-1], head[1:]
    rising, falling = ~(after < before).any(axis=0), ~(after > before).any(axis=0)
    columns: list[int] = np.flatnonzero(rising | falling).tolist()
    return columns


def _is_sorted(values: NDArray[Any]) -> bool:
    """Check whether numbers never fall, or never rise, and are no few classes."""
    if not _is_in_order(values[:ROWS_LOOKED_AT_FIRST]) or not _is_in_order(values):
        return False
    present = _present(values)
    n_distinct = 1 + np.count_nonzero(present[1:] != present[:-1])
    return bool(n_distinct >= max(MIN_DISTINCT_VALUES, math.sqrt(values.size)))


def _is_in_order(values: NDArray[Any]) -> bool:
    present = _present(values)
    before, after = present[:-1], present[1:]
    return bool((after >= before).all() or (after <= before).all())


def _present(values: NDArray[Any]) -> NDArray[Any]:
    return values[~np.isnan(values)] if values.dtype.kind == "f" else values
