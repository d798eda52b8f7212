"""Conversions between Arrow columns, lists of text and NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.sources.optional import need


def text_column(texts: Sequence[str]) -> Any:
    """Make an Arrow column of texts."""
    return need("pyarrow").array(texts, "large_string")


def doubles(column: Any) -> NDArray[np.float64]:
    """Convert an Arrow column of numbers; nulls become NaN, integers beyond 2^53 are rounded."""
    values = memory(column.cast("double", safe=False))
    if column.null_count == 0:
        return values
    return np.where(memory(column.is_null().cast("uint8")), np.nan, values)


def memory(column: Any) -> NDArray[Any]:
    """View the values of an Arrow column as an array; ``to_numpy`` would import pandas."""
    array = one_chunk(column)
    dtype = np.dtype(array.type.to_pandas_dtype())
    if len(array) == 0:
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)


def one_chunk(column: Any) -> Any:
    """Return a chunked column as one Arrow array, copied only if there are several chunks."""
    if not hasattr(column, "num_chunks"):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
