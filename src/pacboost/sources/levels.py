"""The levels of categorical columns, numbered in sorted order.

A cell is looked up by its value, never by the internal code of a data frame: frames of another
library, with other levels or with levels in another order, give the same numbers.
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
CELLS_PER_PIECE = 65_536
UNSEEN = -1.0
MAX_CELLS_FOR_PYTHON = 1_000
"""Up to this size, a Python dictionary is faster than the data frame library."""


@dataclass(frozen=True)
class Levels:
    """Which columns are categorical, and the levels of each in sorted order.

    >>> levels = Levels({2: ("blue", "red")})
    >>> levels.numbers(2, np.array(["red", "green", "blue"]), "colour").tolist()
    [1.0, nan, 0.0]
    """

    columns: Mapping[int, tuple[Level, ...]] = field(default_factory=dict)
    written: Mapping[int, str] = field(default_factory=dict)
    """How columns that are not plain numbers or categories are written: see sources/written.py."""

    def __contains__(self, column: int) -> bool:
        return column in self.columns

    def __bool__(self) -> bool:
        return bool(self.columns)

    def counts(self, n_columns: int) -> NDArray[np.int64]:
        """Return the number of levels of each column, 0 if it is not categorical."""
        counts = np.zeros(n_columns, dtype=np.int64)
        for column, levels in self.columns.items():
            counts[column] = len(levels)
        return counts

    def numbers(self, column: int, cells: object, name: str) -> NDArray[np.float64]:
        """Return the level number of each cell, NaN for missing and unknown ones."""
        levels = self.columns[column]
        numbers = _look_up(cells, {level: float(k) for k, level in enumerate(levels)}, name)
        if levels and np.isnan(numbers).all():
            _refuse_other_kind(levels[0], cells, name)
        return numbers

    def values(self, column: int, numbers: NDArray[np.floating]) -> NDArray[Any]:
        """Return the levels of level numbers, None for NaN."""
        levels = np.array([*self.columns[column], None], dtype=object)
        places: NDArray[np.intp] = np.where(np.isnan(numbers), -1, numbers).astype(np.intp)
        return levels[places]

    def of(self, columns: Iterable[int]) -> Levels:
        pairs = list(enumerate(columns))
        return Levels(
            {new: self.columns[old] for new, old in pairs if old in self.columns},
            {new: self.written[old] for new, old in pairs if old in self.written},
        )

    def sources(self, names: Sequence[str]) -> list[str]:
        """Return the name of the input column that each column is computed from."""
        parts = [part_of(self.written.get(j, "")) for j in range(len(names))]
        return [
            name if part is None else name.removesuffix(part_name("", part[0]))
            for name, part in zip(names, parts, strict=True)
        ]

    def cell(self, column: int, value: float, names: Sequence[str]) -> str:
        """Return a value of a column as text for people."""
        if column in self.columns:
            levels = self.columns[column]
            return "missing" if math.isnan(value) else str(levels[int(value)])
        return shown(value, self.written.get(column, ""), times=self._times(column, names))

    def condition(self, column: int, cut: float, names: Sequence[str], *, above: bool) -> str:
        """Return the condition that a value lies above, or not above, a cut.

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
        """Return the levels of each column, or how it is written, as values for JSON."""
        both: dict[int, Any] = {**self.written}
        both |= {j: list(levels) for j, levels in self.columns.items()}
        return {str(column): both[column] for column in sorted(both)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Levels:
        written = {int(j): way for j, way in content.items() if isinstance(way, str)}
        columns = {int(j): tuple(v) for j, v in content.items() if not isinstance(v, str)}
        for column, levels in columns.items():
            if column < 0 or list(levels) != sorted(set(levels)):
                raise ValueError(f"the levels of column {column} are not in order")
        for column, way in written.items():
            if column < 0 or not is_way(way):
                raise ValueError(f"column {column} is written in an unknown way, {way!r:.40}")
        return cls(columns, written)


NO_LEVELS = Levels()


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


def unmerged(labels: Any) -> Any:
    """Return a list as an array of objects if NumPy would make two of its labels one text.

    Other numbers beside text are read as text, which scikit-learn does, too.

    >>> unmerged(["1", 1])
    array(['1', 1], dtype=object)
    >>> unmerged([1, "a"])
    [1, 'a']
    """
    if not isinstance(labels, list | tuple) or not _mixed_kinds(labels):
        return labels
    texts = {label for label in labels if isinstance(label, str)}
    others = {label for label in labels if not isinstance(label, str)}
    if all(_is_number(label) and str(label) not in texts for label in others):
        return labels
    objects = np.empty(len(labels), dtype=object)
    objects[:] = labels
    return objects


def _is_number(label: Any) -> bool:
    return isinstance(label, int | float | np.number | np.bool_) and math.isfinite(label)


def _mixed_kinds(labels: Iterable[Any]) -> list[str]:
    """Return the names of the kinds of labels if they are text and others; missing ones are not.

    Cells with elements of their own are several labels of a row, and no kind of label.
    """
    kinds = {type(label) for label in labels}
    is_text = {issubclass(kind, str) for kind in kinds}
    if len(is_text) < 2 or any(issubclass(kind, list | tuple | np.ndarray) for kind in kinds):
        return []
    return sorted(kind.__name__ for kind in kinds)


def refuse_mixed_labels(labels: NDArray[Any]) -> None:
    """Raise if labels are text and others."""
    mixed = _mixed_kinds(labels.ravel().tolist()) if labels.dtype.kind == "O" else []
    if mixed:
        raise DataError(
            f"y mixes labels of kinds {', '.join(mixed)}, which cannot be put in order; make them "
            "all text or all numbers"
        )


def refuse_unsaved_labels(labels: NDArray[Any]) -> None:
    """Raise for labels that a model file cannot hold: numbers from 2**63 on, text ending in NUL."""
    if labels.dtype.kind == "u" and labels.size and int(labels.max()) >= 2**63:
        raise DataError(f"y holds {labels.max()}; whole numbers as labels are below 2**63")
    if labels.dtype.kind == "O":
        for label in labels.ravel().tolist():
            if isinstance(label, str | bytes) and label[-1:] in ("\0", b"\0"):
                raise DataError(f"y holds {label!r}, which ends in NUL; drop that character")
            if isinstance(label, int) and label >= 2**63:
                raise DataError(f"y holds {label}; whole numbers as labels are below 2**63")


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


def is_text(kind: nw.dtypes.DType) -> bool:
    """Check whether the type of a data frame column means categories."""
    return isinstance(kind, nw.String | nw.Categorical | nw.Enum | nw.Object)


def _look_up(cells: Any, level_numbers: Mapping[Level, float], name: str) -> NDArray[np.float64]:
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


def _refuse_other_kind(level: Level, cells: object, name: str) -> None:
    """Raise if a column held text in fit and holds numbers now, or the reverse."""
    first = next((cell for part in pieces(cells) for cell in part if not is_missing(cell)), None)
    if first is not None and isinstance(first, str) != isinstance(level, str):
        raise DataError(
            f"column {name} holds {first!r}, but its levels in fit were like {level!r}: numbers "
            "and text are never the same level. Pass the column as in fit."
        )
