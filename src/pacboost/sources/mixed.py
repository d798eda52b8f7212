"""Mixed tables: columns of texts next to columns of numbers and of categories, all as words.

Like a vocabulary, the thresholds and levels come from the rows that are learned from, and go into
the model with the options: a row is read at prediction exactly as in training.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from pacboost.errors import DataError, ParameterError
from pacboost.sources.columns import Columns
from pacboost.sources.conditions import (
    Conditions,
    LevelConditions,
    NumberConditions,
    TextConditions,
    read_conditions,
)
from pacboost.sources.text import TextFeatures
from pacboost.sources.words import WordTable, beside


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
        """Return what a word asks."""
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
        columns = Columns.of(rows).dates_read()
        wanted = self.names or self.text
        lacking = [name for name in wanted if name not in columns.cells]
        if lacking:
            raise DataError(
                f"X has no column {', '.join(map(repr, lacking))}; its columns are "
                f"{', '.join(map(repr, columns.cells))}. Columns are found by their names: give "
                "them those that they had in fit, or name others in text_columns"
            )
        return columns

    def learn(self, rows: Any) -> tuple[MixedFeatures, WordTable]:
        """Find what can be asked about each column; give that, and the rows as a table."""
        read = replace(self, columns=()).read(rows)
        found = list(self._learned(read))
        text = tuple(name for name in read.cells if name in self.text)
        features = replace(self, text=text, columns=tuple(column for column, _ in found))
        if not features.vocabulary:
            raise DataError(
                f"no column of {', '.join(map(repr, read.cells))} tells rows apart, so there is "
                "nothing to learn from; give at least one that varies"
            )
        return features, beside([held for _, held in found], features.vocabulary)

    def _learned(self, rows: Columns) -> Iterator[tuple[Conditions, WordTable]]:
        for name in rows.cells:
            if name in self.text:
                yield TextConditions.learn(name, rows, self.options)
            elif rows.is_category(name):
                yield LevelConditions.learn(name, rows, self.options.min_count)
            else:
                yield NumberConditions.learn(name, rows)

    def transform(self, rows: Any) -> WordTable:
        """Return which of the words each row holds."""
        read = self.read(rows)
        return beside([column.held(read) for column in self.columns], self.vocabulary)

    def lines(self, rows: Any) -> list[str]:
        """Return every row as one text."""
        return self.read(rows).lines(self.names)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of an estimator that reads rows in this way."""
        return {**self.options.parameters(), "text_columns": list(self.text)}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; the words of texts are kept elsewhere."""
        columns = [column.to_dict() for column in self.columns]
        return {"options": self.options.to_dict(), "columns": columns}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], vocabulary: tuple[str, ...]) -> MixedFeatures:
        """Read what ``to_dict`` gave."""
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
