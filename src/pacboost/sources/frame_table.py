"""Tables from the named columns of data frames, files and mappings.

A column of text is read as numbers, booleans or dates if all of its cells are (sources/kinds),
and dates become columns of numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, warn_once
from pacboost.sources.categories import FROM_DTYPE, MAX_LEVELS, chosen_columns, is_by_type
from pacboost.sources.dataframe import Storage, columns_of, storage_of
from pacboost.sources.kinds.categories import Categories
from pacboost.sources.kinds.column import IN_MEMORY, CellOrigin, InputColumn, as_text_cells
from pacboost.sources.kinds.kind import ColumnKind
from pacboost.sources.kinds.order import KINDS, learned
from pacboost.sources.kinds.texts import Unused
from pacboost.sources.levels import NO_LEVELS, Levels
from pacboost.sources.look_up import Level
from pacboost.sources.table import FINITE, ColumnTable, refuse_text
from pacboost.sources.values import Values

MAX_CELLS_PER_BLOCK = 2**20
"""Columns of short tables are converted together, up to this size."""


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
        learned_from: Mapping[str, InputColumn] | None = None,
    ) -> None:
        self.names, self.levels, self.origin = tuple(names), levels, origin
        self.n_rows, self.n_columns = len(next(iter(columns.values()), ())), len(self.names)
        self.width = max(1, MAX_CELLS_PER_BLOCK // max(1, self.n_rows))
        self._read: dict[int, Values] = {}
        in_parts = set(names) <= columns.keys()  # months and such are columns of the input
        self._sources = list(names) if in_parts else levels.sources(names)
        numbers = {name for j, name in enumerate(self._sources) if j not in levels}
        self._columns = {
            name: as_text_cells(cells) if name in numbers else cells
            for name, cells in columns.items()
        }
        opened: dict[str, InputColumn] = {**(learned_from or {})}
        for source in dict.fromkeys(self._sources):
            cells = self._columns[source]
            if source not in opened or opened[source].cells is not cells:
                storage = storage_of(cells, asked=source in numbers)
                opened[source] = InputColumn(
                    source, cells, origin, in_parts=in_parts, storage=storage
                )
        for j, source in enumerate(self._sources):
            levels.kind(j).check(opened[source])
        for j, source in enumerate(self._sources):
            # numbers are converted when they are asked for, since they take the most memory
            if j in levels or opened[source].storage is not Storage.NUMBERS:
                self._read[j] = levels.kind(j).read(opened[source])
        if self.width >= self.n_columns > 1:
            self._whole = super().block(0, self.n_columns)
        for first, values in self.blocks():
            for j in np.flatnonzero(np.isinf(values).any(axis=0)).tolist():
                row = int(np.isinf(values[:, j]).argmax())
                raise origin.error(
                    f"{origin.prefix}column {self.names[first + j]!r} holds {values[row, j]} in "
                    f"{origin.row(row)}; {FINITE}"
                )

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
        columns = data if isinstance(data, Mapping) else columns_of(data)
        chosen, by_type = chosen_columns(choice, list(columns)), is_by_type(choice)
        opened = {
            name: InputColumn(name, cells, origin, by_type=by_type, whole=name in raw)
            for name, cells in columns.items()
        }
        found = {
            name: Categories.chosen(column) if name in chosen else learned(column)
            for name, column in opened.items()
        }
        unused = [opened[name] for name, kinds in found.items() if _are_unused(kinds)]
        if columns and len(unused) == len(columns):  # no other column could be used
            texts = [name for name in columns if opened[name].storage is not Storage.NUMBERS]
            table = cls.learn(columns, texts, origin, note=note, quiet=quiet, raw=raw)
            table.choice = choice
            return table
        refused = [name for name, kinds in found.items() if kinds is None]
        if refused:
            raise refuse_text(refused)
        pairs = [(kind.name(name), kind) for name, kinds in found.items() for kind in kinds or ()]
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(f"two columns would have the name {twice!r}; rename one of them")
        if not quiet:
            notes = _about_unused(unused, reads_text=reads_text)
            by_itself = {name: kinds for name, kinds in found.items() if name not in chosen}
            notes += _about_texts(by_itself, opened, note=note)
            for message in notes:
                warn_once(f"{origin.prefix}{message}")
        table = cls(columns, names, Levels.of_kinds(kind for _, kind in pairs), origin, opened)
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
        columns = data if isinstance(data, Mapping) else columns_of(data)
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
        source = self._sources[number]
        cells = self._columns[source]
        return InputColumn(source, cells, self.origin, storage=Storage.NUMBERS).numbers()

    def given(self, column: int, row: int) -> Any:
        if self.names[column] != self._sources[column]:  # a part of a date
            return super().given(column, row)
        cell = self._columns[self._sources[column]][row]
        spelling = self.origin.spelling
        is_absent = isinstance(cell, str) and spelling.is_missing(cell.strip())
        return None if is_absent or cell in spelling.missing_numbers else cell

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

    def block(self, first: int, last: int) -> Values:
        return super().block(first, last) if self._whole is None else self._whole[:, first:last]


def _are_unused(kinds: list[ColumnKind] | None) -> bool:
    return kinds is not None and isinstance(kinds[0], Unused)


def _about_unused(columns: Sequence[InputColumn], *, reads_text: bool) -> list[str]:
    """Return the warnings about columns that differ in every row."""
    sentences = sorted(column.name for column in columns if Unused.are_sentences(column))
    others = [column.name for column in columns if column.name not in sentences]
    notes = []
    if others:
        is_or_are, it_or_they = ("is", "it") if len(others) == 1 else ("are", "they")
        notes.append(
            f"{', '.join(map(repr, others))} {is_or_are} unique in every row, so "
            f"{it_or_they} cannot help to predict, and {is_or_are} not used"
        )
    if sentences and not reads_text:
        looks = "looks" if len(sentences) == 1 else "look"
        notes.append(
            f"{', '.join(map(repr, sentences))} {looks} like sentences, which are not used "
            "here; TextBoostClassifier and StrongClassifier learn from their words"
        )
    return notes


def _about_texts(
    found: Mapping[str, list[ColumnKind] | None],
    opened: Mapping[str, InputColumn],
    *,
    note: bool,
) -> list[str]:
    """Return warnings about texts that may be misread, and with ``note`` how others are read."""
    notes, readings = list[str](), dict[str, list[str]]()
    for name, kinds in found.items():
        column = opened[name]
        if column.storage is not Storage.TEXT or not column.texts or not kinds:
            continue
        if isinstance(kinds[0], Categories):
            is_read = isinstance(kinds[0], Unused)
            notes += [] if is_read else filter(None, (kind.doubt(column) for kind in KINDS))
        else:
            readings.setdefault(kinds[0].held, []).append(name)
    if note and readings:
        listed = "; ".join(f"{', '.join(map(repr, n))} as {held}" for held, n in readings.items())
        notes.append(
            f"text columns parsed: {listed}. To keep one as categories, list it in "
            "categorical_features"
        )
    return notes
