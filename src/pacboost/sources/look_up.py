"""Look cells up by their value, never by the internal code of a data frame."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.sources.values import MAX_CELLS_FOR_PYTHON, pieces

Level = str | bool | int | float
UNSEEN = -1.0


def is_text(kind: nw.dtypes.DType) -> bool:
    """Check whether the type of a data frame column means categories."""
    return isinstance(kind, nw.String | nw.Categorical | nw.Enum | nw.Object)


def look_up(cells: Any, level_numbers: Mapping[Level, float], name: str) -> NDArray[np.float64]:
    """Return the number of each cell, NaN for missing and unknown ones."""
    words = isinstance(next(iter(level_numbers), ""), str)  # older narwhals replace no others
    many = words and isinstance(cells, nw.Series) and len(cells) > MAX_CELLS_FOR_PYTHON
    if many and is_text(cells.dtype) and cells.dtype != nw.Object:
        return _look_up_natively(cells, level_numbers)
    numbers = np.empty(len(cells))
    start = 0
    for part in pieces(cells):
        try:
            places = map(level_numbers.get, part, repeat(math.nan))
            numbers[start : start + len(part)] = np.fromiter(places, np.float64, len(part))
        except TypeError as problem:
            raise refuse_unhashable(name, part) from problem
        start += len(part)
    return numbers


def refuse_unhashable(name: str, cells: Iterable[Any]) -> DataError:
    """Return the error for cells that cannot be looked up, such as lists."""
    kinds = [type(cell).__name__ for cell in cells if type(cell).__hash__ is None]
    return DataError(
        f"column {name} contains {kinds[0] if kinds else 'value'}s, which cannot be categories"
    )


def _look_up_natively(
    cells: nw.Series[Any], level_numbers: Mapping[Level, float]
) -> NDArray[np.float64]:
    """Look up the distinct values, and let the data frame library replace them."""
    old = cells.drop_nulls().unique().to_list()
    if not old:
        return np.full(len(cells), np.nan)
    new = [level_numbers.get(value, UNSEEN) for value in old]
    replaced = cells.replace_strict(old, new, return_dtype=nw.Float64).to_numpy()
    return np.where(replaced == UNSEEN, np.nan, replaced)
