"""Tables from the named columns of data frames, files and mappings.

A column of text is read as numbers, booleans or dates if all of its cells are (sources/written.py),
and dates become columns of numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, PacboostError, warn_once
from pacboost.sources import dataframe, written
from pacboost.sources.arrow import doubles, memory, one_chunk
from pacboost.sources.categories import (
    FROM_DTYPE,
    MAX_LEVELS,
    chosen_columns,
    is_by_type,
    levels_of,
)
from pacboost.sources.levels import NO_LEVELS, Level, Levels, distinct, is_missing, pieces
from pacboost.sources.table import FINITE, ColumnTable, Values, refuse_text


@dataclass(frozen=True)
class CellOrigin:
    """The origin of columns: how their cells are written, and how errors name a row."""

    spelling: written.Spelling = field(default_factory=written.Spelling)
    prefix: str = ""
    row: Callable[[int], str] = field(default=lambda row: f"row {row}")
    error: type[PacboostError] = DataError


IN_MEMORY = CellOrigin()
REFUSED, UNIQUE, UNCLEAR, SENTENCES = "refused", "unique", "unclear", "sentences"
NOT_READINGS = ("", UNIQUE, UNCLEAR, SENTENCES)
MAX_CELLS_PER_BLOCK = 2**20
"""Columns of short tables are converted together, up to this size."""
MIN_TIME_OF_DAY = 0.9 / 1440
"""In days: just under a minute, to allow for rounding."""
MIN_ROWS_FOR_ID = 50
"""In fewer rows, names or numbers may all differ by chance."""
ID_NAME = re.compile(r"(?:^|[^A-Za-z])(?i:id|nr|no|number|key|index|uid)$|[a-z]I[dD]$")
"""Ends of the names of id columns: customer_id, Kunden-Nr, orderID."""

LEADING_ZERO = re.compile(r"-?0\d")
"""Start of codes that are not numbers, such as 01234."""


class Coded:
    """A column of text as its distinct texts and, for each cell, an index into them.

    Missing cells have the index after the last.
    """

    def __init__(self, cells: Any, name: str) -> None:
        native = cells.to_native() if isinstance(cells, nw.Series) else cells
        if hasattr(native, "dictionary_encode"):  # Arrow does both at once
            parts = one_chunk(native.dictionary_encode())
            self.texts: list[str] = parts.dictionary.to_pylist()
            places = memory(parts.indices.fill_null(len(self.texts)))
            self.places: NDArray[np.intp] = places.astype(np.intp)
            return
        self.texts = distinct(cells)
        numbers = Levels({0: tuple(self.texts)}).numbers(0, cells, name)
        self.places = np.where(np.isnan(numbers), len(self.texts), numbers).astype(np.intp)

    @property
    def present(self) -> int:
        return int(np.count_nonzero(self.places < len(self.texts)))

    def levels(self, spelling: written.Spelling) -> list[str]:
        """Return the distinct texts in order, without those that stand for missing values."""
        return sorted({text.strip() for text in self.texts if not spelling.is_missing(text)})

    def spread(self, of: Callable[[str], float]) -> NDArray[np.float64]:
        return np.array([*map(of, self.texts), np.nan])[self.places]


class FrameTable(ColumnTable):
    """Named columns as numbers; categories become level numbers, and missing cells NaN.

    ``learn`` finds the type of each column; ``like`` reads columns as in fit.
    """

    names: tuple[str, ...]
    choice: Any = None
    _whole: Values | None = None
    """All numbers of a small table."""
    _relearned: Collection[str] = ()

    def __init__(
        self,
        columns: Mapping[str, Any],
        names: Sequence[str],
        levels: Levels = NO_LEVELS,
        origin: CellOrigin = IN_MEMORY,
        coded: Mapping[str, Coded] | None = None,
    ) -> None:
        self.names, self.levels, self.origin = tuple(names), levels, origin
        self._coded = dict(coded or {})
        self.n_rows, self.n_columns = len(next(iter(columns.values()), ())), len(self.names)
        self.width = max(1, MAX_CELLS_PER_BLOCK // max(1, self.n_rows))
        self._absent = origin.spelling.missing_numbers
        self._read: dict[int, Values] = {}
        self._apart = set(names) <= columns.keys()  # months and such are columns of the input
        self._sources = list(names) if self._apart else levels.sources(names)
        numbers = {name for j, name in enumerate(self._sources) if j not in levels}
        self._columns = {
            name: _as_text(cells) if name in numbers else cells for name, cells in columns.items()
        }
        kinds = {
            name: dataframe.kind_of(self._columns[name], asked=name in numbers)
            for name in dict.fromkeys(self._sources)
        }
        self._refuse_others(kinds)
        for j, source in enumerate(self._sources):
            if kinds[source] in (dataframe.TEXT, dataframe.MOMENTS):
                self._read[j] = self._from_text_or_dates(j, kinds[source])
            elif j in levels:
                self._read[j] = levels.numbers(j, self._columns[source], repr(self.names[j]))
        if self.width >= self.n_columns > 1:
            self._whole = super().block(0, self.n_columns)
        for first, values in self.blocks():
            for j in np.flatnonzero(np.isinf(values).any(axis=0)).tolist():
                row = int(np.isinf(values[:, j]).argmax())
                raise origin.error(
                    f"{origin.prefix}column {self.names[first + j]!r} holds {values[row, j]} in "
                    f"{origin.row(row)}; {FINITE}"
                )
        self._coded.clear()

    @classmethod
    def learn(
        cls,
        data: object,
        choice: object = FROM_DTYPE,
        origin: CellOrigin = IN_MEMORY,
        *,
        note: bool = False,
        quiet: bool = False,
        raw: Collection[str] = (),
        reads_text: bool = False,
    ) -> FrameTable:
        """Find the type of each column; ``choice`` selects the categorical ones (categories.py).

        A column in ``raw`` stays one column: its texts are categories even if they are dates. With
        ``note``, warn about columns of text that are read as numbers, booleans or dates. With
        ``reads_text``, sentences will be read word by word, so nothing is said of them.
        """
        columns = data if isinstance(data, Mapping) else dataframe.columns_of(data)
        chosen, by_type = chosen_columns(choice, list(columns)), is_by_type(choice)
        names: list[str] = []
        levels: dict[int, Any] = {}
        ways: dict[int, str] = {}
        coded: dict[str, Coded] = {}
        roles: dict[str, list[str]] = {}
        for name, cells in columns.items():
            if name in chosen and dataframe.kind_of(cells) == dataframe.TEXT:
                coded[name] = Coded(cells, repr(name))
                kind = ColumnKind(_levels_of_text(coded[name], origin.spelling))
            elif name in chosen:
                kind = ColumnKind(levels_of(cells, repr(name)))
            else:
                kind = _kind_of_column(name, cells, origin, coded, by_type=by_type, raw=name in raw)
            if kind.levels is not None:
                levels[len(names)] = kind.levels
            for way in kind.ways:
                part = written.part_of(way)
                if way:
                    ways[len(names)] = way
                names.append(name if part is None else written.part_name(name, part[0]))
            roles.setdefault(kind.role, []).append(name)
        if columns and len(roles.get(UNIQUE, ())) == len(columns):  # no other column could be used
            every = [
                n
                for n in columns
                if n in coded or dataframe.kind_of(columns[n]) != dataframe.NUMBERS
            ]
            table = cls.learn(columns, every, origin, note=note, quiet=quiet, raw=raw)
            table.choice = choice
            return table
        if roles.get(REFUSED):
            raise refuse_text(roles[REFUSED])
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(f"two columns would have the name {twice!r}; rename one of them")
        if not quiet:
            sentences = {
                n
                for n in roles.get(UNIQUE, ())
                if n in coded and written.are_sentences(coded[n].texts)
            }
            roles[UNIQUE] = [n for n in roles.get(UNIQUE, ()) if n not in sentences]
            roles[SENTENCES] = [] if reads_text else sorted(sentences)
            _warn_of(roles, coded, origin, note=note)
        table = cls(columns, names, Levels(levels, ways), origin, coded)
        table.choice, table._relearned = choice, raw
        return table

    @classmethod
    def like(
        cls,
        data: object,
        names: Sequence[str] | None,
        levels: Levels,
        origin: CellOrigin = IN_MEMORY,
    ) -> FrameTable:
        """Read the columns of these names as in fit; without names, all columns in their order."""
        columns = data if isinstance(data, Mapping) else dataframe.columns_of(data)
        return cls(columns, list(columns) if names is None else names, levels, origin)

    @property
    def sources(self) -> list[str]:
        """The names of the input columns that these columns are computed from."""
        return list(dict.fromkeys(self._sources))

    def made_of(self, source: str) -> list[int]:
        return [j for j, name in enumerate(self._sources) if name == source]

    def alone(self, rows: NDArray[np.intp]) -> FrameTable:
        """Learn the types of the columns again from some rows only."""
        some = {name: cells[rows] for name, cells in self._columns.items()}
        return FrameTable.learn(some, self.choice, self.origin, quiet=True, raw=self._relearned)

    def choosing(self, choice: object) -> FrameTable:
        if choice is self.choice or (is_by_type(choice) and is_by_type(self.choice)):
            return self
        return FrameTable.learn(self.as_given, choice, self.origin, quiet=True, raw=self._relearned)

    @property
    def as_given(self) -> Mapping[str, Any]:
        return {name: self._columns[name] for name in self.sources}

    def columns(self, numbers: Sequence[int]) -> FrameTable:
        some = FrameTable.__new__(FrameTable)
        some.__dict__.update(self.__dict__)
        some.names = tuple(self.names[j] for j in numbers)
        some._sources = [self._sources[j] for j in numbers]
        some._columns = {name: self._columns[name] for name in dict.fromkeys(some._sources)}
        some._read = {new: self._read[old] for new, old in enumerate(numbers) if old in self._read}
        some.levels, some.n_columns = self.levels.of(numbers), len(numbers)
        some._whole = None if self._whole is None else self._whole[:, list(numbers)]
        return some

    def column(self, number: int) -> Values:
        if number in self._read:
            return self._read[number]
        values = dataframe.numbers_of(self._columns[self._sources[number]])
        return np.where(np.isin(values, self._absent), np.nan, values) if self._absent else values

    def given(self, column: int, row: int) -> Any:
        if self.names[column] != self._sources[column]:  # a part of a date
            return super().given(column, row)
        cell = self._columns[self._sources[column]][row]
        is_absent = isinstance(cell, str) and self.origin.spelling.is_missing(cell.strip())
        return None if is_absent or cell in self._absent else cell

    def every_level(self, column: int) -> tuple[Level, ...]:
        known, source = super().every_level(column), self._sources[column]
        has_all = self.choice is not None or len(known) < MAX_LEVELS
        if has_all or self.names[column] != source:
            return known
        one = FrameTable.learn({source: self._columns[source]}, [source], self.origin, quiet=True)
        return one.levels.columns.get(0, known)

    def level_numbers(self, column: int, levels: tuple[Level, ...]) -> Values:
        if {*levels} <= {*self.levels.columns.get(column, ())}:
            return super().level_numbers(column, levels)
        one, name = self.columns([column]).as_given, self.names[column]
        return FrameTable.like(one, [name], Levels({0: levels}), self.origin).column(0)

    def _from_text_or_dates(self, number: int, kind: int) -> Values:
        """Convert text to levels or numbers, and dates to one of their parts."""
        source, way = self._sources[number], self.levels.written.get(number, "")
        cells, part = self._columns[source], written.part_of(way)
        if kind == dataframe.MOMENTS:
            parts = dataframe.moment_parts(cells)
            part_wanted = "" if part is None else part[0]
            if (part is None) != ("" in parts) or number in self.levels:
                self._refuse(number, "dates")
            if part_wanted not in parts:
                return parts[written.DATE] * 0  # midnight, or missing
            return parts[part_wanted]
        if not way and number not in self.levels:
            quick = _numbers_of_arrow(cells, self.origin.spelling)
            if quick is not None:
                return quick
        coded = self._coded.get(source)
        if coded is None:
            coded = self._coded[source] = Coded(cells, repr(source))
        if number in self.levels:
            return coded.spread(self._level(number))
        try:
            return coded.spread(lambda text: written.read_text(text, way, self.origin.spelling))
        except ValueError:
            raise self._unreadable(number, coded) from None

    def _level(self, number: int) -> Callable[[str], float]:
        """Return a function that maps a text to the number of its level."""
        levels, spelling = self.levels.columns[number], self.origin.spelling
        if levels and not isinstance(levels[0], str):
            places = {float(level): float(k) for k, level in enumerate(levels)}
            way = written.TRUE_FALSE if isinstance(levels[0], bool) else ""

            def place(text: str) -> float:
                with suppress(ValueError):
                    return places.get(written.read_text(text, way, spelling), np.nan)
                return np.nan

            return place
        level_numbers = {str(level): float(k) for k, level in enumerate(levels)}
        return lambda text: level_numbers.get(text, level_numbers.get(text.strip(), np.nan))

    def block(self, first: int, last: int) -> Values:
        return super().block(first, last) if self._whole is None else self._whole[:, first:last]

    def _unreadable(self, number: int, coded: Coded) -> PacboostError:
        way, spelling = self.levels.written.get(number, ""), self.origin.spelling
        for row, place in enumerate(coded.places.tolist()):
            if place < len(coded.texts):
                text = coded.texts[place]
                try:
                    written.read_text(text, way, spelling)
                except ValueError:
                    content, advice = written.what_it_held(way)
                    return self.origin.error(
                        f"{self.origin.prefix}{self._sources[number]!r} held {content} in fit; "
                        f"{self.origin.row(row)} holds {text!r:.60}. {advice}"
                    )
        raise AssertionError("every cell can be read")

    def _refuse(self, number: int, what: str) -> None:
        content = written.what_it_held(self.levels.written.get(number, ""))[0]
        content = "categories" if number in self.levels else content
        raise self.origin.error(
            f"{self.origin.prefix}{self._sources[number]!r} held {content} in fit, but holds "
            f"{what} now; pass the column as in fit"
        )

    def _refuse_others(self, kinds: Mapping[str, int]) -> None:
        """Raise if a column has a type that cannot be used, or another one than in fit."""
        if not self.levels.written and {*kinds.values()} == {dataframe.NUMBERS}:
            return
        for j, source in enumerate(self._sources):
            kind, cells = kinds[source], self._columns[source]
            if j in self.levels:
                continue
            if kind == dataframe.UNSUPPORTED:
                kind_shown = getattr(cells.to_native(), "dtype", cells.dtype)
                raise DataError(
                    f"column {source!r} holds {kind_shown}, not numbers, text, categories or "
                    "dates. Convert it (periods by .dt.to_timestamp()), or drop the column"
                )
            if kind == dataframe.CATEGORIES:
                self._refuse(j, "categories")
            apart = source == self.names[j] and self._apart
            dated = written.part_of(self.levels.written.get(j, "")) and not apart
            if kind == dataframe.NUMBERS and dated and distinct(cells):
                self._refuse(j, "numbers")


def _as_text(cells: Any) -> Any:
    """Convert a column that mixes text and numbers to text."""
    if (
        not isinstance(cells, nw.Series)
        or cells.dtype != nw.Object
        or dataframe.kind_of(cells) != dataframe.CATEGORIES
    ):
        return cells
    values = [cell for part in pieces(cells) for cell in part]
    if not all(is_missing(cell) or isinstance(cell, str | int | float) for cell in values):
        return cells
    return np.array([None if is_missing(cell) else str(cell) for cell in values], dtype=object)


def _numbers_of_arrow(
    cells: nw.Series[Any] | NDArray[Any], spelling: written.Spelling
) -> NDArray[np.float64] | None:
    """Convert an Arrow column of text to numbers; None if it is not Arrow's or not all numbers."""
    native: Any = cells.to_native() if isinstance(cells, nw.Series) else None
    if spelling.missing_numbers or not hasattr(native, "num_chunks"):
        return None
    with suppress(ValueError):
        return doubles(native)
    return None


class ColumnKind(NamedTuple):
    """The type of a column: its levels if it is categorical, else how its numbers are written."""

    levels: tuple[Any, ...] | None = None
    ways: tuple[str, ...] = ("",)
    role: str = ""
    """What a warning or error says about the column."""


def _kind_of_column(
    name: str, cells: Any, origin: CellOrigin, coded: dict[str, Coded], *, by_type: bool, raw: bool
) -> ColumnKind:
    kind = dataframe.kind_of(cells)
    if kind == dataframe.CATEGORIES and not (by_type or raw):
        return ColumnKind(role=REFUSED)
    if kind == dataframe.CATEGORIES:
        return ColumnKind(levels_of(cells, repr(name)))
    if kind == dataframe.MOMENTS:
        parts = dataframe.moment_parts(cells)
        if written.HOUR in parts and not (parts[written.DATE] % 1 >= MIN_TIME_OF_DAY).any():
            del parts[written.HOUR]  # no time of day: as dates in text
        return ColumnKind(ways=(written.DATE,) if raw else tuple(parts))
    if kind != dataframe.TEXT:
        numbers = (
            kind == dataframe.NUMBERS and by_type and not raw and _is_id(name, len(cells), cells)
        )
        ways = (written.TRUE_FALSE,) if dataframe.are_truths(cells) else ("",)
        return ColumnKind((), role=UNIQUE) if numbers else ColumnKind(ways=ways)
    texts = coded[name] = Coded(cells, repr(name))
    kind_of_text = _kind_of_text(texts, origin, by_type=by_type, raw=raw)
    numbers = by_type and not raw and kind_of_text.ways == ("",) and kind_of_text.levels is None
    if numbers and _is_id(name, len(cells), origin.spelling.numbers(texts.texts)):
        return ColumnKind((), role=UNIQUE)
    return kind_of_text


def _kind_of_text(coded: Coded, origin: CellOrigin, *, by_type: bool, raw: bool) -> ColumnKind:
    texts = coded.levels(origin.spelling)
    ways = written.ways_of(texts, origin.spelling)
    if ways is not None and not (raw and written.part_of(ways[0])):
        return ColumnKind(ways=ways, role=written.what_it_held(ways[0])[0] if texts else "")
    if not by_type and not raw:
        return ColumnKind(role=REFUSED)
    once = MIN_ROWS_FOR_ID <= len(texts) == coded.present
    if once and not raw and written.spoilt(texts, origin.spelling) is None:
        return ColumnKind((), role=UNIQUE)
    return ColumnKind(
        tuple(texts), role=UNCLEAR if not raw and len(written.orders(texts)) > 1 else ""
    )


def _levels_of_text(coded: Coded, spelling: written.Spelling) -> tuple[Any, ...]:
    """Return the levels of text; numbers and booleans become such, as in a data frame."""
    texts = coded.levels(spelling)
    ways = written.ways_of(texts, spelling) if texts else None
    if ways == (written.TRUE_FALSE,):
        return tuple(sorted({text.lower() == "true" for text in texts}))
    if ways == ("",) and not any(map(LEADING_ZERO.match, texts)):
        numbers = {spelling.number(text) for text in texts}
        return tuple(sorted(int(value) if value == int(value) else value for value in numbers))
    return tuple(texts)


def _is_id(name: str, rows: int, cells: object) -> bool:
    """Check whether a column has the name of an id and a different whole number in each row."""
    if rows < MIN_ROWS_FOR_ID or not ID_NAME.search(name):
        return False
    values = dataframe.numbers_of(cells)
    return bool((values == np.rint(values)).all()) and np.unique(values).size == rows


def _warn_of(
    roles: Mapping[str, list[str]], coded: Mapping[str, Coded], origin: CellOrigin, *, note: bool
) -> None:
    notes = []
    if roles.get(UNIQUE):
        is_or_are, it_or_they = ("is", "it") if len(roles[UNIQUE]) == 1 else ("are", "they")
        notes.append(
            f"{', '.join(map(repr, roles[UNIQUE]))} {is_or_are} unique in every row, so "
            f"{it_or_they} cannot help to predict, and {is_or_are} not used"
        )
    if roles.get(SENTENCES):
        looks = "looks" if len(roles[SENTENCES]) == 1 else "look"
        notes.append(
            f"{', '.join(map(repr, roles[SENTENCES]))} {looks} like sentences, which are not used "
            "here; TextBoostClassifier and StrongClassifier learn from their words"
        )
    for name in roles.get(UNCLEAR, ()):
        notes.append(
            f"column {name!r} holds ambiguous dates such as "
            f"{coded[name].levels(origin.spelling)[0]!r}, so they are read as categories. Give "
            "--dayfirst if the day comes first or --monthfirst if the month does (in Python "
            "dates='day-first' or dates='month-first'), or write dates as in 2024-01-31"
        )
    others = [(what, names) for what, names in roles.items() if what not in NOT_READINGS]
    if note and others:
        readings = "; ".join(f"{', '.join(map(repr, names))} as {what}" for what, names in others)
        notes.append(
            f"text columns parsed: {readings}. To keep one as categories, list it in "
            "categorical_features"
        )
    for message in notes:
        warn_once(f"{origin.prefix}{message}")
