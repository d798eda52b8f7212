"""Tables of rows whose labels are of two classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.errors import DataError
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.explained_errors import odd_cell, odd_shape
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.odd_cells import shown
from pacboost.sources.optional import collected
from pacboost.sources.rows import FrameRows, Rows
from pacboost.sources.table import Table, refuse_infinite


def two_classes(X: object, y: ArrayLike) -> tuple[Table, NDArray[np.int8]]:
    """Read rows, and their labels as -1 and +1 in the order of the classes."""
    table = table_of(collected(X))
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if classes.size != 2 or codes.size != table.n_rows:
        raise DataError(
            f"y holds {classes.size} classes in {codes.size} rows for {table.n_rows} rows of X; "
            "two classes, and one label a row, are needed"
        )
    return table, np.where(codes == 1, np.int8(1), np.int8(-1))


def table_of(X: object) -> Table:
    """Read rows of numbers, or of a data frame."""
    if isinstance(X, Table):
        return X
    rows = Rows.of(X)
    if isinstance(rows, FrameRows):
        return FrameTable.learn(rows.cells_by_name, None)
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as problem:
        reason = odd_cell(X, text=True) or odd_shape(X) or f"X is {shown(X)}"
        raise DataError(f"{reason}; a table of numbers is needed") from problem
    if values.ndim != 2 or 0 in values.shape:
        raise DataError(f"X has shape {values.shape}; rows and columns are needed, some of each")
    for column in range(values.shape[1]):
        refuse_infinite(values[:, column], str(column))
    return ArrayTable(values)
