"""Tables that mix columns of texts, numbers and categories, all read as words.

Like a vocabulary, the thresholds and levels are learned from the training set and saved in the
model, so that prediction reads a row exactly as training did.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, invalid, warn_once
from pacboost.sources.columns import Columns, are_records
from pacboost.sources.kinds.categories import Categories, levels_of
from pacboost.sources.kinds.kind import ColumnKind
from pacboost.sources.kinds.order import PLAIN, from_json, to_json
from pacboost.sources.levels import Levels
from pacboost.sources.look_up import Level
from pacboost.sources.rows import Rows
from pacboost.sources.sparse import WordTable, beside
from pacboost.sources.table import starts_of
from pacboost.sources.text import TextFeatures, sentence
from pacboost.sources.values import is_missing

MAX_THRESHOLDS = 30
MAX_LEVELS = 254
"""A column with more levels than this must repeat some of them."""


class Conditions(ABC):
    """The conditions on one column, numbered from 0.

    Each condition is a word that a row contains or not: every row with an age above 37.5 contains
    ``age > 37.5``. So rules about words also cover thresholds and levels, as in BoosTexter
    (Schapire and Singer 2000).
    """

    name: str
    kind: str

    @property
    @abstractmethod
    def words(self) -> tuple[str, ...]:
        """The name of each condition."""

    @abstractmethod
    def held(self, rows: Columns) -> WordTable:
        """Return the table of the conditions that each row meets."""

    def say(self, number: int) -> str:
        return self.words[number]

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return values for JSON; the words of texts are saved separately."""


@dataclass(frozen=True)
class TextConditions(Conditions):
    """The words in a column of texts."""

    name: str
    features: TextFeatures
    kind = "text"

    @classmethod
    def learn(
        cls, name: str, rows: Columns, options: TextFeatures
    ) -> tuple[TextConditions, WordTable]:
        """Learn the vocabulary of a column."""
        texts = rows.texts(name)
        try:
            features, table = options.learn(texts)
        except DataError as problem:
            raise DataError(f"column {name!r}: {problem}") from problem
        return cls(name, features), table

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(f"{self.name}: {word}" for word in self.features.vocabulary)

    def say(self, number: int) -> str:
        return sentence(self.features.vocabulary[number], self.name)

    def held(self, rows: Columns) -> WordTable:
        return self.features.transform(rows.texts(self.name))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "words": len(self.features.vocabulary)}


@dataclass(frozen=True)
class NumberConditions(Conditions):
    """Conditions that a number is above, or not above, each threshold, and that it is missing.

    Numbers are rounded to 32 bits before they are compared.

    >>> found, _ = NumberConditions.learn("age", Columns({"age": np.array([20, 40, np.nan])}))
    >>> found.words
    ('age > 30', 'age ≤ 30', 'age is missing')
    >>> found.held(Columns({"age": np.array([35.0, np.nan])})).words.tolist()
    [0, 2]
    """

    name: str
    thresholds: tuple[float, ...]
    missing: bool
    meaning: ColumnKind = PLAIN
    """What the numbers are, such as dates."""
    kind = "number"

    @classmethod
    def learn(
        cls, name: str, rows: Columns, meaning: ColumnKind = PLAIN
    ) -> tuple[NumberConditions, WordTable]:
        """Learn thresholds between adjacent values, or at quantiles of many values."""
        values = _rounded(rows.cells[name])
        missing = np.isnan(values)
        conditions = cls(name, _cuts(values[~missing]), bool(missing.any()), meaning)
        return conditions, conditions.held(rows)

    @cached_property
    def words(self) -> tuple[str, ...]:
        words = [
            self.meaning.condition(self.name, cut, above=above)
            for above in (True, False)
            for cut in self.thresholds
        ]
        return (*words, f"{self.name} is missing") if self.missing else tuple(words)

    def held(self, rows: Columns) -> WordTable:
        values, cuts = _rounded(rows.cells[self.name]), np.array(self.thresholds, np.float32)
        is_present = ~np.isnan(values)
        above = np.searchsorted(cuts, values[is_present])
        number = np.arange(cuts.size)
        sides = number + cuts.size * (number >= above[:, None])
        starts = starts_of(np.where(is_present, cuts.size, int(self.missing)))
        words = np.full(starts[-1], 2 * cuts.size, dtype=np.int32)
        words[np.repeat(is_present, np.diff(starts))] = sides.ravel()
        return WordTable(starts, words, len(self.words))

    def to_dict(self) -> dict[str, Any]:
        fields = {"thresholds": list(self.thresholds), "missing": self.missing}
        meaning = {} if self.meaning == PLAIN else {"meaning": to_json(self.meaning)}
        return {"kind": self.kind, "name": self.name, **fields, **meaning}


@dataclass(frozen=True)
class LevelConditions(Conditions):
    """Conditions that a category is each level, or missing; unknown levels meet none."""

    name: str
    levels: tuple[Level, ...]
    missing: bool
    kind = "category"

    @classmethod
    def learn(cls, name: str, rows: Columns, min_count: int) -> tuple[LevelConditions, WordTable]:
        """Learn the levels that occur in at least ``min_count`` rows."""
        absent = np.array([is_missing(cell) for cell in rows.cells[name]], dtype=np.bool_)
        levels = levels_of(rows.cells[name], repr(name))
        if len(levels) > max(MAX_LEVELS, np.count_nonzero(~absent) / 2):
            warn_once(
                f"column {name!r} holds {len(levels):,} distinct values in {rows.n_rows:,} rows; "
                "only values of several rows are used. Name the column in text_columns if it "
                "holds texts, or drop it"
            )
            min_count = max(2, min_count)
        conditions = cls(name, levels, bool(absent.any()))
        counts = np.bincount(conditions.held(rows).words, minlength=len(levels))
        frequent = tuple(level for k, level in enumerate(levels) if counts[k] >= min_count)
        conditions = replace(conditions, levels=frequent)
        return conditions, conditions.held(rows)

    @cached_property
    def words(self) -> tuple[str, ...]:
        words = [f"{self.name} is {level}" for level in self.levels]
        return (*words, f"{self.name} is missing") if self.missing else tuple(words)

    def held(self, rows: Columns) -> WordTable:
        cells = rows.cells[self.name]
        numbers = Categories(self.levels).numbers(cells, repr(self.name))
        if self.missing:
            numbers[[is_missing(cell) for cell in cells]] = len(self.levels)
        is_level = ~np.isnan(numbers)
        return WordTable(starts_of(is_level), numbers[is_level].astype(np.int32), len(self.words))

    def to_dict(self) -> dict[str, Any]:
        fields = {"levels": list(self.levels), "missing": self.missing}
        return {"kind": self.kind, "name": self.name, **fields}


def read_conditions(
    content: Mapping[str, Any], options: TextFeatures, vocabulary: tuple[str, ...]
) -> Conditions:
    """Return the conditions of a ``to_dict``; ``vocabulary`` begins with their words."""
    fields = dict(content)
    kind, name = fields.pop("kind"), fields.pop("name")
    if not isinstance(name, str):
        raise ValueError(f"{name!r} is not the name of a column")
    if kind == TextConditions.kind:
        count = fields.pop("words")
        if type(count) is not int or not 1 <= count <= len(vocabulary):
            raise ValueError(f"{name!r} has {count!r} words, but {len(vocabulary)} remain")
        words = tuple(word.removeprefix(f"{name}: ") for word in vocabulary[:count])
        return TextConditions(name, TextFeatures.from_dict(options.to_dict(), words), **fields)
    if not isinstance(fields["missing"], bool):
        raise ValueError(f"missing is {fields['missing']!r}")
    if kind == NumberConditions.kind:
        cuts = fields.pop("thresholds")
        with np.errstate(over="ignore"):
            rounded = np.array(cuts, dtype=np.float32)
        is_valid = rounded.ndim == 1 and rounded.size <= MAX_THRESHOLDS and rounded.tolist() == cuts
        if not is_valid or not (np.isfinite(rounded).all() and (np.diff(rounded) > 0).all()):
            raise ValueError(f"the thresholds of {name!r} are not in order, or not of 32 bits")
        meaning = from_json(fields.pop("meaning")) if "meaning" in fields else PLAIN
        return NumberConditions(name, tuple(cuts), **fields, meaning=meaning)
    if kind == LevelConditions.kind:
        levels = fields.pop("levels")
        if not all(isinstance(level, str | bool | int | float) for level in levels):
            raise ValueError(f"the levels of {name!r} are not all text, numbers or booleans")
        return LevelConditions(name, Categories.from_json({"levels": levels}).levels, **fields)
    raise ValueError(f"{kind!r} is not a kind of column")


def _rounded(values: NDArray[np.floating]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # a value too large for 32 bits is above every threshold
        return np.asarray(values, dtype=np.float32)


def _cuts(values: NDArray[np.float32]) -> tuple[float, ...]:
    """Return thresholds halfway between adjacent values, at quantiles if there are too many."""
    distinct, counts = np.unique(np.nan_to_num(values), return_counts=True)
    ends = np.arange(max(0, distinct.size - 1))
    if ends.size > MAX_THRESHOLDS:
        below = np.cumsum(counts)
        parts = below[-1] * np.arange(1, MAX_THRESHOLDS + 1) // (MAX_THRESHOLDS + 1)
        ends = np.unique(np.searchsorted(below, parts))
        ends = ends[ends < distinct.size - 1]
    low, high = distinct[ends].astype(np.float64), distinct[ends + 1]
    half = ((low + high) / 2).astype(np.float32)
    return tuple(np.where(half < high, half, distinct[ends]).tolist())


@dataclass(frozen=True)
class MixedFeatures:
    """The conditions on each column; ``text`` names the columns of texts.

    Other columns hold numbers if their type is numeric, else categories. Columns are found by name,
    in any order, and columns that were not in fit are ignored.

    >>> rows = [{"said": "lost card", "age": 40}, {"said": "top up", "age": 20}]
    >>> features, table = MixedFeatures(TextFeatures((1, 1)), ("said",)).learn(rows)
    >>> features.vocabulary
    ('said: card', 'said: lost', 'said: top', 'said: up', 'age > 30', 'age ≤ 30')
    >>> [features.say(word) for word in features.transform(rows[:1]).words]
    ["said contains 'card'", "said contains 'lost'", 'age > 30']
    """

    options: TextFeatures
    text: tuple[str, ...]
    columns: tuple[Conditions, ...] = ()

    @classmethod
    def checked(cls, options: TextFeatures, text: object) -> MixedFeatures:
        """Return features for a list of the columns that hold texts, as users give it."""
        named = text if isinstance(text, list | tuple) else None
        if named is None or not all(isinstance(name, str) for name in named):
            raise invalid(
                "text_columns",
                text,
                "may be a list of the columns that hold texts, such as ['subject', 'body'], or "
                "None for rows that are texts themselves",
            )
        return cls(options, tuple(named))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The name of each word, column by column."""
        return tuple(word for column in self.columns for word in column.words)

    def say(self, number: int) -> str:
        column = bisect_right(self._before, number) - 1
        return self.columns[column].say(number - self._before[column])

    @cached_property
    def _before(self) -> list[int]:
        sizes = [len(column.words) for column in self.columns]
        return list(accumulate(sizes[:-1], initial=0))

    def read(self, rows: Any) -> Columns:
        """Return the columns of a data frame or a list of mappings; refuse missing columns."""
        alone = len(self.text) == len(self.columns) == 1
        if alone and isinstance(rows, list | tuple) and all(isinstance(r, str) for r in rows):
            rows = [{self.text[0]: row} for row in rows]
        elif self.columns and not isinstance(rows, list | tuple | Columns) and are_records(rows):
            rows = [rows]
        columns = Rows.of(rows).columns()
        levels, names = self.reading()
        expected = (*self.text, *levels.sources(names))
        lacking = [name for name in expected if name not in columns.cells]
        if lacking:
            raise DataError(
                f"X has no column {', '.join(map(repr, lacking))}; its columns are "
                f"{', '.join(map(repr, columns.cells))}. Use the column names of fit, or name "
                "others in text_columns"
            )
        return columns

    def values(self, rows: object) -> Columns:
        """Return the texts and levels of rows, and their numbers as read in fit."""
        columns = self.read(rows)
        levels, names = self.reading()
        table = columns.like(names, levels) if names else None
        cells: dict[str, Any] = {name: columns.cells[name] for name in self.text}
        for j, name in enumerate(names):
            assert table is not None
            in_levels = j in levels
            cells[name] = columns.levels(name, levels.columns[j]) if in_levels else table.column(j)
        return Columns(cells, columns.origin)

    def reading(self) -> tuple[Levels, list[str]]:
        """Return the levels and the names of the columns that do not hold texts."""
        kinds, names = list[ColumnKind](), list[str]()
        for column in self.columns:
            if isinstance(column, LevelConditions):
                kinds.append(Categories(column.levels))
            elif isinstance(column, NumberConditions):
                kinds.append(column.meaning)
            if not isinstance(column, TextConditions):
                names.append(column.name)
        return Levels.of_kinds(kinds), names

    def learn(self, rows: object) -> tuple[MixedFeatures, WordTable]:
        """Learn the conditions on each column; return them, and the table of the rows."""
        columns = replace(self, columns=()).read(rows)
        learned = list(self._learned(columns))
        text = tuple(name for name in columns.cells if name in self.text)
        features = replace(self, text=text, columns=tuple(column for column, _ in learned))
        if not features.vocabulary:
            raise DataError(
                f"no column of {', '.join(map(repr, columns.cells))} varies, so there is nothing "
                "to learn from; pass at least one column that varies"
            )
        return features, beside([words for _, words in learned], features.vocabulary)

    def _learned(self, columns: Columns) -> Iterator[tuple[Conditions, WordTable]]:
        table = columns.table(self.text) if columns.cells.keys() - {*self.text} else None
        for name in columns.cells:
            if name in self.text:
                yield TextConditions.learn(name, columns, self.options)
                continue
            assert table is not None
            for j in table.made_of(name):
                if j in table.levels:
                    levels = Columns({name: columns.levels(name, table.levels.columns[j])})
                    yield LevelConditions.learn(name, levels, self.options.min_count)
                else:
                    numbers = Columns({table.name(j): table.column(j)})
                    yield NumberConditions.learn(table.name(j), numbers, table.levels.kind(j))

    def transform(self, rows: object) -> WordTable:
        values = self.values(rows)
        return beside([column.held(values) for column in self.columns], self.vocabulary)

    def lines(self, rows: object) -> list[str]:
        return self.values(rows).lines(self.names)

    def parameters(self) -> dict[str, Any]:
        return {**self.options.parameters(), "text_columns": list(self.text)}

    def to_dict(self) -> dict[str, Any]:
        """Return values for JSON, without the words of texts, which are saved separately."""
        columns = [column.to_dict() for column in self.columns]
        return {"options": self.options.to_dict(), "columns": columns}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], vocabulary: tuple[str, ...]) -> MixedFeatures:
        options = TextFeatures.from_dict(content["options"], ())
        columns: list[Conditions] = []
        used = 0
        for column in content["columns"]:
            columns.append(read_conditions(column, options, vocabulary[used:]))
            used += len(columns[-1].words)
        text = [column.name for column in columns if column.kind == TextConditions.kind]
        features = cls(options, tuple(text), tuple(columns))
        if len(set(features.names)) < len(columns):
            raise ValueError("two columns have the same name")
        if features.vocabulary != vocabulary:
            raise ValueError("the words are not those of the columns")
        return features


def read_features(
    content: Mapping[str, Any], vocabulary: tuple[str, ...]
) -> TextFeatures | MixedFeatures:
    """Return the features from the dictionary that ``to_dict`` gave."""
    kind = MixedFeatures if "columns" in content else TextFeatures
    return kind.from_dict(content, vocabulary)
