"""Where candidates come from: the next rows of an oracle, or any rows of one that can be asked.

A row is looked at only if its number under the key of the refill is below what its weight may be;
it is kept if the same number is below what its weight is. So rows that were easy when they were
last looked at cost next to nothing, and what is kept is the same whatever is known of them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels import sieve
from pacboost.kernels.threads import each_rows
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.oracle import REPLACED, AbstractOracle, Batch
from pacboost.sources.table import SomeRows, Table
from pacboost.training.filtering.intake import Examples, Intake
from pacboost.training.filtering.keys import key_of, numbers

Floats = NDArray[np.float64]

CELLS_AT_ONCE = 2**21
MOST_AT_ONCE = 65_536
LEAST_AT_ONCE = 1_024
ROWS_PER_SWEEP = 2**20

SHARE_APART = 0.1
MORE_DRAWS = 20
"""So many times as many rows as are wanted apart may be drawn for them in the end."""

NEVER = 255
"""The kind of rows that were never looked at."""
APART = 254
"""The kind of rows that are set apart: nobody looks at them."""
BINNED = 253
"""The kind of rows of which only the bins know: no weights were seen, but they are not fresh."""
STEPS = 8
"""Kind k means a weight of at most 2**(-k/8) when last looked at, with room to grow."""
ROOM = 4.0
"""A weight may have grown so much since then before chances no longer follow it."""


@dataclass(frozen=True, eq=False)
class Offer:
    """Rows to be looked at."""

    batch: Batch
    new: NDArray[np.bool_]
    """Which rows were never learned from."""
    fresh: NDArray[np.bool_]
    """Which of those had no part in anything, not even in the choice of bins."""
    tickets: NDArray[np.uint64]
    """What each row's number is drawn by. A row that comes twice in a refill has two."""
    bounds: Floats | None = None
    """What the chance of each row to be looked at followed; None where all are."""


class Candidates(ABC):
    """A source of candidates."""

    whole: bool
    """Whether one refill sees all rows there are."""

    def __init__(self, oracle: AbstractOracle, seed: int) -> None:
        self.oracle = oracle
        self.seed = seed
        room = CELLS_AT_ONCE // max(1, oracle.n_columns)
        self.at_once = min(MOST_AT_ONCE, max(LEAST_AT_ONCE, room))
        self.ended = False

    @property
    def settled(self) -> bool:
        """Whether the oracle's position says where a run has come to."""
        return True

    @abstractmethod
    def offer(self, key: np.uint64, scale: float) -> Iterator[list[Offer]]:
        """Give helpings of candidates, as long as they are asked for and there are any.

        Helpings end where they do whatever the sizes of the oracle's batches: only between them
        may anything be decided.
        """

    def seen(self, rows: NDArray[np.uint64], chances: Floats) -> None:  # noqa: B027 - streams forget
        """Take note of what rows weigh."""

    def sift(self, examples: Examples, new: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """Set some rows apart for the certificate; tell which are left, None for all."""
        return None

    @abstractmethod
    def apart(self, intake: Intake) -> Examples | None:
        """Give the rows that were set apart, which nothing has looked at."""


class Stream(Candidates):
    """The next rows of an oracle, in its own order.

    Of rows that come for the first time a share is set apart, chosen by identity, until there are
    enough of them; the same rows are left out when they come again.
    """

    whole = False

    def __init__(self, oracle: AbstractOracle, seed: int, apart: int) -> None:
        super().__init__(oracle, seed)
        self._wanted = apart
        self._share = min(1.0, max(SHARE_APART, apart / (oracle.n_rows or math.inf)))
        self._key = key_of(seed, 1)
        self._waiting: list[Batch] = []
        self.held: list[Examples] = []
        self._held_rows: set[int] = set()

    def peek(self, count: int) -> list[Table]:
        """Read ahead, and give rows that will not be set apart; all are offered later.

        It ends with the first pass: there is nothing new to see in the next.
        """
        tables: list[Table] = []
        while count > 0:
            batch = self.oracle.draw(min(count, self.at_once))
            if batch.n_rows == 0:
                break
            count -= batch.n_rows
            self._waiting.append(batch)
            if batch.lap > 0:
                break
            tables.append(SomeRows(batch.table, np.flatnonzero(~self._kept_back(batch.rows))))
        return tables

    def _kept_back(self, rows: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Tell which rows may be set apart; nothing looks at them before that is decided."""
        if self._wanted == 0:
            return np.zeros(rows.size, dtype=np.bool_)
        return np.asarray(numbers(rows, self._key) < self._share)

    def forget_ahead(self) -> None:
        """Drop what was read ahead: the oracle goes on from elsewhere."""
        self._waiting.clear()

    def labels_ahead(self) -> NDArray[Any]:
        """Give the labels of the rows that were read ahead."""
        return np.concatenate([batch.labels for batch in self._waiting])

    @property
    def settled(self) -> bool:
        """Whether all rows read ahead were offered, so that the oracle's position is ours."""
        return not self._waiting

    def _next(self, count: int) -> Batch:
        if not self._waiting:
            return self.oracle.draw(count)
        batch = self._waiting.pop(0)
        if batch.n_rows <= count:
            return batch
        self._waiting.insert(0, _part(batch, count, batch.n_rows))
        return _part(batch, 0, count)

    def sift(self, examples: Examples, new: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """Set rows apart while more are wanted, and leave them out later."""
        if self._wanted == 0:
            return None
        chosen = np.flatnonzero(self._kept_back(examples.rows))
        if new.all():
            chosen = chosen[: self._wanted - len(self._held_rows)]
            if chosen.size:
                self.hold(examples.take(chosen))
        else:
            known = [row in self._held_rows for row in examples.rows[chosen].tolist()]
            chosen = chosen[np.array(known, dtype=np.bool_)]
        left = np.ones(examples.n_rows, dtype=np.bool_)
        left[chosen] = False
        return left

    def hold(self, examples: Examples) -> None:
        """Keep rows apart."""
        self.held.append(examples)
        self._held_rows.update(examples.rows.tolist())

    def apart(self, intake: Intake) -> Examples | None:
        """Give what was set apart, and as many more as are wanted while rows are still new."""
        drawn = 0
        while len(self._held_rows) < self._wanted and drawn < MORE_DRAWS * self._wanted:
            ahead = bool(self._waiting)
            batch = self._next(self.at_once)
            if batch.n_rows == 0 or batch.lap > 0 or self.oracle.order is REPLACED:
                break
            drawn += batch.n_rows
            unseen = self._kept_back(batch.rows) | (not ahead)
            room = self._wanted - len(self._held_rows)
            self.hold(intake.read(batch).take(np.flatnonzero(unseen)[:room]))
        if self.held:
            self.held = [Examples.join(self.held)]
        return self.held[0] if self.held else None

    def offer(self, key: np.uint64, scale: float) -> Iterator[list[Offer]]:
        """Draw so many rows at a time, whatever the sizes of the oracle's own batches."""
        drawn = 0
        while not self.ended:
            helping: list[Offer] = []
            missing = self.at_once
            while missing > 0:
                ahead = bool(self._waiting)
                batch = self._next(missing)
                if batch.n_rows == 0:
                    self.ended = True
                    break
                missing -= batch.n_rows
                first = batch.lap == 0 and self.oracle.order is not REPLACED
                new = np.full(batch.n_rows, first)
                fresh = new & self._kept_back(batch.rows) if ahead else new
                tickets = np.arange(drawn, drawn + batch.n_rows, dtype=np.uint64)
                drawn += batch.n_rows
                helping.append(Offer(batch, new, fresh, tickets))
            if helping:
                yield helping


class Pool(Candidates):
    """All rows of an array: one byte a row says how easy it was."""

    whole = True

    def __init__(self, oracle: ArrayOracle, seed: int, apart: int, first_chance: float) -> None:
        super().__init__(oracle, seed)
        self._array = oracle
        self.first_chance = first_chance
        self.kinds = np.full(oracle.n_rows, NEVER, dtype=np.uint8)

        if apart:
            generator = np.random.default_rng(int(key_of(seed, 1)))
            chosen = generator.choice(self.kinds.size, apart, replace=False, shuffle=False)
            self.kinds[chosen] = APART

    def some(self, count: int) -> Table:
        """Give rows by chance, of those that are not set apart, for the choice of bins."""
        generator = np.random.default_rng(int(key_of(self.seed, 6)))
        drawn = np.unique(generator.integers(self.kinds.size, size=count))
        if self.kinds.size <= count:
            drawn = np.arange(self.kinds.size)
        drawn = drawn[self.kinds[drawn] != APART]
        self.kinds[drawn] = BINNED
        return self._array.take(drawn).table

    def apart(self, intake: Intake) -> Examples | None:
        """Read the rows that were set apart."""
        rows = np.flatnonzero(self.kinds == APART)
        return intake.read(self._array.take(rows)) if rows.size else None

    def offer(self, key: np.uint64, scale: float) -> Iterator[list[Offer]]:
        """Look through all rows; pick those whose number is low enough."""
        rows = self._picked(key, scale)
        for first in range(0, rows.size, self.at_once):
            own = rows[first : first + self.at_once]
            kinds = self.kinds[own]
            new, fresh = (kinds == NEVER) | (kinds == BINNED), kinds == NEVER
            batch = self._array.take(own)
            yield [Offer(batch, new, fresh, batch.rows, self._bounds()[kinds])]

    def seen(self, rows: NDArray[np.uint64], chances: Floats) -> None:
        """Note the weights, each rounded up to its kind."""
        with np.errstate(divide="ignore"):
            steps = np.floor(-STEPS * np.log2(np.minimum(1.0, ROOM * chances)))
        self.kinds[rows.astype(np.int64)] = np.minimum(steps, BINNED - 1).astype(np.uint8)

    def _bounds(self) -> Floats:
        bounds = 2.0 ** (-np.arange(256) / STEPS)
        bounds[[NEVER, BINNED]], bounds[APART] = self.first_chance, 0.0
        return bounds

    def _picked(self, key: np.uint64, scale: float) -> NDArray[np.int64]:
        chances = np.minimum(1.0, self._bounds() / scale)
        limits = np.ceil(chances * 2.0**sieve.BITS).astype(np.uint64)
        parts: dict[int, NDArray[np.int64]] = {}

        def task(start: int, stop: int) -> None:
            out = np.empty(min(stop - start, ROWS_PER_SWEEP), dtype=np.int64)
            for first in range(start, stop, ROWS_PER_SWEEP):
                kinds = self.kinds[first : min(first + ROWS_PER_SWEEP, stop)]
                found = sieve.below(kinds, limits, first, key, out)
                parts[first] = out[:found].copy()

        each_rows(task, self.kinds.size)
        return np.concatenate([parts[first] for first in sorted(parts)])


def _part(batch: Batch, start: int, stop: int) -> Batch:
    rows = np.arange(start, stop)
    table = SomeRows(batch.table, rows)
    return Batch(table, batch.labels[rows], batch.rows[rows], batch.lap)
