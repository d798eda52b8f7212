"""Candidates that are the next rows of an oracle."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.row_hashes import row_hashes
from pacboost.sources.oracles.oracle import (
    REPLACED,
    STREAM,
    AbstractOracle,
    Batch,
    Drawn,
)
from pacboost.sources.table import Table
from pacboost.training.filtering.arrivals import CAME_AGAIN, Arrivals, RepeatAlarm
from pacboost.training.filtering.candidates import (
    AGAIN,
    Candidates,
    Coins,
    Offer,
    key_of,
    kinds_of,
    numbers,
)
from pacboost.training.filtering.rows import EncodedRows, RowEncoder, of_kind

SHARE_APART = 0.1
MORE_DRAWS = 20
"""So many times as many rows as are wanted apart may be drawn for them in the end."""


class Stream(Candidates):
    """The next rows of an oracle, in the order in which it gives them.

    Of rows that come for the first time a share is set apart until there are enough of them; rows
    set apart are left out whenever they come again. Which rows are chosen follows from what
    identifies them: their places or, where equal rows are one example, their content. So a copy of
    an example that certifies is never learned from, on whatever pass and at whatever place it
    comes. Once such a copy has come, no more rows are set apart.
    """

    whole = False

    def __init__(
        self, oracle: AbstractOracle, seed: int, apart: int, copies: str = "draws"
    ) -> None:
        super().__init__(oracle, seed)
        self._wanted = apart
        share = min(1.0, max(SHARE_APART, apart / (oracle.about_rows or math.inf)))
        self.coins = Coins(key_of(seed, 1), share)
        self._waiting: list[Batch] = []
        self._taken = 0
        self._tickets = 0
        """How many rows of this refill have been drawn."""
        self.held: list[EncodedRows] = []
        self._held_ids = np.empty(0, dtype=np.uint64)
        self._arrivals: Arrivals | None = None
        self._alarm: RepeatAlarm | None = None
        self._salt = key_of(seed, 8)
        self.distinct = copies == "distinct"
        if self.distinct:
            self.coins = replace(self.coins, salt=self._salt)
            self._arrivals = Arrivals()
        elif oracle.order is STREAM:
            self._alarm = RepeatAlarm()

    @property
    def repeated(self) -> bool:
        return self._arrivals is not None and self._arrivals.repeated

    @property
    def problem(self) -> str:
        return CAME_AGAIN if self._alarm is not None and self._alarm.suspicious else ""

    def peek(self, count: int) -> list[Table]:
        """Read ahead within the first pass, and give rows that will not be set apart."""
        tables: list[Table] = []
        while count > 0:
            batch = self.oracle.draw(min(count, self.at_once))
            if batch.n_rows == 0:
                break
            count -= batch.n_rows
            self._waiting.append(batch)
            if batch.lap > 0:
                break
            shown = np.flatnonzero(~self._kept_back(self.coins.ids(batch)))
            tables.append(batch.table.take(shown))
        return tables

    def _kept_back(self, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return which rows may be set apart; nothing looks at them before that is decided."""
        if self._wanted == 0:
            return np.zeros(ids.size, dtype=np.bool_)
        return self.coins.low(ids)

    def _first_time(self, batch: Drawn, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        if batch.lap > 0 or self.oracle.order is REPLACED:
            return np.zeros(ids.size, dtype=np.bool_)
        if self._alarm is not None:
            self._alarm.look(row_hashes(batch.read().table, salt=int(self._salt)))
        if self._arrivals is None:
            return np.ones(ids.size, dtype=np.bool_)
        return self._arrivals.first_time(ids, self._held_ids)

    def position(self) -> dict[str, Any]:
        """Return what comes next: rows read ahead, so many of them gone, or the oracle's own."""
        return {"ahead": self._taken} if self._waiting else super().position()

    def seek(self, position: Mapping[str, Any]) -> None:
        if "ahead" not in position:
            self._waiting.clear()
            super().seek(position)
        while self._waiting and self._taken < position.get("ahead", 0):
            self._next(position["ahead"] - self._taken)

    @property
    def rows_ahead(self) -> int:
        """How many rows were read ahead and are still to be offered."""
        return sum(batch.n_rows for batch in self._waiting)

    def labels_ahead(self) -> NDArray[Any]:
        return np.concatenate([batch.labels for batch in self._waiting])

    def _next(self, count: int) -> Drawn:
        """Return the next rows, at most so many: those read ahead, then those of the oracle."""
        if not self._waiting:
            drawn = self.oracle.draw_unread(count)
            hashed = self._arrivals is not None or self._alarm is not None
            return drawn.read() if hashed else drawn
        batch = self._waiting.pop(0)
        self._taken += min(batch.n_rows, count)
        if batch.n_rows <= count:
            return batch
        self._waiting.insert(0, batch.take(np.arange(count, batch.n_rows)))
        return batch.take(np.arange(count))

    def set_apart(self, encoder: RowEncoder, offer: Offer) -> NDArray[np.bool_] | None:
        """Set rows apart while more are wanted, and leave them out whenever they come again."""
        if self._wanted == 0:
            return None
        back = np.flatnonzero(self._kept_back(offer.ids))
        chosen = back[offer.kinds[back] != AGAIN][: self._wanted - self._held_ids.size]
        if chosen.size:
            self._hold(encoder.read(offer.batch.take(chosen)), offer.ids[chosen])
        left = np.ones(offer.ids.size, dtype=np.bool_)
        left[back[np.isin(offer.ids[back], self._held_ids, kind="sort")]] = False  # for NumPy 2.0
        return left

    def _hold(self, examples: EncodedRows, ids: NDArray[np.uint64]) -> None:
        self.held.append(examples)
        self._held_ids = np.concatenate([self._held_ids, ids])

    def apart(self, encoder: RowEncoder) -> EncodedRows | None:
        """Return what was set apart, and as many more as are wanted while rows are still new."""
        drawn = 0
        while self._held_ids.size < self._wanted and drawn < MORE_DRAWS * self._wanted:
            ahead = bool(self._waiting)
            batch = self._next(self.at_once)
            ids = self.coins.ids(batch)
            first = self._first_time(batch, ids)
            if not first.any():
                break
            drawn += batch.n_rows
            if ahead or (self._arrivals is not None and self._arrivals.full):
                first &= self._kept_back(ids)  # others may have been learned from, or shown to bins
            chosen = np.flatnonzero(first)[: self._wanted - self._held_ids.size]
            self._hold(encoder.read(batch.take(chosen)), ids[chosen])
        if self.held:
            self.held = [EncodedRows.join(self.held)]
        return self.held[0] if self._held_ids.size else None

    def state(self) -> dict[str, NDArray[Any]]:
        arrays = super().state()
        if self.held:
            arrays |= EncodedRows.join(self.held).to_arrays() | {"apart_ids": self._held_ids}
        for memory in (self._arrivals, self._alarm):
            arrays |= {} if memory is None else memory.state()
        return arrays

    def restore(self, state: dict[str, NDArray[Any]], encoder: RowEncoder) -> None:
        super().restore(state, encoder)
        if "apart_rows" in state and encoder.bins is not None:
            examples = EncodedRows.from_arrays(state, encoder.bins, encoder.classes.size)
            self._hold(examples, of_kind(state, "apart_ids", np.uint64, examples.n_rows))
        for memory in (self._arrivals, self._alarm):
            if memory is not None:
                memory.restore(state)

    def offer(self, key: np.uint64, scale: float) -> Iterator[Iterable[Offer]]:
        self._tickets = 0
        while not self.ended:
            first = self._drawn(self.at_once)
            if first is not None:
                yield chain([first], self._rest(self.at_once - first.ids.size))

    def _rest(self, missing: int) -> Iterator[Offer]:
        """Complete a group that lacks so many rows."""
        while missing > 0:
            offer = self._drawn(missing)
            if offer is None:
                return
            missing -= offer.ids.size
            yield offer

    def _drawn(self, count: int) -> Offer | None:
        """Draw rows, about so many; None says that the stream has ended."""
        ahead = bool(self._waiting)
        batch = self._next(count)
        if batch.n_rows == 0:
            self.ended = True
            return None
        tickets = np.arange(self._tickets, self._tickets + batch.n_rows, dtype=np.uint64)
        self._tickets += batch.n_rows
        return self._offered(batch, tickets, ahead=ahead)

    def _offered(self, batch: Drawn, tickets: NDArray[np.uint64], *, ahead: bool) -> Offer:
        ids = self.coins.ids(batch)
        new = self._first_time(batch, ids)
        fresh = new & self._kept_back(ids) if ahead else new
        return Offer(batch, ids, kinds_of(new, fresh), tickets)


# Files and tables in blocks: which rows certify, which test and which teach is settled first.
#
# Blocks are read in random order, but the rows of one block may have much in common: a file may be
# sorted. Rows that come first are a cluster sample then, and no count of mistakes on them says
# anything about new examples. So a keyed coin is tossed for every row of the source by its number,
# and one pass over all blocks reads the rows that certify and those that test. They are a simple
# random sample of the source, and never learned from.

MOST_TESTING = 10_000
SHARE_TESTING = 0.1
TESTS_FOR_ONE_MISTAKE = 40
"""A test at epsilon gets up to so many rows divided by epsilon."""


def rows_for_tests(rows: int, epsilon: float | None) -> int:
    """How many rows test the votes of a run: more where a small error has to be shown.

    >>> rows_for_tests(1000, None), rows_for_tests(10**7, None), rows_for_tests(10**7, 0.001)
    (100, 10000, 40000)
    """
    most = MOST_TESTING
    if epsilon is not None:
        most = max(most, math.ceil(TESTS_FOR_ONE_MISTAKE / epsilon))
    return min(most, int(SHARE_TESTING * rows))


class BlockRows(Stream):
    """The rows of a source in blocks, less those that certify and those that test.

    Rows whose coin is below ``_certify`` certify; those whose coin is below ``_share`` test. Where
    equal rows are one example, coins go by content, and one copy of a row certifies or tests.
    """

    def __init__(
        self, oracle: AbstractOracle, seed: int, apart: int, testing: int, copies: str = "draws"
    ) -> None:
        super().__init__(oracle, seed, apart)
        rows = max(1, oracle.about_rows or 1)
        most = 1.0 if oracle.n_rows is not None else 0.5  # of rows that were not counted
        self._certify = min(most, apart / rows)
        share = self._certify + min(testing / rows, (1 - self._certify) / 2)
        self.distinct = copies == "distinct"
        self.coins = replace(self.coins, share=share, salt=self._salt if self.distinct else None)
        self._certifying: EncodedRows | None = None
        self._roles: list[list[Batch]] = [[], []]

    def divide(self) -> None:
        """Read the rows that certify and those that test, in one pass over the source."""
        if not self.coins.share:
            return
        for batch in self.oracle.select(self.coins.choose):
            coins = numbers(self.coins.ids(batch), self.coins.key)
            certify = coins < self._certify
            test = (coins < self.coins.share) & ~certify
            for role, chosen in zip(self._roles, (certify, test), strict=True):
                role.append(self._once(batch.take(np.flatnonzero(chosen))))

    def _once(self, batch: Batch) -> Batch:
        """Leave one copy of every row, by coins of their own, where coins go by content."""
        if self.coins.salt is None:
            return batch
        return batch.take(_one_each(self.coins.ids(batch), numbers(batch.rows, self.coins.key)))

    def encode(self, encoder: RowEncoder) -> None:
        certify, test = (self._coded(role, encoder) for role in self._roles)
        self._certifying, self.testing, self._roles = certify, test, [[], []]

    def _coded(self, role: list[Batch], encoder: RowEncoder) -> EncodedRows | None:
        role = [batch for batch in role if batch.n_rows]
        if not role:
            return None
        examples = EncodedRows.join([encoder.read(batch) for batch in role])
        if self.coins.salt is None:
            return examples
        ids = np.concatenate([self.coins.ids(batch) for batch in role])
        return examples.take(_one_each(ids, numbers(examples.rows, self.coins.key)))

    def _kept_back(self, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        return self.coins.low(ids)

    def set_apart(self, encoder: RowEncoder, offer: Offer) -> NDArray[np.bool_] | None:
        return ~self.coins.low(self.coins.ids(offer.batch))

    def apart(self, encoder: RowEncoder) -> EncodedRows | None:
        return self._certifying

    def _offered(self, batch: Drawn, tickets: NDArray[np.uint64], *, ahead: bool) -> Offer:
        """Offer rows that teach; none of them tests, since rows of one block are no fair draw."""
        kinds = kinds_of(self._first_time(batch, batch.rows))
        return Offer(batch, batch.rows, kinds, tickets)


def _one_each(ids: NDArray[np.uint64], coins: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the places of one row of every identity, that with the lowest coin, in order."""
    order = np.argsort(coins, kind="stable")
    return np.sort(order[np.unique(ids[order], return_index=True)[1]])
