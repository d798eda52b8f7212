"""A list of words as one rule: the first that a text contains speaks, or every one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Cells, CellValues, Hypothesis, Names, value_words
from pacboost.kernels import words as kernels
from pacboost.kernels.runtime.threads import each_rows
from pacboost.numerics.exact import VOTE_UNIT
from pacboost.samples.sample import Sample
from pacboost.sources.sparse import WordTable, words_of
from pacboost.sources.table import Table

MOST_WORDS_NAMED = 4
GRID = 2.0**-16
"""Values are multiples of this: a list has many of them, and few digits make small files."""


@dataclass(frozen=True, eq=False)
class WordList(Hypothesis):
    """If it contains the first word, these values; else if the second, those; …; else the last.

    A decision list (Rivest 1987) whose cells are its words, and one more for texts that contain
    none. A list that ``abstains`` adds 0 there; one of a single word is the rule of
    BoosTexter (Schapire and Singer 2000). If ``every`` word speaks, the list is a linear function:
    the last values are added to those of all words that the text contains.

    >>> table = WordTable(np.array([0, 2, 3, 3]), np.array([0, 1, 1]), 2, ("card", "lost"))
    >>> rule = WordList(np.array([1, 0]), np.array([[1.5], [-0.5], [0.0]]))
    >>> rule.cells(Sample(table, np.ones((3, 1), np.int8))).tolist()
    [0, 0, 2]
    >>> rule.words(Names(table.name))
    "if it contains 'lost' → +1.5, else if it contains 'card' → -0.5"
    >>> replace(rule, every=True).said(Sample(table, np.ones((3, 1), np.int8))).tolist()
    [[1.0], [1.5], [0.0]]
    """

    asked: NDArray[np.int32]
    """The number of each word, in the order of the list."""
    values: CellValues
    abstains: bool = True
    every: bool = False

    @classmethod
    def constant(cls, outputs: int) -> WordList:
        """Return the list of no word, which adds the same to the scores of every text."""
        return cls(np.empty(0, dtype=np.int32), np.zeros((1, outputs)), abstains=False)

    @property
    def silent(self) -> int | None:
        return self.asked.size if self.abstains else None

    @property
    def adds_up(self) -> bool:
        return self.every

    def cells(self, sample: Sample) -> Cells:
        cells = no_cells(sample.n_rows, self.asked.size)
        for place in range(self.asked.size - 1, -1, -1):  # those before have the last word
            cells[_holding(sample.table, int(self.asked[place]))] = place
        return cells

    @property
    def added(self) -> CellValues:
        """What each word says beyond what the list would have said without it."""
        return self.values[:-1] if self.every else self.values[:-1] - self.values[-1]

    def said(self, sample: Sample) -> CellValues:
        if not self.every:
            return super().said(sample)
        return WordIndex.of([self], [1.0]).scores(words_of(sample.table))

    @property
    def largest(self) -> float:
        if not self.every:
            return super().largest
        return float(np.abs(self.values).sum(axis=0).max())

    def allowed(self, values: CellValues, unit: float = VOTE_UNIT) -> CellValues:
        """Round to the grid, and keep silent where none of the words occurs, if so agreed."""
        kept: CellValues = np.rint(values / GRID) * GRID if unit < GRID else values.copy()
        kept += 0.0  # a file holds whole steps, of which -0 is none
        if self.abstains:
            kept[-1] = 0
        return kept

    def valued(self, values: CellValues, weights: NDArray[np.float64]) -> WordList:
        return replace(self, values=values)

    def features(self) -> set[int]:
        return set(self.asked.tolist())

    def importances(self, vote: float, n_features: int) -> NDArray[np.float64]:
        most = np.abs(self.added).max(axis=1)
        return np.bincount(self.asked, vote * most, n_features).astype(np.float64)

    def words(self, names: Names) -> str:
        if not self.asked.size:
            return f"always {value_words(self.values[0], names)}"
        said = [
            f"if {names.holds(int(word))} → {value_words(line, names)}"
            for word, line in zip(self.asked[:MOST_WORDS_NAMED], self.values, strict=False)
        ]
        more = self.asked.size - len(said)
        said += [f"… ({more} more)"] if more else []
        said += [] if self.abstains else [value_words(self.values[-1], names)]
        return (", and " if self.every else ", else ").join(said)


def no_cells(rows: int, words: int) -> Cells:
    """Return every row the last cell of a list of so many words."""
    return np.full(rows, words, dtype=np.uint16 if words < 2**16 else np.uint32)


def _holding(table: Table, word: int) -> NDArray[np.integer]:
    if isinstance(table, WordTable):
        return table.holding(word)
    column = table.block(word, word + 1)[:, 0]
    return np.flatnonzero((column != 0) & ~np.isnan(column))


@dataclass(frozen=True, eq=False)
class WordIndex:
    """Many lists turned over: for every word, the lists that ask for it and what they then say.

    A text costs as much as its words stand in lists, however many lists there are.
    """

    entries: NDArray[np.int64]
    lists: NDArray[np.int32]
    """Their numbers; -1 for lists of which every word speaks."""
    lines: NDArray[np.int32]
    n_lists: int
    values: NDArray[np.float64]
    """What a word says beyond what its list would have said without it."""
    silent: NDArray[np.float64]
    """What all lists say of a text that contains none of their words."""

    @classmethod
    def of(cls, rules: Sequence[WordList], votes: Sequence[float]) -> WordIndex:
        """Turn lists over, with their votes multiplied in."""
        sizes = [rule.asked.size for rule in rules]
        words = np.concatenate([rule.asked for rule in rules])
        last = [vote * rule.values[-1] for rule, vote in zip(rules, votes, strict=True)]
        said = np.empty((words.size, last[0].size))
        for rule, vote, part in zip(rules, votes, np.split(said, np.cumsum(sizes)), strict=False):
            np.multiply(rule.added, vote, out=part)
        order = np.argsort(words, kind="stable")
        counts = np.bincount(words, minlength=1)
        numbers = [-1 if rule.every else number for number, rule in enumerate(rules)]
        return cls(
            np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)]),
            np.repeat(np.array(numbers, dtype=np.int32), sizes)[order],
            order.astype(np.int32),
            len(rules),
            said,
            np.sum(last, axis=0),
        )

    def scores(self, table: WordTable) -> NDArray[np.float64]:
        """Return what all lists say of every row, (rows, outputs)."""
        scores = np.tile(self.silent, (table.n_rows, 1))

        def task(start: int, stop: int) -> None:
            kernels.score(
                table.starts,
                table.words,
                self.entries,
                self.lists,
                self.lines,
                self.n_lists,
                self.values,
                start,
                scores[start:stop],
            )

        each_rows(task, table.n_rows, width=self.silent.size)
        return scores
