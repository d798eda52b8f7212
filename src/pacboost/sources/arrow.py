"""Conversions between Arrow columns, lists of text and NumPy arrays.

Columns are made from buffers: ``pyarrow.array`` and ``to_numpy`` would import pandas, which takes
half a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import PacboostError
from pacboost.sources.optional import need


class ArrowColumn(Protocol):
    """An array or a chunked array of pyarrow, which is imported only where it is needed."""

    @property
    def type(self) -> Any: ...
    @property
    def null_count(self) -> int: ...
    @property
    def num_chunks(self) -> int: ...
    def cast(self, target_type: str, safe: bool = True) -> Any: ...
    def is_null(self) -> Any: ...
    def dictionary_encode(self) -> Any: ...
    def chunk(self, number: int) -> Any: ...
    def combine_chunks(self) -> Any: ...


class ArrowTable(Protocol):
    """A table or a batch of rows of pyarrow."""

    @property
    def schema(self) -> Any: ...
    @property
    def column_names(self) -> list[str]: ...
    @property
    def columns(self) -> list[Any]: ...
    @property
    def num_rows(self) -> int: ...
    def column(self, name: str) -> Any: ...
    def drop_columns(self, columns: list[str]) -> Any: ...


def text_column(texts: Sequence[str | None]) -> Any:
    """Make an Arrow column of texts; None is a null. Without pyarrow it is a NumPy array.

    >>> text_column(["a", None, "ü"]).to_pylist()
    ['a', None, 'ü']
    """
    if not is_installed():
        column = np.empty(len(texts), dtype=object)
        column[:] = texts
        return column
    arrow = need("pyarrow")
    encoded = [b"" if text is None else text.encode() for text in texts]
    ends = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=ends[1:])
    filled = np.array([text is not None for text in texts], np.bool_)
    nulls = None if filled.all() else arrow.py_buffer(np.packbits(filled, bitorder="little"))
    cells = arrow.py_buffer(b"".join(encoded))
    return arrow.LargeStringArray.from_buffers(len(texts), arrow.py_buffer(ends), cells, nulls)


@cache
def is_installed() -> bool:
    """Check whether there is pyarrow: without it, text files are read into NumPy arrays.

    They take several times the memory, and are read somewhat more slowly.
    """
    try:
        need("pyarrow")
    except PacboostError:
        return False
    return True


def number_column(values: NDArray[np.float64] | NDArray[np.int64]) -> Any:
    """Make an Arrow column of numbers."""
    arrow = need("pyarrow")
    kind = arrow.from_numpy_dtype(values.dtype)
    buffer = arrow.py_buffer(np.ascontiguousarray(values))
    return arrow.Array.from_buffers(kind, len(values), [None, buffer])


def one_column(parts: Sequence[Any]) -> Any:
    """Join the parts of a column; those of Arrow are not copied."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return need("pyarrow").chunked_array(parts)


def doubles(column: ArrowColumn) -> NDArray[np.float64]:
    """Convert an Arrow column of numbers; nulls become NaN, integers beyond 2^53 are rounded."""
    values = memory(column.cast("double", safe=False))
    if column.null_count == 0:
        return values
    return np.where(memory(column.is_null().cast("uint8")), np.nan, values)


def memory(column: ArrowColumn) -> NDArray[Any]:
    """View the values of an Arrow column as an array."""
    array = one_chunk(column)
    dtype = np.dtype(array.type.to_pandas_dtype())
    if len(array) == 0:
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)


def one_chunk(column: ArrowColumn) -> Any:
    """Return a chunked column as one Arrow array, copied only if there are several chunks."""
    if not hasattr(column, "num_chunks"):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
