"""The levels of categorical columns, and the number of each: its place in their sorted order.

A cell is looked up by its value, never by a code that a data frame keeps for itself: frames of
another library, with other levels or with levels in another order, give the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.sources.written import HOUR, TRUTH_WAYS, is_way, part_name, part_of, shown

Level = str | bool | int | float
ROWS_AT_ONCE = 65_536
UNSEEN = -1.0
FEW_CELLS = 1_000
"""Up to so many, Python looks levels up faster than a frame's library does."""


@dataclass(frozen=True)
class Levels:
    """Which columns are categorical, and the levels of each in sorted order.

    >>> levels = Levels({2: ("blue", "red")})
    >>> levels.numbers(2, np.array(["red", "green", "blue"]), "colour").tolist()
    [1.0, nan, 0.0]
    """

    columns: Mapping[int, tuple[Level, ...]] = field(default_factory=dict)
    written: Mapping[int, str] = field(default_factory=dict)
    """How other columns are written, where it is not as plain numbers: see sources/written.py."""

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

    def of(self, columns: Iterable[int]) -> Levels:
        """Return what is known of some columns, which are numbered anew."""
        pairs = list(enumerate(columns))
        return Levels(
            {new: self.columns[old] for new, old in pairs if old in self.columns},
            {new: self.written[old] for new, old in pairs if old in self.written},
        )

    def sources(self, names: Sequence[str]) -> list[str]:
        """Return the column that each column is made of: of a month, the one of dates.

        >>> Levels({}, {1: "month"}).sources(["price", "bought: month"])
        ['price', 'bought']
        """
        parts = [part_of(self.written.get(j, "")) for j in range(len(names))]
        return [
            name if part is None else name.removesuffix(part_name("", part[0]))
            for name, part in zip(names, parts, strict=True)
        ]

    def cell(self, column: int, value: float, names: Sequence[str]) -> str:
        """Return a value of a column as people write it."""
        if column in self.columns:
            own = self.columns[column]
            return "missing" if math.isnan(value) else str(own[int(value)])
        return shown(value, self.written.get(column, ""), times=self._times(column, names))

    def condition(self, column: int, cut: float, names: Sequence[str], *, above: bool) -> str:
        """Return in words on which side of a cut a value lies.

        >>> ways = Levels({}, {0: "yes/no", 1: "date"})
        >>> ways.condition(0, 0.5, ["paid", "due"], above=False)
        'paid is no'
        >>> ways.condition(1, 8796.5, ["paid", "due"], above=True)
        'due > 2024-01-31'
        """
        way = self.written.get(column, "")
        if way in TRUTH_WAYS:
            return f"{names[column]} is {shown(float(above), way)}"
        side = shown(cut, way, times=self._times(column, names))
        return f"{names[column]} {'>' if above else '≤'} {side}"

    def _times(self, column: int, names: Sequence[str]) -> bool:
        return part_name(names[column], HOUR) in names if column in self.written else False

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold: a list of levels, or how a column is written."""
        both: dict[int, Any] = {j: list(own) for j, own in self.columns.items()} | {**self.written}
        return {str(column): both[column] for column in sorted(both)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Levels:
        written = {int(j): way for j, way in content.items() if isinstance(way, str)}
        columns = {int(j): tuple(own) for j, own in content.items() if not isinstance(own, str)}
        for column, own in columns.items():
            if column < 0 or list(own) != sorted(set(own)):
                raise ValueError(f"the levels of column {column} are not in order")
        for column, way in written.items():
            if column < 0 or not is_way(way):
                raise ValueError(f"column {column} is written in an unknown way, {way!r:.40}")
        return cls(columns, written)


NO_LEVELS = Levels()


def pieces(cells: Any) -> Iterator[list[Any]]:
    """Return the cells of a NumPy column or narwhals series as Python values, some at a time."""
    for first in range(0, len(cells), ROWS_AT_ONCE):
        part = cells if len(cells) <= ROWS_AT_ONCE else cells[first : first + ROWS_AT_ONCE]
        yield part.tolist() if isinstance(part, np.ndarray) else part.to_list()


def is_missing(cell: Any) -> bool:
    """Check for None, NaN, and pandas' NA, which answers neither yes nor no."""
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


def distinct(cells: Any) -> list[Any]:
    """Return the different cells of a column, but for missing ones."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "fiub":
        found: Iterable[Any] = np.unique(cells).tolist()
    elif isinstance(cells, np.ndarray) or cells.dtype == nw.Object or len(cells) <= FEW_CELLS:
        found = {cell for part in pieces(cells) for cell in set(part) if not is_missing(cell)}
    else:
        found = cells.drop_nulls().unique().to_list()
    return [cell for cell in found if not is_missing(cell)]


def is_text(kind: nw.dtypes.DType) -> bool:
    """Check whether a frame's column is of a kind that holds categories."""
    return isinstance(kind, nw.String | nw.Categorical | nw.Enum | nw.Object)


def _look_up(cells: Any, known: Mapping[Level, float], name: str) -> NDArray[np.float64]:
    words = isinstance(next(iter(known), ""), str)  # older narwhals replace no other categories
    many = words and isinstance(cells, nw.Series) and len(cells) > FEW_CELLS
    if many and is_text(cells.dtype) and cells.dtype != nw.Object:
        return _look_up_natively(cells, known)
    found = np.empty(len(cells))
    start = 0
    for part in pieces(cells):
        try:
            places = map(known.get, part, repeat(math.nan))
            found[start : start + len(part)] = np.fromiter(places, np.float64, len(part))
        except TypeError as problem:
            raise refuse_unhashable(name, part) from problem
        start += len(part)
    return found


def refuse_unhashable(name: str, cells: Iterable[Any]) -> DataError:
    """Make the error for cells that cannot be looked up, such as lists."""
    kinds = [type(cell).__name__ for cell in cells if type(cell).__hash__ is None]
    return DataError(
        f"column {name} contains {kinds[0] if kinds else 'value'}s, which cannot be categories"
    )


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
