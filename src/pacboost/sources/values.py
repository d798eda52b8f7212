"""Cells as values of Python: which are missing, which differ, and columns of them in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float32] | NDArray[np.float64]
"""The cells of a column as numbers; NaN is a missing one."""
CELLS_PER_PIECE = 65_536
MAX_CELLS_FOR_PYTHON = 1_000
"""Up to this size, a Python dictionary is faster than the data frame library."""


def pieces(cells: Any) -> Iterator[list[Any]]:
    """Yield the cells of a NumPy column or narwhals series as lists of Python values."""
    for first in range(0, len(cells), CELLS_PER_PIECE):
        part = cells if len(cells) <= CELLS_PER_PIECE else cells[first : first + CELLS_PER_PIECE]
        yield part.tolist() if isinstance(part, np.ndarray) else part.to_list()


def is_missing(cell: Any) -> bool:
    """Check for None, NaN, and pandas' NA, whose comparison has no truth value."""
    try:
        return cell is None or bool(cell != cell)  # noqa: PLR0124
    except (TypeError, ValueError, ArithmeticError):  # Decimal's sNaN cannot be compared
        return not isinstance(cell, np.ndarray)


def is_unicode(text: str) -> bool:
    """Check whether text can be encoded in UTF-8, that is, has no lone surrogates."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def distinct(cells: Any) -> list[Any]:
    """Return the distinct cells of a column, without missing ones."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "fiub":
        values: Iterable[Any] = np.unique(cells).tolist()
    elif (
        isinstance(cells, np.ndarray)
        or cells.dtype == nw.Object
        or len(cells) <= MAX_CELLS_FOR_PYTHON
    ):
        values = {cell for part in pieces(cells) for cell in set(part) if not is_missing(cell)}
    else:
        values = cells.drop_nulls().unique().to_list()
    return [cell for cell in values if not is_missing(cell)]
