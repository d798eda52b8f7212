"""Mixed tables: columns of texts next to columns of numbers and of categories, all as words.

Like a vocabulary, the thresholds and levels come from the rows that are learned from, and go into
the model with the options: a row is read at prediction exactly as in training.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, InputWarning, ParameterError
from pacboost.sources import word_conditions
from pacboost.sources.categories import levels_of
from pacboost.sources.columns import Columns
from pacboost.sources.levels import Level, Levels, is_missing
from pacboost.sources.sparse import WordTable, beside
from pacboost.sources.table import starts_of
from pacboost.sources.text import TextFeatures
from pacboost.sources.written import is_way

# What can be asked about one column of a mixed table: words, thresholds and levels.
#
# Each condition is a word that a row holds or does not hold: ``age > 37.5`` is held by every row
# whose age is above it. So a rule about words is a rule about thresholds and levels as well, as in
# BoosTexter (Schapire and Singer 2000).

MOST_THRESHOLDS = 30
MOST_LEVELS = 254
"""A column with more levels than this has to have some of them twice."""


class Conditions(ABC):
    """The conditions on one column, numbered from 0."""

    name: str
    kind: str

    @property
    @abstractmethod
    def words(self) -> tuple[str, ...]:
        """What each condition is called."""

    @abstractmethod
    def held(self, rows: Columns) -> WordTable:
        """Return which conditions each row meets."""

    def say(self, number: int) -> str:
        return self.words[number]

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""


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
        """Find the vocabulary."""
        texts = rows.texts(name)
        try:
            features, held = options.learn(texts)
        except DataError as problem:
            raise DataError(f"column {name!r}: {problem}") from problem
        return cls(name, features), held

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(f"{self.name}: {word}" for word in self.features.vocabulary)

    def say(self, number: int) -> str:
        return word_conditions.said(self.features.vocabulary[number], self.name)

    def held(self, rows: Columns) -> WordTable:
        return self.features.transform(rows.texts(self.name))

    def to_dict(self) -> dict[str, Any]:
        """Return the number of words; the words themselves are kept elsewhere."""
        return {"kind": self.kind, "name": self.name, "words": len(self.features.vocabulary)}


@dataclass(frozen=True)
class NumberConditions(Conditions):
    """Each threshold of a column of numbers, from either side; and that the number is missing.

    A number lies above a threshold if it does so when rounded to 32 bits.

    >>> found, _ = NumberConditions.learn("age", Columns({"age": np.array([20, 40, np.nan])}), "")
    >>> found.words
    ('age > 30', 'age ≤ 30', 'age is missing')
    >>> found.held(Columns({"age": np.array([35.0, np.nan])})).words.tolist()
    [0, 2]
    """

    name: str
    thresholds: tuple[float, ...]
    missing: bool
    written: str = ""
    """How the numbers are written: see sources/written.py."""
    kind = "number"

    @classmethod
    def learn(cls, name: str, rows: Columns, way: str) -> tuple[NumberConditions, WordTable]:
        """Cut between the values seen, or at their quantiles if they are many."""
        values = _rounded(rows.cells[name])
        found = cls(name, _cuts(values[~np.isnan(values)]), bool(np.isnan(values).any()), way)
        return found, found.held(rows)

    @cached_property
    def words(self) -> tuple[str, ...]:
        ways = Levels({}, {0: self.written})
        said = [
            ways.condition(0, cut, [self.name], above=above)
            for above in (True, False)
            for cut in self.thresholds
        ]
        return (*said, f"{self.name} is missing") if self.missing else tuple(said)

    def held(self, rows: Columns) -> WordTable:
        values, cuts = _rounded(rows.cells[self.name]), np.array(self.thresholds, np.float32)
        known = ~np.isnan(values)
        above = np.searchsorted(cuts, values[known])
        number = np.arange(cuts.size)
        sides = number + cuts.size * (number >= above[:, None])
        starts = starts_of(np.where(known, cuts.size, int(self.missing)))
        words = np.full(starts[-1], 2 * cuts.size, dtype=np.int32)
        words[np.repeat(known, np.diff(starts))] = sides.ravel()
        return WordTable(starts, words, len(self.words))

    def to_dict(self) -> dict[str, Any]:
        own = {"thresholds": list(self.thresholds), "missing": self.missing}
        way = {"written": self.written} if self.written else {}
        return {"kind": self.kind, "name": self.name, **own, **way}


@dataclass(frozen=True)
class LevelConditions(Conditions):
    """Each level of a categorical column; and that it is missing. Levels never seen are none.

    >>> rows = Columns({"city": np.array(["Rome", "Bern", "Oslo"], dtype=object)})
    >>> LevelConditions("city", ("Bern", "Rome"), False).held(rows).words.tolist()
    [1, 0]
    """

    name: str
    levels: tuple[Level, ...]
    missing: bool
    kind = "category"

    @classmethod
    def learn(cls, name: str, rows: Columns, min_count: int) -> tuple[LevelConditions, WordTable]:
        """Find the levels that at least ``min_count`` rows have."""
        absent = _absent(rows.cells[name])
        levels = levels_of(rows.cells[name], repr(name))
        if len(levels) > max(MOST_LEVELS, np.count_nonzero(~absent) / 2):
            warnings.warn(
                f"column {name!r} holds {len(levels):,} different values in {rows.n_rows:,} rows; "
                "only those that several rows have are used. Name the column in text_columns if it "
                "holds texts, or leave it out",
                InputWarning,
                stacklevel=2,
            )
            min_count = max(2, min_count)
        found = cls(name, levels, bool(absent.any()))
        counts = np.bincount(found.held(rows).words, minlength=len(levels))
        kept = tuple(level for k, level in enumerate(levels) if counts[k] >= min_count)
        found = replace(found, levels=kept)
        return found, found.held(rows)

    @cached_property
    def words(self) -> tuple[str, ...]:
        said = [f"{self.name} is {level}" for level in self.levels]
        return (*said, f"{self.name} is missing") if self.missing else tuple(said)

    def held(self, rows: Columns) -> WordTable:
        found = Levels({0: self.levels}).numbers(0, rows.cells[self.name], repr(self.name))
        if self.missing:
            found = np.where(_absent(rows.cells[self.name]), len(self.levels), found)
        known = ~np.isnan(found)
        return WordTable(starts_of(known), found[known].astype(np.int32), len(self.words))

    def to_dict(self) -> dict[str, Any]:
        own = {"levels": list(self.levels), "missing": self.missing}
        return {"kind": self.kind, "name": self.name, **own}


def _absent(cells: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([is_missing(cell) for cell in cells], dtype=np.bool_)


def read_conditions(
    content: Mapping[str, Any], options: TextFeatures, vocabulary: tuple[str, ...]
) -> Conditions:
    """Read what ``to_dict`` gave; the vocabulary begins with the words of this column."""
    given = dict(content)
    kind, name = given.pop("kind"), given.pop("name")
    if not isinstance(name, str):
        raise ValueError(f"{name!r} is not the name of a column")
    if kind == TextConditions.kind:
        count = given.pop("words")
        if type(count) is not int or not 1 <= count <= len(vocabulary):
            raise ValueError(f"{name!r} has {count!r} words of {len(vocabulary)} that are left")
        words = tuple(word.removeprefix(f"{name}: ") for word in vocabulary[:count])
        return TextConditions(name, TextFeatures.from_dict(options.to_dict(), words), **given)
    if not isinstance(given["missing"], bool):
        raise ValueError(f"missing is {given['missing']!r}")
    if kind == NumberConditions.kind:
        cuts = given.pop("thresholds")
        with np.errstate(over="ignore"):
            rounded = np.array(cuts, dtype=np.float32)
        whole = rounded.ndim == 1 and rounded.size <= MOST_THRESHOLDS and np.isfinite(rounded).all()
        if not whole or rounded.tolist() != cuts or not (np.diff(rounded) > 0).all():
            raise ValueError(f"the thresholds of {name!r} are not in order, or not of 32 bits")
        if "written" in given and not is_way(given["written"]):
            raise ValueError(f"{name!r} is written in an unknown way, {given['written']!r:.40}")
        return NumberConditions(name, tuple(cuts), **given)
    if kind == LevelConditions.kind:
        levels = given.pop("levels")
        if not all(isinstance(level, str | bool | int | float) for level in levels):
            raise ValueError(f"the levels of {name!r} are not all text, numbers or booleans")
        return LevelConditions(name, Levels.from_dict({"0": levels}).columns[0], **given)
    raise ValueError(f"{kind!r} is not a kind of column")


def _rounded(values: NDArray[np.floating]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # too large for 32 bits, and so above every threshold
        return np.asarray(values, dtype=np.float32)


def _cuts(values: NDArray[np.float32]) -> tuple[float, ...]:
    """Cut halfway between neighbours, at quantiles if there are too many of them."""
    seen, counts = np.unique(np.nan_to_num(values), return_counts=True)
    ends = np.arange(max(0, seen.size - 1))
    if ends.size > MOST_THRESHOLDS:
        below = np.cumsum(counts)
        parts = below[-1] * np.arange(1, MOST_THRESHOLDS + 1) // (MOST_THRESHOLDS + 1)
        ends = np.unique(np.searchsorted(below, parts))
        ends = ends[ends < seen.size - 1]
    low, high = seen[ends].astype(np.float64), seen[ends + 1]
    half = ((low + high) / 2).astype(np.float32)
    return tuple(np.where(half < high, half, seen[ends]).tolist())


@dataclass(frozen=True)
class MixedFeatures:
    """What is asked about each column; ``text`` names the columns of texts.

    Other columns hold numbers if they are of such a type, else categories. Columns are found by
    their names, in whatever order they come, and columns that no fit has seen are passed over.

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

    def __post_init__(self) -> None:
        named = self.text if isinstance(self.text, list | tuple) else None
        if named is None or not all(isinstance(name, str) for name in named):
            raise ParameterError(
                f"text_columns is {self.text!r}; it may be a list of the columns that hold texts, "
                "such as ['subject', 'body'], or None for rows that are texts themselves"
            )
        object.__setattr__(self, "text", tuple(named))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order in which their words are numbered."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """What each word is called, column by column."""
        return tuple(word for column in self.columns for word in column.words)

    def say(self, number: int) -> str:
        column = bisect_right(self._before, number) - 1
        return self.columns[column].say(number - self._before[column])

    @cached_property
    def _before(self) -> list[int]:
        sizes = [len(column.words) for column in self.columns]
        return list(accumulate(sizes[:-1], initial=0))

    def read(self, rows: Any) -> Columns:
        """Check the input: a data frame, or rows that name their cells."""
        alone = len(self.text) == len(self.columns) == 1
        if alone and isinstance(rows, list | tuple) and all(isinstance(r, str) for r in rows):
            rows = [{self.text[0]: row} for row in rows]
        columns = Columns.of(rows)
        levels, names = self.reading()
        wanted = (*self.text, *levels.sources(names))
        lacking = [name for name in wanted if name not in columns.cells]
        if lacking:
            raise DataError(
                f"X has no column {', '.join(map(repr, lacking))}; its columns are "
                f"{', '.join(map(repr, columns.cells))}. Columns are found by their names: give "
                "them those that they had in fit, or name others in text_columns"
            )
        return columns

    def values(self, rows: Any) -> Columns:
        """Return the texts and levels of rows, and their numbers as the fit read them."""
        columns = self.read(rows)
        levels, names = self.reading()
        table = columns.like(names, levels) if names else None
        cells: dict[str, Any] = {name: columns.cells[name] for name in self.text}
        for j, name in enumerate(names):
            assert table is not None
            known = levels.columns.get(j)
            cells[name] = table.column(j) if known is None else columns.levels(name, known)
        return Columns(cells, columns.origin)

    def reading(self) -> tuple[Levels, list[str]]:
        """Return how the columns but those of texts are read, and their names."""
        others = [own for own in self.columns if not isinstance(own, TextConditions)]
        levels = {j: own.levels for j, own in enumerate(others) if isinstance(own, LevelConditions)}
        numbers = ((j, own) for j, own in enumerate(others) if isinstance(own, NumberConditions))
        ways = {j: own.written for j, own in numbers if own.written}
        return Levels(levels, ways), [own.name for own in others]

    def learn(self, rows: Any) -> tuple[MixedFeatures, WordTable]:
        """Find what can be asked about each column; give that, and the rows as a table."""
        columns = replace(self, columns=()).read(rows)
        found = list(self._learned(columns))
        text = tuple(name for name in columns.cells if name in self.text)
        features = replace(self, text=text, columns=tuple(column for column, _ in found))
        if not features.vocabulary:
            raise DataError(
                f"no column of {', '.join(map(repr, columns.cells))} tells rows apart, so there is "
                "nothing to learn from; give at least one that varies"
            )
        return features, beside([held for _, held in found], features.vocabulary)

    def _learned(self, columns: Columns) -> Iterator[tuple[Conditions, WordTable]]:
        read = columns.table(self.text) if columns.cells.keys() - {*self.text} else None
        for name in columns.cells:
            if name in self.text:
                yield TextConditions.learn(name, columns, self.options)
                continue
            assert read is not None
            for j in read.made_of(name):
                if j in read.levels:
                    levels = Columns({name: columns.levels(name, read.levels.columns[j])})
                    yield LevelConditions.learn(name, levels, self.options.min_count)
                else:
                    numbers = Columns({read.name(j): read.column(j)})
                    way = read.levels.written.get(j, "")
                    yield NumberConditions.learn(read.name(j), numbers, way)

    def transform(self, rows: Any) -> WordTable:
        """Return which of the words each row holds."""
        read = self.values(rows)
        return beside([column.held(read) for column in self.columns], self.vocabulary)

    def lines(self, rows: Any) -> list[str]:
        return self.values(rows).lines(self.names)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of an estimator that reads rows in this way."""
        return {**self.options.parameters(), "text_columns": list(self.text)}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; the words of texts are kept elsewhere."""
        columns = [column.to_dict() for column in self.columns]
        return {"options": self.options.to_dict(), "columns": columns}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], vocabulary: tuple[str, ...]) -> MixedFeatures:
        options = TextFeatures.from_dict(content["options"], ())
        columns: list[Conditions] = []
        used = 0
        for given in content["columns"]:
            columns.append(read_conditions(given, options, vocabulary[used:]))
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
    """Read what ``to_dict`` of either kind of features gave."""
    kind = MixedFeatures if "columns" in content else TextFeatures
    return kind.from_dict(content, vocabulary)
