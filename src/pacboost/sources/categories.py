"""Find the categorical columns of the input, and the levels of each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from pacboost.errors import DataError, InputWarning, ParameterError, warn
from pacboost.sources.arrays import holds_text
from pacboost.sources.dataframe import is_frame, open_frame
from pacboost.sources.explained_errors import NUMBERS_OR_TEXT, odd_value
from pacboost.sources.levels import (
    Level,
    Levels,
    distinct,
    is_text,
    is_unicode,
    pieces,
    refuse_unhashable,
)
from pacboost.sources.optional import close_names
from pacboost.sources.table import Table

FROM_DTYPE = "from_dtype"
MOST_LEVELS = 254
"""As many as have codes of one byte, with one left for missing values."""


def find_levels(
    data: Any,
    choice: str | Iterable[str | int | bool] | None = FROM_DTYPE,
    most: int = MOST_LEVELS,
) -> Levels:
    """Find the levels in the categorical columns of a data frame, a 2-d array or a table.

    Of a column with more than ``most`` levels those that most rows have are kept, with a warning;
    all others are treated like levels that never occurred: together, as if they were missing.

    The choice is "from_dtype" (columns of text and categories), None (no column), or a list of
    column names, of column numbers, or of a boolean for every column.

    >>> find_levels(np.array([["red", 1], ["blue", 2], [None, 3]], dtype=object)).to_dict()
    {'0': ['blue', 'red']}
    """
    source = _open(data)
    columns = _chosen(source, choice)
    written = data.levels.written if isinstance(data, Table) else {}
    return Levels({j: _kept(source, j, most) for j in columns}, written)


def _kept(source: _Source, column: int, most: int) -> tuple[Level, ...]:
    """Find the levels of a column; of too many, those that most rows have, and several rows."""
    name = source.name(column)
    levels = levels_of(source.cells(column), name)
    if len(levels) <= most:
        return levels
    counts = Counter(cell for part in pieces(source.rows(column)) for cell in part)
    several = [level for level in levels if counts[level] > 1]
    kept = sorted(several, key=lambda level: -counts[level])[:most]  # ties: in the order of levels
    said = f"the {len(kept)} most frequent are kept and all others are grouped as 'other'"
    if not kept:
        said = "it is unique in every row, so it cannot help to predict, and is not used"
    message = f"column {name} has {len(levels):,} levels, more than {most}: {said}"
    warn(message, InputWarning)
    return tuple(sorted(kept))


def all_levels(known: Levels, names: Sequence[str] | None, *data: Any) -> Levels:
    """Add the levels that further rows hold, of whatever number, to those of each column.

    Columns of frames are found by the names of those that they were made of in fit.

    >>> all_levels(Levels({0: ("blue",)}), None, np.array([["red"]], dtype=object)).to_dict()
    {'0': ['blue', 'red']}
    """
    sources = known.sources(names or ())
    found = {column: set(own) for column, own in known.columns.items()}
    for source in (_open(_array(rows)) for rows in data if rows is not None):
        places = {name: j for j, name in enumerate(source.names or ())}
        framed = bool(sources) and places.keys() >= {*sources}
        for column, own in found.items():
            place = places[sources[column]] if framed else column
            own |= set(levels_of(source.cells(place), source.name(place)))
    levels = {column: _in_order(list(own), str(column)) for column, own in found.items()}
    return Levels(levels, known.written)


def _array(rows: Any) -> Any:
    return rows if isinstance(rows, Table) or is_frame(rows) else np.asarray(rows, dtype=object)


class _Source(NamedTuple):
    """The columns of a frame, an array or a table; of a table, the distinct cells of each."""

    n_columns: int
    names: tuple[str, ...] | None
    cells: Callable[[int], Any]
    rows: Callable[[int], Any]
    """The cells of a column for all rows, also of a table."""
    holds_text: Callable[[int], bool]

    def name(self, column: int) -> str:
        return str(column) if self.names is None else repr(self.names[column])


def _open(data: Any) -> _Source:
    if isinstance(data, Table):
        text = data.levels.__contains__
        return _Source(data.n_columns, data.names, data.distinct, data.cells, text)
    if is_frame(data):
        frame = open_frame(data)
        names = tuple(str(name) for name in frame.columns)
        kinds = list(frame.schema.values())
        series: Callable[[int], Any] = lambda j: frame[:, j]  # noqa: E731
        return _Source(len(names), names, series, series, lambda j: is_text(kinds[j]))
    column: Callable[[int], Any] = lambda j: data[:, j]  # noqa: E731
    return _Source(data.shape[1], None, column, column, lambda j: holds_text(data[:, j]))


def chosen_columns(choice: Any, names: Sequence[str]) -> set[str]:
    """Return the columns that ``categorical_features`` names or numbers, if it does."""
    if choice is None or is_by_type(choice):
        return set()
    return {names[j] for j in _picked(choice, tuple(names), len(names))}


def is_by_type(choice: Any) -> bool:
    """Check whether columns of text and categories are categories."""
    return isinstance(choice, str) and choice == FROM_DTYPE


def _chosen(source: _Source, choice: Any) -> list[int]:
    """Return the numbers of the columns chosen, in order."""
    if choice is None:
        return []
    if is_by_type(choice):
        return [j for j in range(source.n_columns) if source.holds_text(j)]
    return _picked(choice, source.names, source.n_columns)


def _picked(choice: Any, names: tuple[str, ...] | None, columns: int) -> list[int]:
    if isinstance(choice, str) or not isinstance(choice, Iterable):
        raise ParameterError(
            f"categorical_features is {choice!r}; it may be 'from_dtype', None, or a list of "
            "column names, of column numbers, or of a boolean for every column"
        )
    picks = list(choice)
    if picks and all(isinstance(pick, bool | np.bool_) for pick in picks):
        if len(picks) != columns:
            raise ParameterError(
                f"categorical_features holds {len(picks)} booleans, but X has {columns} columns; "
                "give one for every column"
            )
        return [j for j, pick in enumerate(picks) if pick]
    return sorted({_number(pick, names, columns) for pick in picks})


def _number(pick: Any, names: tuple[str, ...] | None, columns: int) -> int:
    """Return the number of a column named or numbered."""
    if isinstance(pick, str):
        if names is None:
            raise ParameterError(
                f"categorical_features names {pick!r}, but the columns of X have no names; give "
                f"column numbers, 0 to {columns - 1}, or a data frame"
            )
        if pick not in names:
            close = close_names(pick, names)
            guess = f". Did you mean {close[0]!r}?" if close else ""
            raise ParameterError(
                f"categorical_features names {pick!r}, which is not a column of X; its columns are "
                f"{', '.join(map(repr, names))}{guess}"
            )
        return names.index(pick)
    if isinstance(pick, bool) or not isinstance(pick, int | np.integer):
        raise ParameterError(
            f"categorical_features holds {pick!r}; it may hold column names, column numbers, or a "
            "boolean for every column"
        )
    if not 0 <= pick < columns:
        raise ParameterError(
            f"categorical_features holds column number {pick}, but X has {columns} columns: give 0 "
            f"to {columns - 1}"
        )
    return int(pick)


def levels_of(cells: Any, name: str) -> tuple[Level, ...]:
    """Find the levels in one column, in sorted order."""
    try:
        values = distinct(cells)
    except TypeError as problem:
        every = [cell for part in pieces(cells) for cell in part]
        said = odd_value(every, f"column {name}") or NUMBERS_OR_TEXT
        raise DataError(
            f"{refuse_unhashable(name, every)}. {said}; convert it or leave the column out"
        ) from problem
    return _in_order(values, name, cells)


def _in_order(values: list[Any], name: str, cells: Any = ()) -> tuple[Level, ...]:
    """Sort the levels; 1 and 1.0 are one level, and a column holds text or numbers, not both.

    The cells are those of the column, if they are at hand: then complaints name the row.
    """
    plain = {cell.item() if isinstance(cell, np.generic) else cell for cell in values}
    strange = [cell for cell in plain if not isinstance(cell, str | bool | int | float)]
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
    text = {cell for cell in plain if isinstance(cell, str)}
    broken = [cell for cell in text if not is_unicode(cell)]
    if broken:
        cell, where = _first(broken, cells)
        raise DataError(
            f"column {name} holds {cell!a}{where}, which is not valid Unicode "
            "and could not be written to a file; replace it, or leave the column out"
        )
    numbers = plain - text
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
        return tuple(sorted(plain))
    return tuple(sorted(int(cell) if cell == int(cell) else cell for cell in numbers))


def _first(wanted: list[Any], cells: Any) -> tuple[Any, str]:
    """Return the first of the cells that is wanted, and its row in words, if it can be found."""
    for row, cell in enumerate(cell for part in pieces(cells) for cell in part):
        plain = cell.item() if isinstance(cell, np.generic) else cell
        for own in wanted:
            if plain is own or (type(plain) is type(own) and bool(plain == own)):
                return own, f" (row {row})"
    return wanted[0], ""
