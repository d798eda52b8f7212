"""Find the categorical columns of the input, and the levels of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pacboost.errors import ParameterError, warn_once
from pacboost.sources.arrays import holds_text
from pacboost.sources.dataframe import is_frame, open_frame
from pacboost.sources.kinds.categories import in_order, levels_of
from pacboost.sources.levels import Levels
from pacboost.sources.look_up import Level, is_text
from pacboost.sources.optional import close_names
from pacboost.sources.table import Table
from pacboost.sources.values import pieces

FROM_DTYPE = "from_dtype"
MAX_LEVELS = 254
"""Levels that codes of one byte can number, with one code left for missing values."""


def find_levels(
    data: Any,
    choice: str | Iterable[str | int | bool] | None = FROM_DTYPE,
    max_levels: int = MAX_LEVELS,
) -> Levels:
    """Find the levels in the categorical columns of a data frame, a 2-d array or a table.

    A column with more than ``max_levels`` levels keeps the most frequent ones, with a warning. All
    other levels are treated like unknown ones: together, as if they were missing.

    ``choice`` is "from_dtype" (columns of text and categories), None (no column), or a list of
    column names, of column numbers, or of a boolean for every column.

    >>> find_levels(np.array([["red", 1], ["blue", 2], [None, 3]], dtype=object)).columns
    {0: ('blue', 'red')}
    """
    source = _open(data)
    columns = _chosen(source, choice)
    kinds = data.levels.kinds if isinstance(data, Table) else {}
    return Levels({j: _frequent_levels(source, j, max_levels) for j in columns}, kinds)


def _frequent_levels(source: _Source, column: int, max_levels: int) -> tuple[Level, ...]:
    """Return the levels of a column, or the most frequent if there are more than ``max_levels``.

    Levels that occur in one row only are then dropped.
    """
    name = source.name(column)
    levels = levels_of(source.cells(column), name)
    if len(levels) <= max_levels:
        return levels
    counts = Counter(cell for part in pieces(source.rows(column)) for cell in part)
    several = [level for level in levels if counts[level] > 1]
    by_count = sorted(several, key=lambda level: -counts[level])  # ties stay in level order
    frequent = by_count[:max_levels]
    treatment = f"the {len(frequent)} most frequent are kept and all others are grouped as 'other'"
    if not frequent:
        treatment = "it is unique in every row, so it cannot help to predict, and is not used"
    message = f"column {name} has {len(levels):,} levels, more than {max_levels}: {treatment}"
    warn_once(message)
    return tuple(sorted(frequent))


def all_levels(levels: Levels, names: Sequence[str] | None, *data: Any) -> Levels:
    """Add the levels in further rows to those of each column, without a limit on their number.

    Columns of data frames are found by the names that they had in fit.

    >>> all_levels(Levels({0: ("blue",)}), None, np.array([["red"]], dtype=object)).columns
    {0: ('blue', 'red')}
    """
    sources = levels.sources(names or ())
    level_sets = {column: set(known_levels) for column, known_levels in levels.columns.items()}
    for rows in data:
        if rows is None:
            continue
        named = isinstance(rows, Table) or is_frame(rows)
        source = _open(rows if named else np.asarray(rows, dtype=object))
        places = {name: j for j, name in enumerate(source.names or ())}
        framed = bool(sources) and places.keys() >= {*sources}
        for column, level_set in level_sets.items():
            place = places[sources[column]] if framed else column
            level_set |= set(levels_of(source.cells(place), source.name(place)))
    ordered = {j: in_order(list(level_set), str(j)) for j, level_set in level_sets.items()}
    return Levels(ordered, levels.kinds)


class _Source(NamedTuple):
    """The columns of a frame, an array or a table; a table gives only the distinct cells."""

    n_columns: int
    names: tuple[str, ...] | None
    cells: Callable[[int], Any]
    rows: Callable[[int], Any]
    """Returns the cells of a column for all rows, for a table too."""
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


def chosen_columns(choice: object, names: Sequence[str]) -> set[str]:
    """Return the names of the columns that ``categorical_features`` lists by name or number."""
    if choice is None or is_by_type(choice):
        return set()
    return {names[j] for j in _picked(choice, tuple(names), len(names))}


def is_by_type(choice: object) -> bool:
    """Check whether the types of columns decide which of them are categorical."""
    return isinstance(choice, str) and choice == FROM_DTYPE


def _chosen(source: _Source, choice: object) -> list[int]:
    if choice is None:
        return []
    if is_by_type(choice):
        return [j for j in range(source.n_columns) if source.holds_text(j)]
    return _picked(choice, source.names, source.n_columns)


def _refused(problem: str) -> ParameterError:
    return ParameterError(f"categorical_features {problem}", parameter="categorical_features")


def _picked(choice: Any, names: tuple[str, ...] | None, columns: int) -> list[int]:
    if isinstance(choice, str) or not isinstance(choice, Iterable):
        raise _refused(
            f"is {choice!r}; it may be 'from_dtype', None, or a list of column names, of column "
            "numbers, or of a boolean for every column"
        )
    picks = list(choice)
    if picks and all(isinstance(pick, bool | np.bool_) for pick in picks):
        if len(picks) != columns:
            raise _refused(
                f"holds {len(picks)} booleans, but X has {columns} columns; give one for every "
                "column"
            )
        return [j for j, pick in enumerate(picks) if pick]
    return sorted({_number(pick, names, columns) for pick in picks})


def _number(pick: Any, names: tuple[str, ...] | None, columns: int) -> int:
    if isinstance(pick, str):
        if names is None:
            raise _refused(
                f"names {pick!r}, but the columns of X have no names; give column numbers, 0 to "
                f"{columns - 1}, or a data frame"
            )
        if pick not in names:
            close = close_names(pick, names)
            guess = f". Did you mean {close[0]!r}?" if close else ""
            raise _refused(
                f"names {pick!r}, which is not a column of X; its columns are "
                f"{', '.join(map(repr, names))}{guess}"
            )
        return names.index(pick)
    if isinstance(pick, bool) or not isinstance(pick, int | np.integer):
        raise _refused(
            f"holds {pick!r}; it may hold column names, column numbers, or a boolean for every "
            "column"
        )
    if not 0 <= pick < columns:
        raise _refused(
            f"holds column number {pick}, but X has {columns} columns: give 0 to {columns - 1}"
        )
    return int(pick)
