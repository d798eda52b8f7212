"""The three oracles of Schapire 1990: unfiltered examples, and examples filtered by rules.

    EX    examples of D
    EX2   a fair coin: the next example that h1 gets right, or the next that it gets wrong
    EX3   the next example on which h1 and h2 disagree

The examples that h1 gets right are a sequence of independent draws, and so are those it gets wrong.
So EX2 may keep surplus examples for the next call: only counts decide which examples it keeps,
never their values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.hypotheses.decision import named
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.samples.bins import Bins, fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.oracle import REPLACED, AbstractOracle
from pacboost.training.filtering.rows import CodedBatch, RowEncoder

MIN_BATCH_ROWS = 256
MAX_BATCH_ROWS = 32_768
ROWS_FOR_BINS = 5_000
SHARE_FOR_BINS = 0.2

Watch = Callable[[NDArray[np.bool_]], None]
"""Called with a flag for each example that a filter drew: whether it matches."""


class RanOut(Exception):  # noqa: N818 - the end of a stream is not an error
    """There are no more examples; the message says why."""


class Oracle(ABC):
    """Independent examples of one distribution."""

    @abstractmethod
    def draw(self, count: int) -> CodedBatch:
        """Return the next examples."""


class Source(Oracle):
    """EX: the rows of an oracle, each used once until they run out.

    Then the rows of ``spare`` follow, or the same rows again without a ``spare``.
    """

    def __init__(
        self,
        oracle: AbstractOracle,
        encoder: RowEncoder,
        max_draws: int | None = None,
        spare: AbstractOracle | None = None,
    ) -> None:
        self._oracle, self._encoder = oracle, encoder
        self._max_draws, self._spare = max_draws, spare
        self.draws = 0
        self.again = 0
        """The number of draws that repeated a row."""

    def draw(self, count: int) -> CodedBatch:
        parts: list[CodedBatch] = []
        while count > 0:
            if self._max_draws is not None and self.draws >= self._max_draws:
                raise RanOut(f"max_draws = {self._max_draws:,} examples are used up")
            batch = self._oracle.draw(min(count, MAX_BATCH_ROWS))
            if batch.lap > 0 and self._spare is not None:
                self._oracle, self._spare = self._spare, None
                continue
            if batch.n_rows == 0:
                raise RanOut(f"the stream has ended after {self.draws:,} examples")
            self.draws += batch.n_rows
            if batch.lap > 0 or self._oracle.order is REPLACED:
                self.again += batch.n_rows
            parts.append(self._encoder.read(batch))
            count -= batch.n_rows
        return parts[0] if len(parts) == 1 else CodedBatch.join(parts)


class Filter(Oracle):
    """An oracle that draws from another one until enough examples match."""

    def __init__(self, parent: Oracle, watch: Watch) -> None:
        self._parent, self._watch = parent, watch
        self._looked = self._found = 0

    def _draw_more(self, missing: int) -> tuple[CodedBatch, NDArray[np.bool_]]:
        """Draw about as many examples as the missing matches need; also return which match."""
        # Laplace's estimate, as a filter that has found nothing yet has no rate of 0
        rate = (self._found + 1) / (self._looked + 2)
        examples = self._parent.draw(int(np.clip(missing / rate, MIN_BATCH_ROWS, MAX_BATCH_ROWS)))
        matches = self._matches(examples)
        self._looked += matches.size
        self._found += int(np.count_nonzero(matches))
        self._watch(matches)
        return examples, matches

    @abstractmethod
    def _matches(self, examples: CodedBatch) -> NDArray[np.bool_]:
        """Return which examples match."""


class Halves(Filter):
    """EX2: half of its examples are those that ``rule`` gets wrong."""

    def __init__(self, parent: Oracle, rule: Hypothesis, seed: int, watch: Watch) -> None:
        super().__init__(parent, watch)
        self._rule = rule
        self._coins = np.random.default_rng(seed)
        self._surplus: dict[bool, CodedBatch | None] = {True: None, False: None}

    def draw(self, count: int) -> CodedBatch:
        coins = self._coins.random(count) < 0.5
        needed = {True: int(coins.sum()), False: count - int(coins.sum())}
        while missing := max(0, *(needed[side] - _size(self._surplus[side]) for side in needed)):
            examples, wrong = self._draw_more(missing)
            for side, size in needed.items():
                # A surplus may serve the next call; it is limited because one side may be common.
                room = size + count - _size(self._surplus[side])
                side_rows = np.flatnonzero(wrong == side)[: max(0, room)]
                if side_rows.size:
                    self._surplus[side] = _join(self._surplus[side], examples.take(side_rows))
        taken: list[CodedBatch] = []
        for side, size in needed.items():
            surplus = self._surplus[side]
            if surplus is not None:
                taken.append(surplus.take(np.arange(size)))
                self._surplus[side] = surplus.take(np.arange(size, surplus.n_rows))
        # the coins say which place is of which side; the examples of a side fill its places in the
        # order of their draws
        order = np.argsort(np.argsort(~coins, kind="stable"), kind="stable")
        return CodedBatch.join(taken).take(order)

    def _matches(self, examples: CodedBatch) -> NDArray[np.bool_]:
        return wrong(self._rule, examples)


class Disagreements(Filter):
    """EX3: its examples are those on which two rules disagree."""

    def __init__(self, parent: Oracle, first: Hypothesis, second: Hypothesis, watch: Watch) -> None:
        super().__init__(parent, watch)
        self._first, self._second = first, second
        self._surplus: CodedBatch | None = None

    def draw(self, count: int) -> CodedBatch:
        while _size(self._surplus) < count:
            examples, apart = self._draw_more(count - _size(self._surplus))
            if apart.any():
                self._surplus = _join(self._surplus, examples.take(np.flatnonzero(apart)))
        surplus = self._surplus
        assert surplus is not None
        self._surplus = surplus.take(np.arange(count, surplus.n_rows))
        return surplus.take(np.arange(count))

    def _matches(self, examples: CodedBatch) -> NDArray[np.bool_]:
        sample = as_sample(examples)
        return np.asarray(named(self._first, sample) != named(self._second, sample))


def as_sample(examples: CodedBatch) -> Sample:
    """Make a sample from examples and their codes."""
    bins = getattr(examples.table, "bins", None)
    return Sample(examples.table, examples.signs, bins=bins, labels=examples.labels)


def wrong(rule: Hypothesis, examples: CodedBatch) -> NDArray[np.bool_]:
    """Return which examples a rule gets wrong; no answer is wrong."""
    return np.asarray(named(rule, as_sample(examples)) != (examples.signs[:, 0] > 0))


def _size(examples: CodedBatch | None) -> int:
    return 0 if examples is None else examples.n_rows


def _join(first: CodedBatch | None, second: CodedBatch) -> CodedBatch:
    return second if first is None else CodedBatch.join([first, second])


def look(oracle: AbstractOracle, max_bins: int, *, codes: bool) -> tuple[Bins | None, NDArray[Any]]:
    """Read some rows to choose bins and labels; tests must not use these rows again."""
    rows = ROWS_FOR_BINS
    if oracle.n_rows is not None:
        rows = max(1, min(rows, int(SHARE_FOR_BINS * oracle.n_rows)))
    tables, labels = [], []
    while rows > 0:
        batch = oracle.draw(rows)
        if batch.n_rows == 0 or batch.lap > 0:
            break
        tables.append(batch.table.rows())
        labels.append(batch.labels)
        rows -= batch.n_rows
    if not tables:
        raise DataError("the source has no rows; at least one is needed")
    table = ArrayTable(np.concatenate(tables))
    return fit_bins(table, max_bins) if codes else None, np.concatenate(labels)
