"""Candidates that are the next rows of an oracle."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.content_sample import ContentKeys
from pacboost.samples.row_hashes import Hashes, among, mixed
from pacboost.sources.oracles.oracle import REPLACED, STREAM, AbstractOracle, Batch, Drawn
from pacboost.sources.table import Table
from pacboost.training.filtering.candidates import (
    Candidates,
    Offer,
    check_rows,
    key_of,
    numbers,
    of_kind,
)
from pacboost.training.filtering.row_encoder import EncodedRows, RowEncoder

# Recognise rows of a stream that come again, by their content.
#
# A stream has no row numbers that could be trusted: a second call of ``partial_fit`` with the same
# rows, or a generator that starts over, gives them new positions. So each row is hashed. Equal rows
# have equal hashes, and whatever is decided by the hash is decided alike for all copies of a row.
#
# Rows that come again with fewer digits have other hashes. Rounding them and what came before to
# the same digits makes them equal again. Among independent draws, rows of the second half are equal
# to rows of the first about as often as the latter among themselves; if they are far more often,
# rows have come again.

Flags = NDArray[np.bool_]

REMEMBERED = 2**18
"""The hashes of so many rows are remembered; two million bytes."""
ROUNDED_ROWS, THIN = 2**16, 16
"""So many distinct rows are rounded, and later ones are compared with them: one row in 16."""
FIRST_ROWS = 32
DECIMALS, DIGITS = (3, 2, 1, 0), (3, 2)
"""Rows are rounded to so many decimals, and to so many significant digits."""
WAYS = len(DECIMALS) + len(DIGITS)
POWERS = np.array([float(f"1e{k}") for k in range(-40, 41)])
MOST_COLUMNS = 64
FEWEST, TIMES = 16, 2
"""More rows than these, and so many times as many as expected, have to come again."""
ROUNDED = (
    "rows of the stream come again with fewer digits: more rows equal earlier ones after rounding "
    "than independent draws would. What certifies may have been learned from. Give every row once, "
    "or with the same digits every time."
)


class Arrivals:
    """The rows of a stream that came so far, and whether one of them came again.

    >>> arrivals = Arrivals()
    >>> arrivals.first_time(np.array([3, 5], dtype=np.uint64)).tolist()
    [True, True]
    >>> arrivals.first_time(np.array([8, 5, 9], dtype=np.uint64)).tolist()
    [True, False, False]
    """

    def __init__(self) -> None:
        self.repeated = False
        """Whether a row came again. From then on nothing counts as a first arrival."""
        self.known: Hashes = np.empty(0, dtype=np.uint64)
        """The hashes that are remembered, sorted."""
        self.rounded = RoundedRows()
        """Rows as they are with fewer digits."""

    @property
    def full(self) -> bool:
        """Whether later rows were not remembered, so that copies of theirs are not recognised."""
        return self.known.size >= REMEMBERED

    def first_time(self, hashes: Hashes, others: Hashes | None = None) -> Flags:
        """Return which rows came before any row came again; ``others`` are known besides."""
        if self.repeated:
            return np.zeros(hashes.size, dtype=np.bool_)
        again = among(hashes, self.known)
        if others is not None:
            again |= among(hashes, np.sort(others))
        again[_later_copies(hashes)] = True
        first = int(again.argmax()) if again.any() else hashes.size
        self.repeated = first < hashes.size
        self._remember(hashes[:first])
        return np.asarray(np.arange(hashes.size) < first)

    def _remember(self, hashes: Hashes) -> None:
        more = np.sort(hashes[: max(0, REMEMBERED - self.known.size)])
        self.known = np.insert(self.known, np.searchsorted(self.known, more), more)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what a checkpoint needs."""
        own = {"arrivals": self.known, "repeated": np.array([self.repeated])}
        return own | self.rounded.state()

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what ``state`` gave."""
        self.known = of_kind(state, "arrivals", np.uint64, -1)
        self.repeated = bool(of_kind(state, "repeated", np.bool_, 1)[0])
        self.rounded.restore(state)


class RoundedRows:
    """Whether distinct rows of a stream are equal to earlier ones after rounding.

    Rows up to each power of two are compared with as many that follow, the last ones with a part of
    all that follow. What is found does not depend on how many rows come at once.
    """

    def __init__(self) -> None:
        self._seen = 0
        self._exact: Hashes = np.empty(0, dtype=np.uint64)
        """The hashes of the rows that are remembered, sorted."""
        self._codes: Hashes = np.empty((WAYS, 0), dtype=np.uint64)
        """The hashes of their rounded values, in each way, as they came."""
        self._alarm = False
        self._start(FIRST_ROWS)

    def _start(self, number: int) -> None:
        """Compare the rows that follow with so many first ones."""
        self._number, self._compared = number, 0
        self._equal = np.zeros(WAYS, dtype=np.int64)
        self._first = np.sort(self._codes[:, :number], axis=1)
        alike = self._first[:, 1:] == self._first[:, :-1]
        no = np.zeros((WAYS, 1), dtype=np.bool_)
        self._own = np.count_nonzero(np.hstack([no, alike]) | np.hstack([alike, no]), axis=1)

    def look(self, table: Table, hashes: Hashes) -> None:
        """Note rows; ``hashes`` identifies them as they are."""
        new = ~among(hashes, self._exact)
        new[_later_copies(hashes)] = False
        rows = np.flatnonzero(new)[: ROUNDED_ROWS - self._exact.size]
        if rows.size:
            more = np.sort(hashes[rows])
            self._exact = np.insert(self._exact, np.searchsorted(self._exact, more), more)
            self._remember(rounded(table, rows))
        if self._exact.size == ROUNDED_ROWS:
            later = np.arange(rows[-1] + 1 if rows.size else 0, hashes.size)
            later = later[(self._seen + later) % THIN == 0]
            self._compare(rounded(table, later[~among(hashes[later], self._exact)]))
        self._seen += hashes.size

    def _remember(self, codes: Hashes) -> None:
        while codes.shape[1]:
            before = self._codes.shape[1]
            part, codes = np.split(codes, [2 * self._number - before], axis=1)
            self._codes = np.hstack([self._codes, part])
            size = self._codes.shape[1]
            if before < self._number <= size:
                self._start(self._number)
            self._compare(self._codes[:, max(before, self._number) :])
            if size == 2 * self._number:
                self._alarm = self.come_again
                self._start(size)

    def _compare(self, codes: Hashes) -> None:
        self._compared += codes.shape[1]
        both = zip(codes, self._first, strict=True)
        self._equal += [np.count_nonzero(among(own, first)) for own, first in both]

    @property
    def come_again(self) -> bool:
        """Whether more rows came again, rounded, than independent draws would."""
        expected = self._compared * self._own / self._number
        return self._alarm or bool((self._equal > TIMES * expected + FEWEST).any())

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what a checkpoint needs."""
        counts = [self._seen, self._number, self._compared, self._alarm, *self._equal]
        return {
            "rounded": self._codes.reshape(-1),
            "rounded_exact": self._exact,
            "rounded_counts": np.array(counts, dtype=np.int64),
        }

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what ``state`` gave."""
        counts = of_kind(state, "rounded_counts", np.int64, 4 + WAYS)
        self._exact = of_kind(state, "rounded_exact", np.uint64, -1)
        size = self._exact.size
        self._codes = of_kind(state, "rounded", np.uint64, WAYS * size).reshape(WAYS, size)
        self._seen, number, compared, alarm = counts[:4].tolist()
        self._start(number)
        self._compared, self._alarm, self._equal = compared, bool(alarm), counts[4:].copy()


def rounded(table: Table, rows: NDArray[np.intp]) -> Hashes:
    """Hash rows rounded to decimals and to significant digits, one line for each way.

    >>> from pacboost.sources.arrays import ArrayTable
    >>> found = rounded(ArrayTable(np.array([[1.23412], [1.234], [1.2]])), np.arange(3))
    >>> (found[:, 1:] == found[:, :1]).T.tolist()
    [[True, True, True, True, True, True], [False, False, True, True, False, True]]
    """
    columns = np.unique(np.linspace(0, table.n_columns - 1, MOST_COLUMNS).astype(np.intp))
    total = np.zeros((WAYS, rows.size), dtype=np.uint64)
    for j in columns.tolist():
        values = table.block(j, j + 1)[rows, 0].astype(np.float64)
        size = np.where(np.isfinite(values) & (values != 0), np.abs(values), 1.0)
        steps = [np.full(rows.size, 10.0**-own) for own in DECIMALS]
        power = np.searchsorted(POWERS, size, side="right")
        steps += [POWERS[np.maximum(power - own, 0)] for own in DIGITS]
        for way, step in enumerate(steps):
            with np.errstate(over="ignore", invalid="ignore"):
                cells = np.clip(np.rint(values / step), -(2.0**60), 2.0**60) * step
            total[way] += mixed(_bits(cells) + np.uint64(2 * j + 1 << 32))
    return total


def _bits(values: NDArray[np.float64]) -> Hashes:
    """Return the bits of values as 32-bit floats; all missing ones are equal."""
    with np.errstate(over="ignore"):
        plain = np.where(np.isnan(values), np.inf, values).astype(np.float32) + np.float32(0)
    return plain.view(np.uint32).astype(np.uint64)


def _later_copies(hashes: Hashes) -> NDArray[np.intp]:
    """Return the places of rows that have an equal one before them."""
    order = np.argsort(hashes, kind="stable")
    equal = hashes[order[1:]] == hashes[order[:-1]]
    return np.asarray(order[1:][equal], dtype=np.intp)


SHARE_APART = 0.1
MORE_DRAWS = 20
"""So many times as many rows as are wanted apart may be drawn for them in the end."""


class Stream(Candidates):
    """The next rows of an oracle, in the order in which it gives them.

    Of rows that come for the first time a share is set apart until there are enough of them; rows
    set apart are left out whenever they come again. Which rows are chosen follows from what
    identifies them: their numbers or, where the source is a stream, their content. So a copy of a
    row that certifies is never learned from, on whatever pass and at whatever place it comes. Once
    a row of a stream has come again, no more rows are set apart.
    """

    whole = False

    def __init__(self, oracle: AbstractOracle, seed: int, apart: int, copies: str = "auto") -> None:
        super().__init__(oracle, seed)
        self._wanted = apart
        self._share = min(1.0, max(SHARE_APART, apart / (oracle.about_rows or math.inf)))
        self._key = key_of(seed, 1)
        self._waiting: list[Batch] = []
        self._taken = 0
        self._tickets = 0
        """How many rows of this refill have been drawn."""
        self.held: list[EncodedRows] = []
        self._held_ids = np.empty(0, dtype=np.uint64)
        self.content: ContentKeys | None = None
        """What identifies rows, where it is their content and not their place."""
        self._arrivals: Arrivals | None = None
        if oracle.order is STREAM and copies != "draws":
            self._arrivals, self.content = Arrivals(), ContentKeys(key_of(seed, 8))

    @property
    def repeated(self) -> bool:
        """Whether a row of a stream has come again."""
        return self._arrivals is not None and self._arrivals.repeated

    @property
    def problem(self) -> str:
        """Why nothing can be certified, if that is so."""
        if self._arrivals is not None and self._arrivals.rounded.come_again:
            return ROUNDED
        return super().problem

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
            shown = np.flatnonzero(~self._kept_back(self._ids(batch)))
            tables.append(batch.table.take(shown))
        return tables

    def _ids(self, batch: Drawn) -> NDArray[np.uint64]:
        """Return what identifies each row."""
        if self.content is None:
            return batch.rows
        return self.content.ids(batch.read().table, batch.rows)

    def _kept_back(self, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return which rows may be set apart; nothing looks at them before that is decided."""
        if self._wanted == 0:
            return np.zeros(ids.size, dtype=np.bool_)
        return np.asarray(numbers(ids, self._key) < self._share)

    def _first_time(self, batch: Drawn, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return which rows come for the first time."""
        if batch.lap > 0 or self.oracle.order is REPLACED:
            return np.zeros(ids.size, dtype=np.bool_)
        if self._arrivals is None:
            return np.ones(ids.size, dtype=np.bool_)
        self._arrivals.rounded.look(batch.read().table, ids)
        return self._arrivals.first_time(ids, self._held_ids)

    def position(self) -> dict[str, Any]:
        """Return what comes next: rows read ahead, so many of them gone, or the oracle's own."""
        return {"ahead": self._taken} if self._waiting else super().position()

    def seek(self, position: Mapping[str, Any]) -> None:
        """Go on from a position; what is read ahead at the start is always the same."""
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
        """Return the labels of the rows that were read ahead."""
        return np.concatenate([batch.labels for batch in self._waiting])

    def _next(self, count: int) -> Drawn:
        """Return the next rows, at most so many: those read ahead, then those of the oracle."""
        if not self._waiting:
            drawn = self.oracle.draw_unread(count)
            return drawn if self._arrivals is None else drawn.read()  # known by their content
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
        chosen = back[offer.new[back]][: self._wanted - self._held_ids.size]
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
            ids = self._ids(batch)
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
        """Return the rows set apart, and what is remembered of a stream."""
        arrays = super().state()
        if self.held:
            arrays |= EncodedRows.join(self.held).to_arrays() | {"apart_ids": self._held_ids}
        if self._arrivals is not None:
            arrays |= self._arrivals.state()
        return arrays

    def restore(self, state: dict[str, NDArray[Any]], encoder: RowEncoder) -> None:
        """Go on from what ``state`` gave."""
        super().restore(state, encoder)
        if "apart_rows" in state and encoder.bins is not None:
            classes = encoder.classes.size
            check_rows(state, encoder.bins, classes if classes > 2 else 1)
            self._hold(EncodedRows.from_arrays(state, encoder.bins), state["apart_ids"])
        if self._arrivals is not None:
            self._arrivals.restore(state)

    def offer(self, key: np.uint64, scale: float) -> Iterator[Iterable[Offer]]:
        """Draw so many rows at a time, whatever the sizes of the oracle's own batches."""
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
        ids = self._ids(batch)
        new = self._first_time(batch, ids)
        fresh = new & self._kept_back(ids) if ahead else new
        return Offer(batch, ids, new, fresh, tickets)
