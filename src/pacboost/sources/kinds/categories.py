"""Categories: columns of levels, which are numbered in sorted order.

A cell is looked up by its value, never by the internal code of a data frame: frames of another
library, with other levels or with levels in another order, give the same numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from numbers import Number
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.sources.dataframe import Storage
from pacboost.sources.kinds.column import InputColumn
from pacboost.sources.kinds.kind import ColumnKind, checked
from pacboost.sources.look_up import Level, look_up, refuse_unhashable
from pacboost.sources.odd_cells import NUMBERS_OR_TEXT, odd_value
from pacboost.sources.spelling import Spelling
from pacboost.sources.values import Values, distinct, is_missing, is_unicode, pieces

LEADING_ZERO = re.compile(r"-?0\d")
"""Start of codes that are not numbers, such as 01234."""


@dataclass(frozen=True)
class Categories(ColumnKind):
    """The levels of a column in sorted order.

    >>> colours = Categories(("blue", "red"))
    >>> colours.numbers(np.array(["red", "green", "blue"]), "colour").tolist()
    [1.0, nan, 0.0]
    """

    tag: ClassVar[str] = "levels"
    plural: ClassVar[str] = "categories"
    unused: ClassVar[bool] = False
    """True for a column without levels, which are unique in every row."""
    levels: tuple[Level, ...] = ()

    @classmethod
    def learn(cls, column: InputColumn) -> list[ColumnKind] | None:
        if not column.by_type and not column.whole:
            return None
        if column.storage is Storage.TEXT:
            return [cls(tuple(column.texts))]
        return [cls(levels_of(column.cells, repr(column.name)))]

    @classmethod
    def chosen(cls, column: InputColumn) -> list[ColumnKind]:
        """Return the levels of a column that the user lists; numbers in text become numbers."""
        if column.storage is not Storage.TEXT:
            return [cls(levels_of(column.cells, repr(column.name)))]
        texts, spelling = column.texts, column.spelling
        if texts and all(text.lower() in ("false", "true") for text in texts):
            return [cls(tuple(sorted({text.lower() == "true" for text in texts})))]
        is_code = any(map(LEADING_ZERO.match, texts))
        numbers = None if is_code or not texts else _plain_numbers(texts, spelling)
        return [cls(tuple(texts) if numbers is None else numbers)]

    @property
    def held(self) -> str:
        return "categories"

    @property
    def meaning(self) -> str:
        return "the number of its level" if self.levels else "anything: it is not used"

    def check(self, column: InputColumn) -> None:
        if column.storage in (Storage.MOMENTS, Storage.DURATIONS):
            raise column.refused(self.held)

    def read(self, column: InputColumn) -> Values:
        if column.storage is Storage.TEXT:
            return column.coded.spread(self._place(column.spelling))
        return self.numbers(column.cells, repr(column.name))

    def number(self, text: str, spelling: Spelling) -> float:
        return self._place(spelling)(text)

    def _place(self, spelling: Spelling) -> Callable[[str], float]:
        """Return a function that maps a text to the number of its level."""
        if self.levels and not isinstance(self.levels[0], str):
            return self._place_of_number(spelling)
        numbers = {str(level): float(k) for k, level in enumerate(self.levels)}
        return lambda text: numbers.get(text, numbers.get(text.strip(), math.nan))

    def _place_of_number(self, spelling: Spelling) -> Callable[[str], float]:
        places = {float(level): float(k) for k, level in enumerate(self.levels)}
        truths = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}

        def place(text: str) -> float:
            with suppress(ValueError):
                truth = truths.get(text.strip().lower())
                plain = spelling.with_comma(False).number(text) if truth is None else truth
                return places.get(plain, math.nan)
            return math.nan

        return place

    def numbers(self, cells: object, name: str) -> NDArray[np.float64]:
        """Return the level number of each cell, NaN for missing and unknown ones."""
        numbers = look_up(cells, {level: float(k) for k, level in enumerate(self.levels)}, name)
        if self.levels and np.isnan(numbers).all():
            _refuse_other_kind(self.levels[0], cells, name)
        return numbers

    def values(self, numbers: NDArray[np.floating]) -> NDArray[Any]:
        """Return the levels of level numbers, None for NaN."""
        levels = np.array([*self.levels, None], dtype=object)
        places: NDArray[np.intp] = np.where(np.isnan(numbers), -1, numbers).astype(np.intp)
        return levels[places]

    def show(self, value: float) -> str:
        return "missing" if math.isnan(value) else str(self.levels[int(value)])

    def to_json(self) -> dict[str, Any]:
        return {"levels": list(self.levels)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        (levels,) = checked(content, levels=list)
        if levels != sorted(set(levels)):
            raise ValueError("the levels are not in order")
        return cls(tuple(levels))


def _plain_numbers(texts: list[str], spelling: Spelling) -> tuple[Level, ...] | None:
    """Return the numbers of texts that are written with a point, or None."""
    with_point = spelling.with_comma(False).numbers(texts)
    with_comma = spelling.with_comma(True).numbers(texts)
    if with_point is None or with_comma is None:
        return None
    if spelling.decimal_comma and not np.array_equal(with_point, with_comma):
        return None
    return tuple(
        sorted(int(value) if value == int(value) else value for value in {*with_point.tolist()})
    )


def levels_of(cells: object, name: str) -> tuple[Level, ...]:
    """Find the levels in one column, in sorted order."""
    try:
        values = distinct(cells)
    except TypeError as problem:
        every = [cell for part in pieces(cells) for cell in part]
        reason = odd_value(every, f"column {name}") or NUMBERS_OR_TEXT
        raise DataError(
            f"{refuse_unhashable(name, every)}. {reason}; convert it or leave the column out"
        ) from problem
    return in_order(values, name, cells)


def in_order(values: list[Any], name: str, cells: object = ()) -> tuple[Level, ...]:
    """Sort the levels; 1 and 1.0 are one level, and a column holds text or numbers, not both.

    If ``cells`` holds the cells of the column, error messages name the row.
    """
    levels = {cell.item() if isinstance(cell, np.generic) else cell for cell in values}
    strange = [cell for cell in levels if not isinstance(cell, str | bool | int | float)]
    if strange:
        cell, where = _first(strange, cells)
        advice = "Turn them into text"
        if isinstance(cell, date):
            advice = "Convert the column to dates, in pandas by pandas.to_datetime"
        elif isinstance(cell, Number):
            advice = "Convert the column to numbers, in pandas by .astype(float)"
        raise DataError(
            f"column {name} holds {type(cell).__name__} values{where}; "
            f"categories are text, numbers or booleans. {advice}, or leave the column out."
        )
    text = {cell for cell in levels if isinstance(cell, str)}
    broken = [cell for cell in text if not is_unicode(cell)]
    if broken:
        cell, where = _first(broken, cells)
        raise DataError(
            f"column {name} holds {cell!a}{where}, which is not valid Unicode "
            "and could not be written to a file; replace it, or leave the column out"
        )
    numbers = levels - text
    if text and numbers:
        raise DataError(
            f"column {name} mixes text and numbers, such as {min(text)!r} and {min(numbers)!r}; "
            "make its categories all text or all numbers"
        )
    infinite = [cell for cell in numbers if math.isinf(cell)]
    if infinite:
        _, where = _first(infinite, cells)
        raise DataError(
            f"column {name} holds infinity{where} as a category; make it missing or text"
        )
    if text or all(isinstance(cell, bool) for cell in numbers):
        return tuple(sorted(levels))
    return tuple(sorted(int(cell) if cell == int(cell) else cell for cell in numbers))


def _first(candidates: list[Any], cells: object) -> tuple[Any, str]:
    """Return the first cell that is one of the candidates, and its row in words if it is there."""
    for row, cell in enumerate(cell for part in pieces(cells) for cell in part):
        value = cell.item() if isinstance(cell, np.generic) else cell
        for candidate in candidates:
            if value is candidate or (type(value) is type(candidate) and bool(value == candidate)):
                return candidate, f" (row {row})"
    return candidates[0], ""


def _refuse_other_kind(level: Level, cells: object, name: str) -> None:
    """Raise if a column held text in fit and holds numbers now, or the reverse."""
    first = next((cell for part in pieces(cells) for cell in part if not is_missing(cell)), None)
    if first is not None and isinstance(first, str) != isinstance(level, str):
        raise DataError(
            f"column {name} holds {first!r}, but its levels in fit were like {level!r}: numbers "
            "and text are never the same level. Pass the column as in fit."
        )
