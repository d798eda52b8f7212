"""Tables that mix columns of texts, numbers and categories, all read as words.

Like a vocabulary, the thresholds and levels are learned from the training set and saved in the
model, so that prediction reads a row exactly as training did.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from pacboost.errors import DataError, invalid
from pacboost.sources.column_conditions import (
    Conditions,
    LevelConditions,
    NumberConditions,
    TextConditions,
    read_conditions,
)
from pacboost.sources.columns import Columns
from pacboost.sources.levels import Levels
from pacboost.sources.sparse import WordTable, beside
from pacboost.sources.text import TextFeatures


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
        """The names of the columns, in the order of their words."""
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
        columns = Columns.of(rows)
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
            levels_of_column = levels.columns.get(j)
            cells[name] = (
                table.column(j)
                if levels_of_column is None
                else columns.levels(name, levels_of_column)
            )
        return Columns(cells, columns.origin)

    def reading(self) -> tuple[Levels, list[str]]:
        """Return the levels and the names of the columns that do not hold texts."""
        others = [column for column in self.columns if not isinstance(column, TextConditions)]
        levels = {
            j: column.levels
            for j, column in enumerate(others)
            if isinstance(column, LevelConditions)
        }
        numbers = (
            (j, column) for j, column in enumerate(others) if isinstance(column, NumberConditions)
        )
        ways = {j: column.written for j, column in numbers if column.written}
        return Levels(levels, ways), [column.name for column in others]

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
                    way = table.levels.written.get(j, "")
                    yield NumberConditions.learn(table.name(j), numbers, way)

    def transform(self, rows: object) -> WordTable:
        """Return the table of the words that each row contains."""
        values = self.values(rows)
        return beside([column.held(values) for column in self.columns], self.vocabulary)

    def lines(self, rows: object) -> list[str]:
        return self.values(rows).lines(self.names)

    def parameters(self) -> dict[str, Any]:
        """Return the estimator parameters that give these options."""
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
    """Return the features that ``to_dict`` of either class described."""
    kind = MixedFeatures if "columns" in content else TextFeatures
    return kind.from_dict(content, vocabulary)
