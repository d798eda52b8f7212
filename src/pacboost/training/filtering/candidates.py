"""Where candidates come from: the next rows of an oracle, or (pool.py) any rows of an array.

A row is looked at only if its number under the key of the refill is below what its weight may be;
it is kept if the same number is below what its weight is. So rows that were easy when they were
last looked at cost next to nothing, and what is kept is the same whatever is known of them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.gathering import Gathering
from pacboost.sources.oracles.oracle import REPLACED, AbstractOracle, Batch
from pacboost.sources.table import SomeRows, Table
from pacboost.training.filtering.intake import Examples, Intake
from pacboost.training.filtering.keys import key_of, numbers

Floats = NDArray[np.float64]

CELLS_AT_ONCE = 2**21
MOST_AT_ONCE = 65_536
LEAST_AT_ONCE = 1_024

SHARE_APART = 0.1
MORE_DRAWS = 20
"""So many times as many rows as are wanted apart may be drawn for them in the end."""


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
    tells: bool = True
    """Whether the rows came whatever they weigh, so that their mean weight tells something."""


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
        self.learned = Gathering()
        """A sketch of the rows that were kept to learn from."""

    def position(self) -> dict[str, Any]:
        """Say where a run has come to, in values that JSON can hold."""
        return {"oracle": self.oracle.position()}

    def seek(self, position: Mapping[str, Any]) -> None:
        """Go on from a position."""
        self.oracle.seek(position["oracle"])

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
        self._taken = 0
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

    def position(self) -> dict[str, Any]:
        """Say what comes next: rows read ahead, of which so many are gone, or the oracle's own."""
        return {"ahead": self._taken} if self._waiting else super().position()

    def seek(self, position: Mapping[str, Any]) -> None:
        """Go on from a position; what is read ahead at the start is always the same."""
        if "ahead" not in position:
            self._waiting.clear()
            super().seek(position)
        while self._waiting and self._taken < position.get("ahead", 0):
            self._next(position["ahead"] - self._taken)

    def labels_ahead(self) -> NDArray[Any]:
        """Give the labels of the rows that were read ahead."""
        return np.concatenate([batch.labels for batch in self._waiting])

    def _next(self, count: int) -> Batch:
        if not self._waiting:
            return self.oracle.draw(count)
        batch = self._waiting.pop(0)
        self._taken += min(batch.n_rows, count)
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


def _part(batch: Batch, start: int, stop: int) -> Batch:
    rows = np.arange(start, stop)
    table = SomeRows(batch.table, rows)
    return Batch(table, batch.labels[rows], batch.rows[rows], batch.lap)
