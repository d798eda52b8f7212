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
from pacboost.sources.oracles.oracle import REPLACED, STREAM, AbstractOracle, Batch
from pacboost.sources.table import Table
from pacboost.training.filtering.arrivals import CAME_AGAIN, Arrivals, RepeatAlarm
from pacboost.training.filtering.candidates import (
    AGAIN,
    Candidates,
    Coins,
    FilterBatch,
    key_of,
    kinds_of,
    numbers,
)
from pacboost.training.filtering.rows import CodedBatch, RowEncoder, of_kind

SHARE_APART = 0.1
MAX_DRAWS_PER_ROW = 20
"""Maximum number of rows that are drawn in the end for each missing row of those set apart."""


class Stream(Candidates):
    """The next rows of an oracle, in the order in which it gives them.

    A share of the rows that come for the first time is set apart until there are enough; rows set
    apart are skipped whenever they come again. The choice depends on the identity of rows: their
    places or, if equal rows are one example, their content. So a copy of an example that certifies
    is never used for learning, on any pass and at any place. Once such a copy has come, no more
    rows are set apart.
    """

    whole = False

    def __init__(
        self, oracle: AbstractOracle, seed: int, apart: int, copies: str = "draws"
    ) -> None:
        super().__init__(oracle, seed)
        self._wanted_apart = apart
        share = min(1.0, max(SHARE_APART, apart / (oracle.about_rows or math.inf)))
        self.coins = Coins(key_of(seed, 1), share)
        self._waiting: list[Batch] = []
        self._taken = 0
        self._tickets = 0
        """The number of rows drawn in this refill."""
        self._apart: list[CodedBatch] = []
        self._apart_ids = np.empty(0, dtype=np.uint64)
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
        """Read ahead within the first pass, and return rows that will not be set apart."""
        tables: list[Table] = []
        while count > 0:
            batch = self.oracle.draw(min(count, self.at_once))
            if batch.n_rows == 0:
                break
            count -= batch.n_rows
            self._waiting.append(batch)
            if batch.lap > 0:
                break
            shown = np.flatnonzero(~self._may_set_apart(self.coins.ids(batch)))
            tables.append(batch.table.take(shown))
        return tables

    def _may_set_apart(self, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return a mask of the rows that may be set apart; nothing else uses them before."""
        if self._wanted_apart == 0:
            return np.zeros(ids.size, dtype=np.bool_)
        return self.coins.low(ids)

    def _first_time(self, batch: Batch, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        if batch.lap > 0 or self.oracle.order is REPLACED:
            return np.zeros(ids.size, dtype=np.bool_)
        if self._alarm is not None:
            self._alarm.look(row_hashes(batch.read().table, salt=int(self._salt)))
        if self._arrivals is None:
            return np.ones(ids.size, dtype=np.bool_)
        return self._arrivals.first_time(ids, self._apart_ids)

    def position(self) -> dict[str, Any]:
        """Return the number of rows used of those read ahead, or the position of the oracle."""
        return {"ahead": self._taken} if self._waiting else super().position()

    def seek(self, position: Mapping[str, Any]) -> None:
        if "ahead" not in position:
            self._waiting.clear()
            super().seek(position)
        while self._waiting and self._taken < position.get("ahead", 0):
            self._next(position["ahead"] - self._taken)

    @property
    def rows_ahead(self) -> int:
        """The number of rows read ahead that are not offered yet."""
        return sum(batch.n_rows for batch in self._waiting)

    def labels_ahead(self) -> NDArray[Any]:
        return np.concatenate([batch.labels for batch in self._waiting])

    def _next(self, count: int) -> Batch:
        """Return at most ``count`` rows: first those read ahead, then those of the oracle."""
        if not self._waiting:
            drawn = self.oracle.draw_unread(count)
            # hashes need the values: such rows are read now, and not once more later
            hashed = self._arrivals is not None or self._alarm is not None
            return drawn.read() if hashed else drawn
        batch = self._waiting.pop(0)
        self._taken += min(batch.n_rows, count)
        if batch.n_rows <= count:
            return batch
        self._waiting.insert(0, batch.take(np.arange(count, batch.n_rows)))
        return batch.take(np.arange(count))

    def set_apart(self, encoder: RowEncoder, offer: FilterBatch) -> NDArray[np.bool_] | None:
        """Set rows apart until there are enough, and skip them whenever they come again."""
        if self._wanted_apart == 0:
            return None
        eligible = np.flatnonzero(self._may_set_apart(offer.ids))
        new = (offer.kinds != AGAIN) & ~self.oracle.looked_at(offer.batch.rows)
        chosen = eligible[new[eligible]][: self._n_missing]
        if chosen.size:
            self._set_apart(encoder, offer.batch.take(chosen).read(), offer.ids[chosen])
        usable = np.ones(offer.ids.size, dtype=np.bool_)
        is_apart = np.isin(offer.ids[eligible], self._apart_ids, kind="sort")  # for NumPy 2.0
        usable[eligible[is_apart]] = False
        return usable

    @property
    def _n_missing(self) -> int:
        return self._wanted_apart - self._apart_ids.size

    def _set_apart(self, encoder: RowEncoder, batch: Batch, ids: NDArray[np.uint64]) -> None:
        self.show(batch.table)
        self._add_apart(encoder.read(batch), ids)

    def _add_apart(self, examples: CodedBatch, ids: NDArray[np.uint64]) -> None:
        self._apart.append(examples)
        self._apart_ids = np.concatenate([self._apart_ids, ids])
        self.n_apart = self._apart_ids.size

    def apart(self, encoder: RowEncoder, *, draw: bool = True) -> CodedBatch | None:
        """Return the rows set apart; draw the missing ones as long as rows are new."""
        drawn = 0
        while draw and self._n_missing > 0 and drawn < MAX_DRAWS_PER_ROW * self._wanted_apart:
            ahead = bool(self._waiting)
            # no more examples are asked for than are missing
            count = min(self.at_once, self._n_missing) if self.oracle.asks else self.at_once
            batch = self._next(count)
            ids = self.coins.ids(batch)
            first = self._first_time(batch, ids)
            # no row is new any more: the source is in a further pass, or repeats itself
            if not first.any():
                break
            drawn += batch.n_rows
            if ahead or (self._arrivals is not None and self._arrivals.full):
                first &= self._may_set_apart(ids)  # bins or the learner may have used others
            first &= ~self.oracle.looked_at(batch.rows)
            chosen = np.flatnonzero(first)[: self._n_missing]
            self._set_apart(encoder, batch.take(chosen).read(), ids[chosen])
        if self._apart:
            self._apart = [CodedBatch.join(self._apart)]
        return self._apart[0] if self._apart_ids.size else None

    def state(self) -> dict[str, NDArray[Any]]:
        arrays = super().state()
        if self._apart:
            arrays |= CodedBatch.join(self._apart).to_arrays() | {"apart_ids": self._apart_ids}
        for memory in (self._arrivals, self._alarm):
            arrays |= {} if memory is None else memory.state()
        return arrays

    def restore(self, state: dict[str, NDArray[Any]], encoder: RowEncoder) -> None:
        super().restore(state, encoder)
        if "apart_rows" in state and encoder.bins is not None:
            examples = CodedBatch.from_arrays(state, encoder.bins, encoder.classes.size)
            self._add_apart(examples, of_kind(state, "apart_ids", np.uint64, examples.n_rows))
        for memory in (self._arrivals, self._alarm):
            if memory is not None:
                memory.restore(state)

    def offer(self, key: np.uint64, scale: float) -> Iterator[Iterable[FilterBatch]]:
        self._tickets = 0
        while not self.ended:
            first = self._drawn(self.at_once)
            if first is not None:
                yield chain([first], self._rest(self.at_once - first.ids.size))

    def _rest(self, missing: int) -> Iterator[FilterBatch]:
        while missing > 0:
            offer = self._drawn(missing)
            if offer is None:
                return
            missing -= offer.ids.size
            yield offer

    def _drawn(self, count: int) -> FilterBatch | None:
        ahead = bool(self._waiting)
        batch = self._next(count)
        if batch.n_rows == 0:
            self.ended = True
            return None
        tickets = np.arange(self._tickets, self._tickets + batch.n_rows, dtype=np.uint64)
        self._tickets += batch.n_rows
        return self._offered(batch, tickets, ahead=ahead)

    def _offered(self, batch: Batch, tickets: NDArray[np.uint64], *, ahead: bool) -> FilterBatch:
        ids = self.coins.ids(batch)
        new = self._first_time(batch, ids)
        # bins were chosen by rows read ahead, except by those that may be set apart
        fresh = new & self._may_set_apart(ids) if ahead else new
        return FilterBatch(batch, ids, kinds_of(new, fresh), tickets)


MAX_TESTING_ROWS = 10_000
SHARE_TESTING = 0.1
MISTAKES_PER_TEST = 40
"""A test at epsilon has rows for about this number of mistakes."""


def rows_for_tests(rows: int, epsilon: float | None) -> int:
    """Return the number of rows that test the votes of a run: more for a small epsilon.

    >>> rows_for_tests(1000, None), rows_for_tests(10**7, None), rows_for_tests(10**7, 0.001)
    (100, 10000, 40000)
    """
    for_epsilon = 0 if epsilon is None else math.ceil(MISTAKES_PER_TEST / epsilon)
    return min(max(MAX_TESTING_ROWS, for_epsilon), int(SHARE_TESTING * rows))


class BlockRows(Stream):
    """The rows of a source in blocks, without those that certify and those that test.

    Blocks are read in random order, but rows of one block may be similar: a file may be sorted. The
    first rows would be a cluster sample, whose mistakes certify nothing. So every row of the source
    has a random number, and one pass over all blocks reads the rows that certify, with numbers
    below ``_certify``, and those that test, below ``coins.share``. They are a simple random sample
    of the source, and are never used for learning. If equal rows are one example, the numbers
    depend on content, and one copy of a row certifies or tests.
    """

    def __init__(
        self, oracle: AbstractOracle, seed: int, apart: int, testing: int, copies: str = "draws"
    ) -> None:
        super().__init__(oracle, seed, apart)
        rows = max(1, (oracle.about_rows or 1) - oracle.n_looked_at)
        max_share = 1.0 if oracle.n_rows is not None else 0.5  # the number of rows is a guess
        self._certify = min(max_share, apart / rows)
        share = self._certify + min(testing / rows, (1 - self._certify) / 2)
        self.distinct = copies == "distinct"
        self.coins = replace(self.coins, share=share, salt=self._salt if self.distinct else None)
        self._certifying: CodedBatch | None = None
        self._roles: list[list[Batch]] = [[], []]

    def divide(self) -> None:
        """Read the rows that certify and those that test, in one pass over the source."""
        if not self.coins.share:
            return
        for selected in self.oracle.select(self.coins.choose):
            # rows that columns were learned from neither certify nor test
            batch = selected.take(np.flatnonzero(~self.oracle.looked_at(selected.rows)))
            coins = numbers(self.coins.ids(batch), self.coins.key)
            certify = coins < self._certify
            test = (coins < self.coins.share) & ~certify
            for role, chosen in zip(self._roles, (certify, test), strict=True):
                role.append(self._once(batch.take(np.flatnonzero(chosen))))

    def _once(self, batch: Batch) -> Batch:
        if self.coins.salt is None:
            return batch
        return batch.take(_one_each(self.coins.ids(batch), numbers(batch.rows, self.coins.key)))

    def encode(self, encoder: RowEncoder) -> None:
        certify, test = (self._coded(role, encoder) for role in self._roles)
        for batch in self._roles[0]:
            self.show(batch.table)
        self._certifying, self.testing, self._roles = certify, test, [[], []]

    def _coded(self, role: list[Batch], encoder: RowEncoder) -> CodedBatch | None:
        role = [batch for batch in role if batch.n_rows]
        if not role:
            return None
        examples = CodedBatch.join([encoder.read(batch) for batch in role])
        if self.coins.salt is None:
            return examples
        ids = np.concatenate([self.coins.ids(batch) for batch in role])
        return examples.take(_one_each(ids, numbers(examples.rows, self.coins.key)))

    def _may_set_apart(self, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        return self.coins.low(ids)

    def set_apart(self, encoder: RowEncoder, offer: FilterBatch) -> NDArray[np.bool_] | None:
        return ~self.coins.low(self.coins.ids(offer.batch))

    def apart(self, encoder: RowEncoder, *, draw: bool = True) -> CodedBatch | None:
        return self._certifying

    def _offered(self, batch: Batch, tickets: NDArray[np.uint64], *, ahead: bool) -> FilterBatch:
        """Offer rows for learning, and none for testing: a block of rows is not a random sample."""
        kinds = kinds_of(self._first_time(batch, batch.rows))
        return FilterBatch(batch, batch.rows, kinds, tickets)


def _one_each(ids: NDArray[np.uint64], coins: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the place of the row with the lowest coin for every identity, in order."""
    # by coins: which copy stands for a row may not depend on where blocks lie
    order = np.argsort(coins, kind="stable")
    return np.sort(order[np.unique(ids[order], return_index=True)[1]])
