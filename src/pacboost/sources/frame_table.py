"""Tables from named columns: of data frames, of files, and of mappings.

Columns of text are read as what all of their cells are (sources/written.py), and dates become
columns of numbers. Most other columns are not copied: they are converted one at a time.
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

from pacboost.errors import DataError, InputWarning, PacboostError, warn
from pacboost.sources.arrow import doubles, memory, one_chunk
from pacboost.sources.categories import FROM_DTYPE, chosen_columns, is_by_type, levels_of
from pacboost.sources.dataframe import (
    CATEGORIES,
    MOMENTS,
    NUMBERS,
    OTHER,
    TEXT,
    are_truths,
    columns_of,
    kind_of,
    moment_parts,
    numbers_of,
)
from pacboost.sources.levels import NO_LEVELS, Levels, distinct, is_missing, pieces
from pacboost.sources.table import FINITE, ColumnTable, Values, refuse_text
from pacboost.sources.written import (
    DATE,
    HOUR,
    TRUE_FALSE,
    Spelling,
    are_sentences,
    orders,
    part_name,
    part_of,
    read_text,
    spoilt,
    ways_of,
    what_it_held,
)


@dataclass(frozen=True)
class CellOrigin:
    """Where columns came from: how their cells are written, and how errors name a row."""

    spelling: Spelling = field(default_factory=Spelling)
    prefix: str = ""
    row: Callable[[int], str] = field(default=lambda row: f"row {row}")
    error: type[PacboostError] = DataError


IN_MEMORY = CellOrigin()
REFUSED, UNIQUE, UNCLEAR = "refused", "unique", "unclear"
CELLS_AT_ONCE = 2**20
"""Columns of few rows are read together, so many cells at once."""
A_MINUTE = 0.9 / 1440
FEWEST = 50
"""Of fewer rows, names or numbers may all differ by chance."""
ID = re.compile(r"(?:^|[^A-Za-z])(?i:id|nr|no|number|key|index|uid)$|[a-z]I[dD]$")
"""How the names of columns end that hold ids: customer_id, Kunden-Nr, orderID."""


LEADING_ZERO = re.compile(r"-?0\d")
"""How codes begin that are no numbers, such as 01234."""


class Coded:
    """The cells of a column of text: its different texts, and the place of each cell's among them.

    Missing cells have the place after the last.
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

    def known(self, spelling: Spelling) -> list[str]:
        """Return the different texts but for those that stand for missing ones, in order."""
        return sorted({text.strip() for text in self.texts if not spelling.is_missing(text)})

    def spread(self, of: Callable[[str], float]) -> NDArray[np.float64]:
        """Return a number for every cell, made of its text."""
        return np.array([*map(of, self.texts), np.nan])[self.places]


class FrameTable(ColumnTable):
    """Named columns as numbers and as the levels of categories; what is missing becomes NaN.

    ``learn`` finds out what the columns are; ``like`` reads them as a fit has.
    """

    names: tuple[str, ...]
    choice: Any = None
    _whole: Values | None = None
    """All numbers, where they are few."""
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
        self.width = max(1, CELLS_AT_ONCE // max(1, self.n_rows))
        self._absent = origin.spelling.missing_numbers
        self._read: dict[int, Values] = {}
        self._apart = set(names) <= columns.keys()  # months and such are there as numbers, too
        self._sources = list(names) if self._apart else levels.sources(names)
        numbers = {name for j, name in enumerate(self._sources) if j not in levels}
        self._columns = {n: _as_text(own) if n in numbers else own for n, own in columns.items()}
        kinds = {
            name: kind_of(self._columns[name], asked=name in numbers)
            for name in dict.fromkeys(self._sources)
        }
        self._refuse_others(kinds)
        for j, source in enumerate(self._sources):
            if kinds[source] in (TEXT, MOMENTS):
                self._read[j] = self._from_text_or_dates(j, kinds[source])
            elif j in levels:
                self._read[j] = levels.numbers(j, self._columns[source], repr(self.names[j]))
        if self.width >= self.n_columns > 1:
            self._whole = super().block(0, self.n_columns)
        for first, values in self.blocks():
            for j in np.flatnonzero(np.isinf(values).any(axis=0)).tolist():
                self._refuse_infinite(first + j, values[:, j])
        self._coded.clear()

    @classmethod
    def learn(
        cls,
        data: Any,
        choice: Any = FROM_DTYPE,
        origin: CellOrigin = IN_MEMORY,
        *,
        note: bool = False,
        quiet: bool = False,
        raw: Collection[str] = (),
    ) -> FrameTable:
        """Find out what columns hold; ``choice`` says which are categories (categories.py).

        Columns that are named ``raw`` become one column each: their texts are categories, whatever
        they are. With ``note``, say which columns of text are read as something else.
        """
        columns = data if isinstance(data, Mapping) else columns_of(data)
        chosen, by_type = chosen_columns(choice, list(columns)), is_by_type(choice)
        names: list[str] = []
        levels: dict[int, Any] = {}
        written: dict[int, str] = {}
        coded: dict[str, Coded] = {}
        roles: dict[str, list[str]] = {}
        for name, cells in columns.items():
            if name in chosen and kind_of(cells) == TEXT:
                coded[name] = Coded(cells, repr(name))
                held = ColumnKind(_levels_of_text(coded[name], origin.spelling))
            elif name in chosen:
                held = ColumnKind(levels_of(cells, repr(name)))
            else:
                held = _held(name, cells, origin, coded, by_type=by_type, raw=name in raw)
            if held.levels is not None:
                levels[len(names)] = held.levels
            for way in held.ways:
                part = part_of(way)
                if way:
                    written[len(names)] = way
                names.append(name if part is None else part_name(name, part[0]))
            roles.setdefault(held.role, []).append(name)
        if columns and len(roles.get(UNIQUE, ())) == len(columns):  # there is nothing else
            every = [n for n in columns if n in coded or kind_of(columns[n]) != NUMBERS]
            table = cls.learn(columns, every, origin, note=note, quiet=quiet, raw=raw)
            table.choice = choice
            return table
        if roles.get(REFUSED):
            raise refuse_text(roles[REFUSED])
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(f"two columns would be called {twice!r}; rename one of them")
        if not quiet:
            _warn_of(roles, coded, origin, read=note)
        table = cls(columns, names, Levels(levels, written), origin, coded)
        table.choice, table._relearned = choice, raw
        return table

    @classmethod
    def like(
        cls,
        data: Any,
        names: Sequence[str] | None,
        levels: Levels,
        origin: CellOrigin = IN_MEMORY,
    ) -> FrameTable:
        """Read columns of these names as they were read in a fit; without names, as they stand."""
        columns = data if isinstance(data, Mapping) else columns_of(data)
        return cls(columns, list(columns) if names is None else names, levels, origin)

    @property
    def sources(self) -> list[str]:
        """The columns that these are made of."""
        return list(dict.fromkeys(self._sources))

    def made_of(self, source: str) -> list[int]:
        """Return the numbers of the columns that are made of a column."""
        return [j for j, name in enumerate(self._sources) if name == source]

    def alone(self, rows: NDArray[np.intp]) -> FrameTable:
        """Read some rows as if there were no others."""
        some = {name: cells[rows] for name, cells in self._columns.items()}
        return FrameTable.learn(some, self.choice, self.origin, quiet=True, raw=self._relearned)

    def choosing(self, choice: Any) -> FrameTable:
        """Return the same rows with those columns as categories that are chosen."""
        if choice is self.choice or (is_by_type(choice) and is_by_type(self.choice)):
            return self
        return FrameTable.learn(self.as_given, choice, self.origin, quiet=True, raw=self._relearned)

    @property
    def as_given(self) -> Mapping[str, Any]:
        """The columns that these are made of, as they came."""
        return {name: self._columns[name] for name in self.sources}

    def columns(self, kept: Sequence[int]) -> FrameTable:
        """Return some of the columns."""
        some = FrameTable.__new__(FrameTable)
        some.__dict__.update(self.__dict__)
        some.names = tuple(self.names[j] for j in kept)
        some._sources = [self._sources[j] for j in kept]
        some._columns = {name: self._columns[name] for name in dict.fromkeys(some._sources)}
        some._read = {new: self._read[old] for new, old in enumerate(kept) if old in self._read}
        some.levels, some.n_columns = self.levels.of(kept), len(kept)
        some._whole = None if self._whole is None else self._whole[:, list(kept)]
        return some

    def column(self, number: int) -> Values:
        if number in self._read:
            return self._read[number]
        values = numbers_of(self._columns[self._sources[number]])
        return np.where(np.isin(values, self._absent), np.nan, values) if self._absent else values

    def _from_text_or_dates(self, number: int, kind: int) -> Values:
        """Convert text to levels or numbers, and dates to one of their parts."""
        source, way = self._sources[number], self.levels.written.get(number, "")
        cells, part = self._columns[source], part_of(way)
        if kind == MOMENTS:
            parts = moment_parts(cells)
            wanted = "" if part is None else part[0]
            if (part is None) != ("" in parts) or number in self.levels:
                self._refuse(number, "dates")
            return parts[wanted] if wanted in parts else parts[DATE] * 0  # midnight, or missing
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
            return coded.spread(lambda text: read_text(text, way, self.origin.spelling))
        except ValueError:
            raise self._unreadable(number, coded) from None

    def _level(self, number: int) -> Callable[[str], float]:
        """Return what finds the number of a level, which may be a number or true or false."""
        own, spelling = self.levels.columns[number], self.origin.spelling
        if own and not isinstance(own[0], str):
            places = {float(level): float(k) for k, level in enumerate(own)}
            way = TRUE_FALSE if isinstance(own[0], bool) else ""

            def place(text: str) -> float:
                with suppress(ValueError):
                    return places.get(read_text(text, way, spelling), np.nan)
                return np.nan

            return place
        known = {str(level): float(k) for k, level in enumerate(own)}
        return lambda text: known.get(text, known.get(text.strip(), np.nan))

    def block(self, first: int, last: int) -> Values:
        return super().block(first, last) if self._whole is None else self._whole[:, first:last]

    def _refuse_infinite(self, number: int, values: Values) -> None:
        row = int(np.isinf(values).argmax())
        raise self.origin.error(
            f"{self.origin.prefix}column {self.names[number]!r} holds {values[row]} in "
            f"{self.origin.row(row)}; {FINITE}"
        )

    def _unreadable(self, number: int, coded: Coded) -> PacboostError:
        way, spelling = self.levels.written.get(number, ""), self.origin.spelling
        for row, place in enumerate(coded.places.tolist()):
            if place < len(coded.texts):
                text = coded.texts[place]
                try:
                    read_text(text, way, spelling)
                except ValueError:
                    held, advice = what_it_held(way)
                    return self.origin.error(
                        f"{self.origin.prefix}{self._sources[number]!r} held {held} in fit; "
                        f"{self.origin.row(row)} holds {text!r:.60}. {advice}"
                    )
        raise AssertionError("all cells can be read")

    def _refuse(self, number: int, what: str) -> None:
        held = what_it_held(self.levels.written.get(number, ""))[0]
        held = "categories" if number in self.levels else held
        raise self.origin.error(
            f"{self.origin.prefix}{self._sources[number]!r} held {held} in fit, and holds {what} "
            "now; hand the column in as it was in fit"
        )

    def _refuse_others(self, kinds: Mapping[str, int]) -> None:
        """Raise if a column holds what it may not hold, by its kind."""
        if not self.levels.written and {*kinds.values()} == {NUMBERS}:
            return
        for j, source in enumerate(self._sources):
            kind, cells = kinds[source], self._columns[source]
            if j in self.levels:
                continue
            if kind == OTHER:
                raise DataError(
                    f"column {source!r} holds {_type_of(cells)}, which is neither numbers, "
                    "text, categories nor dates. Convert it to one of these (periods by "
                    ".dt.to_timestamp()), or leave the column out"
                )
            if kind == CATEGORIES:
                self._refuse(j, "categories")
            apart = source == self.names[j] and self._apart
            dated = part_of(self.levels.written.get(j, "")) and not apart
            if kind == NUMBERS and dated and distinct(cells):
                self._refuse(j, "numbers")


def _as_text(cells: Any) -> Any:
    """Turn cells of which some are text and some are numbers into text."""
    if not isinstance(cells, nw.Series) or cells.dtype != nw.Object or kind_of(cells) != CATEGORIES:
        return cells
    held = [cell for part in pieces(cells) for cell in part]
    if not all(is_missing(cell) or isinstance(cell, str | int | float) for cell in held):
        return cells
    return np.array([None if is_missing(cell) else str(cell) for cell in held], dtype=object)


def _type_of(cells: nw.Series[Any]) -> Any:
    return getattr(cells.to_native(), "dtype", cells.dtype)


def _numbers_of_arrow(cells: Any, spelling: Spelling) -> NDArray[np.float64] | None:
    """Convert text that is plainly numbers, where Arrow holds it; None if it is not so plain."""
    native = cells.to_native() if isinstance(cells, nw.Series) else None
    if spelling.missing_numbers or not hasattr(native, "num_chunks"):
        return None

    with suppress(ValueError):
        return doubles(native)
    return None


class ColumnKind(NamedTuple):
    """What a column holds: categories, or numbers, perhaps written in some way."""

    levels: tuple[Any, ...] | None = None
    ways: tuple[str, ...] = ("",)
    role: str = ""
    """What is to be said of the column."""


def _held(
    name: str, cells: Any, origin: CellOrigin, coded: dict[str, Coded], *, by_type: bool, raw: bool
) -> ColumnKind:
    kind = kind_of(cells)
    if kind == CATEGORIES:
        return (
            ColumnKind(levels_of(cells, repr(name))) if by_type or raw else ColumnKind(role=REFUSED)
        )
    if kind == MOMENTS:
        parts = moment_parts(cells)
        if HOUR in parts and not (parts[DATE] % 1 >= A_MINUTE).any():
            del parts[HOUR]  # no time of day: as dates in text
        return ColumnKind(ways=(DATE,) if raw else tuple(parts))
    if kind != TEXT:
        numbers = kind == NUMBERS and by_type and not raw and _is_id(name, len(cells), cells)
        ways = (TRUE_FALSE,) if are_truths(cells) else ("",)
        return ColumnKind((), role=UNIQUE) if numbers else ColumnKind(ways=ways)
    own = coded[name] = Coded(cells, repr(name))
    held = _text_held(own, origin, by_type=by_type, raw=raw)
    numbers = by_type and not raw and held.ways == ("",) and held.levels is None
    if numbers and _is_id(name, len(cells), origin.spelling.numbers(own.texts)):
        return ColumnKind((), role=UNIQUE)
    return held


def _text_held(own: Coded, origin: CellOrigin, *, by_type: bool, raw: bool) -> ColumnKind:
    texts = own.known(origin.spelling)
    ways = ways_of(texts, origin.spelling)
    if ways is not None and not (raw and part_of(ways[0])):
        return ColumnKind(ways=ways, role=what_it_held(ways[0])[0] if texts else "")
    if not by_type and not raw:
        return ColumnKind(role=REFUSED)
    once = FEWEST <= len(texts) == own.present
    if once and not raw and spoilt(texts, origin.spelling) is None:
        return ColumnKind((), role=UNIQUE)
    return ColumnKind(tuple(texts), role=UNCLEAR if not raw and len(orders(texts)) > 1 else "")


def _levels_of_text(own: Coded, spelling: Spelling) -> tuple[Any, ...]:
    """Return the levels of text: numbers, or true and false, if data frames would hold those."""
    texts = own.known(spelling)
    ways = ways_of(texts, spelling) if texts else None
    if ways == (TRUE_FALSE,):
        return tuple(sorted({text.lower() == "true" for text in texts}))
    if ways == ("",) and not any(map(LEADING_ZERO.match, texts)):
        numbers = {spelling.number(text) for text in texts}
        return tuple(sorted(int(value) if value == int(value) else value for value in numbers))
    return tuple(texts)


def _is_id(name: str, rows: int, cells: Any) -> bool:
    """Check whether a column is called an id, and holds another whole number in every row."""
    if rows < FEWEST or not ID.search(name):
        return False
    values = numbers_of(cells)
    return bool((values == np.rint(values)).all()) and np.unique(values).size == rows


def _warn_of(
    roles: Mapping[str, list[str]], coded: Mapping[str, Coded], origin: CellOrigin, *, read: bool
) -> None:
    notes = []
    if roles.get(UNIQUE):
        few = len(roles[UNIQUE]) == 1
        notes.append(
            f"{', '.join(map(repr, roles[UNIQUE]))} {'is' if few else 'are'} unique in every row, "
            f"so {'it' if few else 'they'} cannot help to predict, and {'is' if few else 'are'} "
            "not used"
        )
    texts = [n for n in roles.get(UNIQUE, ()) if n in coded and are_sentences(coded[n].texts)]
    if texts:
        notes.append(
            f"{', '.join(map(repr, texts))} reads like sentences; TextBoostClassifier and "
            "StrongClassifier learn from the words"
        )
    for name in roles.get(UNCLEAR, ()):
        notes.append(
            f"column {name!r} holds dates such as {coded[name].known(origin.spelling)[0]!r}, of "
            "which either number may be the day, so they are read as categories. Give --dayfirst "
            "if the day comes first or --monthfirst if the month does (in Python dates='day-first' "
            "or dates='month-first'), or write dates as in 2024-01-31"
        )
    others = [(what, names) for what, names in roles.items() if what not in ("", UNIQUE, UNCLEAR)]
    if read and others:
        said = "; ".join(f"{', '.join(map(repr, names))} as {what}" for what, names in others)
        notes.append(
            f"columns of text are read as what they hold: {said}. Name a column in "
            "categorical_features to have its texts as categories"
        )
    for note in notes:
        warn(f"{origin.prefix}{note}", InputWarning)
