"""The levels of categorical columns, and the number of each: its place in their sorted order.

A cell is looked up by its value, never by a code that a data frame keeps for itself: frames of
another library, with other levels or with levels in another order, give the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError

Level = str | bool | int | float
ROWS_AT_ONCE = 65_536
UNSEEN = -1.0


@dataclass(frozen=True)
class Levels:
    """Which columns are categorical, and the levels of each in sorted order.

    >>> levels = Levels({2: ("blue", "red")})
    >>> levels.numbers(2, np.array(["red", "green", "blue"]), "colour").tolist()
    [1.0, nan, 0.0]
    """

    columns: Mapping[int, tuple[Level, ...]] = field(default_factory=dict)

    def __contains__(self, column: int) -> bool:
        return column in self.columns

    def __bool__(self) -> bool:
        return bool(self.columns)

    def counts(self, n_columns: int) -> NDArray[np.int64]:
        """How many levels each column has: 0 where it is not categorical."""
        counts = np.zeros(n_columns, dtype=np.int64)
        for column, own in self.columns.items():
            counts[column] = len(own)
        return counts

    def numbers(self, column: int, cells: Any, name: str) -> NDArray[np.float64]:
        """Number the cells of a column; those missing or of no known level become NaN."""
        own = self.columns[column]
        found = _look_up(cells, {level: float(k) for k, level in enumerate(own)}, name)
        if own and np.isnan(found).all():
            _refuse_other_kind(own[0], cells, name)
        return found

    def values(self, column: int, numbers: NDArray[np.floating]) -> NDArray[Any]:
        """Turn numbers back into levels, NaN into None."""
        own = np.array([*self.columns[column], None], dtype=object)
        places: NDArray[np.intp] = np.where(np.isnan(numbers), -1, numbers).astype(np.intp)
        return own[places]

    def to_dict(self) -> dict[str, list[Level]]:
        """Return plain values that JSON can hold."""
        return {str(column): list(own) for column, own in sorted(self.columns.items())}

    @classmethod
    def from_dict(cls, content: Mapping[str, Iterable[Level]]) -> Levels:
        """Read what ``to_dict`` gave."""
        columns = {int(column): tuple(own) for column, own in content.items()}
        for column, own in columns.items():
            if column < 0 or list(own) != sorted(set(own)):
                raise ValueError(f"the levels of column {column} are not in order")
        return cls(columns)


NO_LEVELS = Levels()


def pieces(cells: Any) -> Iterator[list[Any]]:
    """Return the cells of a NumPy column or narwhals series as Python values, some at a time."""
    for first in range(0, len(cells), ROWS_AT_ONCE):
        part = cells[first : first + ROWS_AT_ONCE]
        yield part.tolist() if isinstance(part, np.ndarray) else part.to_list()


def is_missing(cell: Any) -> bool:
    """Tell None, NaN, and pandas' NA, which answers neither yes nor no."""
    try:
        return cell is None or bool(cell != cell)  # noqa: PLR0124
    except (TypeError, ValueError, ArithmeticError):  # Decimal's sNaN cannot be compared
        return not isinstance(cell, np.ndarray)


def is_unicode(text: str) -> bool:
    """Check whether text can be written to a file: it holds no half of a pair of surrogates.

    >>> is_unicode("ä"), is_unicode(chr(0xD800))
    (True, False)
    """
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def is_text(kind: nw.dtypes.DType) -> bool:
    """Check whether a frame's column is of a kind that holds categories."""
    return isinstance(kind, nw.String | nw.Categorical | nw.Enum | nw.Object)


def _look_up(cells: Any, known: Mapping[Level, float], name: str) -> NDArray[np.float64]:
    words = isinstance(
        next(iter(known), ""), str
    )  # older narwhals replace no numbers in categories
    if words and isinstance(cells, nw.Series) and is_text(cells.dtype) and cells.dtype != nw.Object:
        return _look_up_natively(cells, known)
    found = np.empty(len(cells))
    start = 0
    for part in pieces(cells):
        try:
            places = map(known.get, part, repeat(math.nan))
            found[start : start + len(part)] = np.fromiter(places, np.float64, len(part))
        except TypeError as problem:
            raise DataError(f"column {name} holds what is no category: {problem}") from problem
        start += len(part)
    return found


def _look_up_natively(cells: nw.Series[Any], known: Mapping[Level, float]) -> NDArray[np.float64]:
    """Look the distinct values up, and let the frame's own library replace them."""
    old = cells.drop_nulls().unique().to_list()
    if not old:
        return np.full(len(cells), np.nan)
    new = [known.get(value, UNSEEN) for value in old]
    replaced = cells.replace_strict(old, new, return_dtype=nw.Float64).to_numpy()
    return np.where(replaced == UNSEEN, np.nan, replaced)


def _refuse_other_kind(level: Level, cells: Any, name: str) -> None:
    """Raise if text was seen and numbers came, or numbers were seen and text came."""
    first = next((cell for part in pieces(cells) for cell in part if not is_missing(cell)), None)
    if first is not None and isinstance(first, str) != isinstance(level, str):
        raise DataError(
            f"column {name} holds {first!r} where its levels are like {level!r}: numbers and text "
            "are never the same level. Hand the column in as it was in fit."
        )
