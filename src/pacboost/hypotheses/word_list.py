"""A list of words as one rule: the first word in a text decides, or all of them add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.fields import OUTPUTS, Column, Field, FieldLines, RuleRun
from pacboost.hypotheses.hypothesis import Cells, CellValues, Hypothesis, Names, value_words
from pacboost.kernels.native import native
from pacboost.kernels.threads import each_rows
from pacboost.numerics.exact import VOTE_UNIT
from pacboost.samples.sample import Sample
from pacboost.sources.sparse import WordTable, words_of
from pacboost.sources.table import Table

MAX_WORDS_NAMED = 4
GRID = 2.0**-16
"""Values are multiples of this: a list has many values, and few digits make small files."""


@dataclass(frozen=True, eq=False)
class WordList(Hypothesis):
    """A decision list (Rivest 1987): the first of its words in a text determines the values.

    The cells are the words, and one more for texts that contain none of them. A list that
    ``abstains`` adds 0 there; a list of one word is the rule of BoosTexter (Schapire and Singer
    2000). With ``every``, the list is a linear function: the last values are added to those of all
    words that the text contains.

    >>> table = WordTable(np.array([0, 2, 3, 3]), np.array([0, 1, 1]), 2, ("card", "lost"))
    >>> rule = WordList(np.array([1, 0]), np.array([[1.5], [-0.5], [0.0]]))
    >>> rule.cells(Sample(table, np.ones((3, 1), np.int8))).tolist()
    [0, 0, 2]
    >>> rule.words(Names(table.names))
    "if it contains 'lost' → +1.5, else if it contains 'card' → -0.5"
    >>> replace(rule, every=True).said(Sample(table, np.ones((3, 1), np.int8))).tolist()
    [[1.0], [1.5], [0.0]]
    """

    tag: ClassVar[str] = "word_list"
    FIELDS: ClassVar[Mapping[str, Field]] = {
        "asked": Column(np.int32, FieldLines("words"), of_features=True),
        "values": Column(np.float64, FieldLines("words", more=1), OUTPUTS, unit=GRID),
        "abstains": Column(np.bool_),
        "every": Column(np.bool_),
    }
    BYTES: ClassVar[int] = 700
    BYTES_TO_CHECK: ClassVar[int] = 24

    asked: NDArray[np.int32]
    """The number of each word, in the order of the list."""
    values: CellValues
    abstains: bool = True
    every: bool = False

    @classmethod
    def constant(cls, outputs: int) -> WordList:
        return cls(np.empty(0, dtype=np.int32), np.zeros((1, outputs)), abstains=False)

    @classmethod
    def problem(cls, run: RuleRun) -> tuple[str, str] | None:
        words, abstains = run.counts["words"], run.arrays["abstains"]
        places = np.repeat(np.arange(words.size) * run.features, words) + run.arrays["asked"]
        places.sort()
        if (places[1:] == places[:-1]).any():
            return "asked", "names a word twice in one list"
        ends = np.cumsum(words + 1, dtype=np.int64)
        if run.arrays["values"][ends[abstains] - 1].any():
            return "values", "of a list that abstains are not 0 where no word occurs"
        return None

    @property
    def silent(self) -> int | None:
        return self.asked.size if self.abstains else None

    @property
    def adds_up(self) -> bool:
        return self.every

    def cells(self, sample: Sample) -> Cells:
        cells = no_cells(sample.n_rows, self.asked.size)
        for place in range(self.asked.size - 1, -1, -1):  # earlier words overwrite later ones
            cells[_holding(sample.table, int(self.asked[place]))] = place
        return cells

    @property
    def added(self) -> CellValues:
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
        """Round values to ``GRID``, and set the last ones to 0 if the list abstains."""
        # where votes are coarser, as for numbers of large size, their unit decides
        coarse = unit < GRID
        rounded: CellValues = np.rint(values / GRID) * GRID if coarse else values.copy()
        rounded += 0.0  # a file holds whole multiples, which cannot represent -0
        if self.abstains:
            rounded[-1] = 0
        return rounded

    def valued(self, values: CellValues, weights: NDArray[np.float64]) -> WordList:
        return replace(self, values=values)

    def features(self) -> set[int]:
        return set(self.asked.tolist())

    def importances(self, vote: float, n_features: int) -> NDArray[np.float64]:
        largest = np.abs(self.added).max(axis=1)
        return np.bincount(self.asked, vote * largest, n_features).astype(np.float64)

    def words(self, names: Names) -> str:
        if not self.asked.size:
            return f"always {value_words(self.values[0], names)}"
        parts = [
            f"if {names.holds(int(word))} → {value_words(line, names)}"
            for word, line in zip(self.asked[:MAX_WORDS_NAMED], self.values, strict=False)
        ]
        n_omitted = self.asked.size - len(parts)
        parts += [f"… ({n_omitted} more)"] if n_omitted else []
        parts += [] if self.abstains else [value_words(self.values[-1], names)]
        return (", and " if self.every else ", else ").join(parts)


def no_cells(rows: int, words: int) -> Cells:
    """Return the last cell of a list of ``words`` words for every row."""
    return np.full(rows, words, dtype=np.uint16 if words < 2**16 else np.uint32)


def _holding(table: Table, word: int) -> NDArray[np.integer]:
    if isinstance(table, WordTable):
        return table.holding(word)
    column = table.block(word, word + 1)[:, 0]
    # a column of a dense table counts as a word of the rows where it is not 0
    return np.flatnonzero((column != 0) & ~np.isnan(column))


@dataclass(frozen=True, eq=False)
class WordIndex:
    """An inverted index of lists: for every word, the lists that contain it and its values.

    The cost of a text is the number of entries of its words, for any number of lists.
    """

    entries: NDArray[np.int64]
    lists: NDArray[np.int32]
    """The number of the list of each entry; -1 for lists whose words add up."""
    lines: NDArray[np.int32]
    n_lists: int
    values: NDArray[np.float64]
    """The values of each word, relative to those of a text without words of the list."""
    silent: NDArray[np.float64]
    """The sum of the values of all lists for a text that contains none of their words."""

    @classmethod
    def of(cls, rules: Sequence[WordList], votes: Sequence[float]) -> WordIndex:
        sizes = [rule.asked.size for rule in rules]
        words = np.concatenate([rule.asked for rule in rules])
        last = [vote * rule.values[-1] for rule, vote in zip(rules, votes, strict=True)]
        values = np.empty((words.size, last[0].size))
        for rule, vote, part in zip(rules, votes, np.split(values, np.cumsum(sizes)), strict=False):
            np.multiply(rule.added, vote, out=part)
        # stable: of equal words, lists stay in the order of rounds
        order = np.argsort(words, kind="stable")
        counts = np.bincount(words, minlength=1)
        numbers = [-1 if rule.every else number for number, rule in enumerate(rules)]
        return cls(
            np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)]),
            np.repeat(np.array(numbers, dtype=np.int32), sizes)[order],
            order.astype(np.int32),
            len(rules),
            values,
            np.sum(last, axis=0),
        )

    def scores(self, table: WordTable) -> NDArray[np.float64]:
        scores = np.tile(self.silent, (table.n_rows, 1))

        index = self.entries, self.lists, self.lines, self.n_lists, self.values

        def task(start: int, stop: int) -> None:
            native.score_words(table.starts, table.words, index, start, scores[start:stop])

        each_rows(task, table.n_rows, width=self.silent.size)
        return scores
