"""Blocks held as Arrow tables: what Parquet files, CSV files and databases are decoded to.

A column of numbers without missing ones is read in place, through a view; any other is converted
for the picked rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.optional import need
from pacboost.sources.oracles.columns import features
from pacboost.sources.oracles.held import Held, Rows
from pacboost.sources.table import Table, refuse_text

NARROW = ("float", "halffloat", "bool", "int8", "uint8", "int16", "uint16")
"""Arrow's names for the types whose values are all 32-bit floats."""
NUMBERS = (*NARROW, "double", "int32", "uint32", "int64", "uint64", "null")


def is_number(kind: Any) -> bool:
    """Check whether a column of this Arrow type is one of numbers, or of nothing but nulls."""
    return str(kind) in NUMBERS or str(kind).startswith("decimal")


def number_columns(schema: Any, target: str, drop: Collection[str], where: str) -> tuple[str, ...]:
    """Return the features of a schema; refuse those that are no numbers."""
    names = features(schema.names, target, drop, where)
    kinds = [(name, schema.field(name).type) for name in names]
    text = [f"{name} ({kind})" for name, kind in kinds if not is_number(kind)]
    if text:
        raise DataError(f"{where}: {refuse_text(text)}")
    return names


def row_bits(kinds: Iterable[Any]) -> int:
    """Return the bits a row takes: its values, and for each a bit that says whether it is there.

    >>> pa = need("pyarrow", "parquet")
    >>> row_bits([pa.float32(), pa.bool_(), pa.null()])
    36
    """
    return sum(1 + _width(kind) for kind in kinds)


def _width(kind: Any) -> int:
    if str(kind) == "null":
        return 0
    # Text is held as numbers of a dictionary.
    return int(kind.bit_width) if is_number(kind) else 32


class HeldArrow(Held):
    """A table with labels, a column or an array; rows come as float32 if that loses nothing.

    >>> pa = need("pyarrow", "parquet")
    >>> table = pa.table({"a": [1.5, None, 2.5], "b": [True, False, None]})
    >>> numbers, labels = HeldArrow(table, np.array(["n", "y", "n"])).take(np.array([2, 1]))
    >>> numbers.rows().tolist(), labels.tolist()
    ([[2.5, nan], [nan, 0.0]], ['n', 'y'])
    """

    def __init__(self, table: Any, labels: Any) -> None:
        super().__init__(labels)
        self.names = tuple(table.column_names)
        self.n_rows, self.n_columns = table.num_rows, table.num_columns
        self.nbytes = table.nbytes + labels.nbytes
        self._columns = [_view(column) for column in table.columns]
        narrow = all(str(column.type) in NARROW for column in table.columns)
        self._dtype = np.float32 if narrow else np.float64

    def column(self, column: int) -> NDArray[Any]:
        """View a column of numbers, or convert it where some are missing."""
        own = self._columns[column]
        return own if isinstance(own, np.ndarray) else _doubles(own)

    def table(self, rows: Rows) -> Table:
        """Convert the picked rows column by column."""
        values = np.empty((self.n_columns, rows.size), dtype=self._dtype)
        for column, out in zip(self._columns, values, strict=True):
            if isinstance(column, np.ndarray):
                out[:] = column[rows]
            else:
                out[:] = _doubles(column.take(_indices(rows)))
        self._finite(values.T)
        return ArrayTable(values.T, self.names)

    def _picked_labels(self, rows: Rows | slice) -> NDArray[Any]:
        if isinstance(self._labels, np.ndarray):
            return super()._picked_labels(rows)
        if isinstance(rows, slice):
            return plain_labels(self._labels[rows])
        return plain_labels(self._labels.take(_indices(rows)))


def plain_labels(column: Any, read: Callable[[list[str]], NDArray[Any]] = np.array) -> NDArray[Any]:
    """Turn a column of labels into an array; text is read once for each distinct value."""
    if column.null_count:
        return np.array(column.to_pylist(), dtype=object)  # for the complaint about a missing one
    if str(column.type) == "bool":
        return _memory(column.cast("uint8")).astype(np.bool_)
    if str(column.type) in NUMBERS:
        return _memory(column).copy()
    parts = _one_chunk(encoded(column))
    labels: NDArray[Any] = read(parts.dictionary.to_pylist())[_memory(parts.indices)]
    return labels


def encoded(column: Any) -> Any:
    """Return a column that is not one of numbers as numbers of a dictionary."""
    if is_number(column.type) or str(column.type).startswith("dictionary"):
        return column
    return column.dictionary_encode()


def _view(column: Any) -> Any:
    """Return memory of a column of numbers, or the column where that is not an array of them."""
    plain = str(column.type) in NUMBERS and str(column.type) not in {"bool", "null"}
    return _memory(column) if plain and column.null_count == 0 else column


def _doubles(column: Any) -> NDArray[np.float64]:
    """Convert a column; nulls become NaN, and whole numbers beyond 2^53 are rounded."""
    doubles = _memory(column.cast("double", safe=False))
    if column.null_count == 0:
        return doubles
    return np.where(_memory(column.is_null().cast("uint8")), np.nan, doubles)


def _memory(column: Any) -> NDArray[Any]:
    """View the values of a column; Arrow's own way to do so would load pandas if it is there."""
    array = _one_chunk(column)
    dtype = np.dtype(array.type.to_pandas_dtype())
    if len(array) == 0:
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)


def _one_chunk(column: Any) -> Any:
    """Return a column of chunks as one array; it is copied only if there are several."""
    if not hasattr(column, "num_chunks"):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def release_memory() -> None:
    """Give back to the system what Arrow keeps of blocks that were let go."""
    need("pyarrow", "parquet").default_memory_pool().release_unused()


def _indices(rows: Rows) -> Any:
    pa = need("pyarrow", "parquet")
    return pa.Array.from_buffers(pa.int64(), rows.size, [None, pa.py_buffer(rows)])
