"""The three oracles of Schapire 1990: examples as they come, and filtered by the rules so far.

    EX    examples of D
    EX2   a fair coin: the next example that h1 gets right, or the next that it gets wrong
    EX3   the next example on which h1 and h2 disagree

The examples that h1 gets right come one after the other as independent draws, and so do those it
gets wrong, whatever comes between them. So EX2 may keep what it has drawn too much of for the next
time: only counts decide what is kept, never what an example looks like.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.majority import named
from pacboost.samples.bins import Bins, fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.oracle import REPLACED, AbstractOracle
from pacboost.training.filtering.rows import EncodedRows, RowEncoder

LEAST_AT_ONCE = 256
MOST_AT_ONCE = 32_768
ROWS_FOR_BINS = 5_000
SHARE_FOR_BINS = 0.2

Watch = Callable[[NDArray[np.bool_]], None]
"""Called with a flag for each example that a filter drew: whether it was looked for."""


class RanOut(Exception):  # noqa: N818 - the end of a stream is not an error
    """There are no more examples; the text says why."""


class Oracle(ABC):
    """Independent examples of one distribution, as many as are asked for."""

    @abstractmethod
    def draw(self, count: int) -> EncodedRows:
        """Return the next examples."""


class Source(Oracle):
    """EX itself: the rows of an oracle, each used once until they run out.

    Then the rows of ``spare`` follow, or the same rows again where there is no ``spare``.
    """

    def __init__(
        self,
        oracle: AbstractOracle,
        intake: RowEncoder,
        most: int | None = None,
        spare: AbstractOracle | None = None,
    ) -> None:
        self._oracle, self._encoder, self._most, self._spare = oracle, intake, most, spare
        self.draws = 0
        self.again = 0
        """The number of draws that repeated a row."""

    def draw(self, count: int) -> EncodedRows:
        parts: list[EncodedRows] = []
        while count > 0:
            if self._most is not None and self.draws >= self._most:
                raise RanOut(f"max_draws = {self._most:,} examples are used up")
            batch = self._oracle.draw(min(count, MOST_AT_ONCE))
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
        return parts[0] if len(parts) == 1 else EncodedRows.join(parts)


class Filter(Oracle):
    """An oracle that draws from another one until it has found enough rare examples."""

    def __init__(self, parent: Oracle, watch: Watch) -> None:
        self._parent, self._watch = parent, watch
        self._looked = self._found = 0

    def _more(self, missing: int) -> tuple[EncodedRows, NDArray[np.bool_]]:
        """Draw about as many as it takes to find the missing ones; tell which they are."""
        rate = (self._found + 1) / (self._looked + 2)
        examples = self._parent.draw(int(np.clip(missing / rate, LEAST_AT_ONCE, MOST_AT_ONCE)))
        wanted = self._wanted(examples)
        self._looked += wanted.size
        self._found += int(np.count_nonzero(wanted))
        self._watch(wanted)
        return examples, wanted

    @abstractmethod
    def _wanted(self, examples: EncodedRows) -> NDArray[np.bool_]:
        """Return which examples are the rare ones that are looked for."""


class Halves(Filter):
    """EX2: half of its examples are those that ``rule`` gets wrong."""

    def __init__(self, parent: Oracle, rule: Hypothesis, seed: int, watch: Watch) -> None:
        super().__init__(parent, watch)
        self._rule = rule
        self._coins = np.random.default_rng(seed)
        self._kept: dict[bool, EncodedRows | None] = {True: None, False: None}

    def draw(self, count: int) -> EncodedRows:
        coins = self._coins.random(count) < 0.5
        needed = {True: int(coins.sum()), False: count - int(coins.sum())}
        while True:
            missing = {side: needed[side] - _size(self._kept[side]) for side in needed}
            if max(missing.values()) <= 0:
                break
            examples, wrong = self._more(max(missing.values()))
            for side, size in needed.items():
                # What is left over may serve the next time, but one side may be plenty.
                room = size + count - _size(self._kept[side])
                own = np.flatnonzero(wrong == side)[: max(0, room)]
                if own.size:
                    self._kept[side] = _join(self._kept[side], examples.take(own))
        taken: list[EncodedRows] = []
        for side, size in needed.items():
            kept = self._kept[side]
            if kept is not None:
                taken.append(kept.take(np.arange(size)))
                self._kept[side] = kept.take(np.arange(size, kept.n_rows))
        order = np.argsort(np.argsort(~coins, kind="stable"), kind="stable")
        return EncodedRows.join(taken).take(order)

    def _wanted(self, examples: EncodedRows) -> NDArray[np.bool_]:
        return wrong(self._rule, examples)


class Disagreements(Filter):
    """EX3: its examples are those on which two rules disagree."""

    def __init__(self, parent: Oracle, first: Hypothesis, second: Hypothesis, watch: Watch) -> None:
        super().__init__(parent, watch)
        self._first, self._second = first, second
        self._kept: EncodedRows | None = None

    def draw(self, count: int) -> EncodedRows:
        """Find as many as asked for; surplus examples are kept for the next call."""
        while _size(self._kept) < count:
            examples, apart = self._more(count - _size(self._kept))
            if apart.any():
                self._kept = _join(self._kept, examples.take(np.flatnonzero(apart)))
        kept = self._kept
        assert kept is not None
        self._kept = kept.take(np.arange(count, kept.n_rows))
        return kept.take(np.arange(count))

    def _wanted(self, examples: EncodedRows) -> NDArray[np.bool_]:
        sample = as_sample(examples)
        return np.asarray(named(self._first, sample) != named(self._second, sample))


def as_sample(examples: EncodedRows) -> Sample:
    """Make a sample from examples and their codes."""
    bins = getattr(examples.table, "bins", None)
    return Sample(examples.table, examples.signs, bins=bins, labels=examples.labels)


def wrong(rule: Hypothesis, examples: EncodedRows) -> NDArray[np.bool_]:
    """Return which examples a rule gets wrong; a rule that gives no answer is wrong."""
    return np.asarray(named(rule, as_sample(examples)) != (examples.signs[:, 0] > 0))


def _size(examples: EncodedRows | None) -> int:
    return 0 if examples is None else examples.n_rows


def _join(kept: EncodedRows | None, more: EncodedRows) -> EncodedRows:
    return more if kept is None else EncodedRows.join([kept, more])


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
        raise DataError("the source holds no rows; at least one is needed")
    table = ArrayTable(np.concatenate(tables))
    return fit_bins(table, max_bins) if codes else None, np.concatenate(labels)
