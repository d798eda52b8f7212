"""Where candidates come from: any rows of an array, or the next rows of an oracle (stream.py).

A row is looked at only if its number under the key of the refill is below what its weight may be;
it is kept if the same number is below what its weight is. So rows that were easy when they were
last looked at cost next to nothing, and what is kept is the same whatever is known of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels import hashing, same_bits
from pacboost.kernels.runtime.threads import ROWS_FOR_CHEAP_KERNELS, each_rows
from pacboost.learners.learner import Learner
from pacboost.numerics.same_bits import mean
from pacboost.samples.gathering import Gathering
from pacboost.samples.row_hashes import row_hashes
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.held import BadCell, Held
from pacboost.sources.oracles.oracle import AbstractOracle, Drawn
from pacboost.sources.table import Table
from pacboost.training.filtering.rows import EncodedRows, RowEncoder, of_kind

# Rows that are offered to the filter, and what is known of each before it is looked at.

Floats = NDArray[np.float64]


FRESH, NEW, AGAIN = range(3)
"""Rows that nothing looked at before, not even to choose bins; rows that nothing was learned from;
and all others."""


def kinds_of(new: NDArray[np.bool_], fresh: NDArray[np.bool_] | None = None) -> NDArray[np.int8]:
    """Return the kind of each row."""
    kinds = np.where(new, NEW, AGAIN) if fresh is None else np.where(fresh, FRESH, kinds_of(new))
    return kinds.astype(np.int8)


@dataclass(frozen=True, eq=False)
class Offer:
    """Rows to be looked at."""

    batch: Drawn
    ids: NDArray[np.uint64]
    """What identifies each row, on every pass: its number or, in a stream, its content."""
    kinds: NDArray[np.int8]
    tickets: NDArray[np.uint64]
    """What each row's number is drawn by. A row that comes twice in a refill has two."""
    bounds: Floats | None = None
    """What the chance of each row to be looked at followed; None where all are."""
    tells: bool = True
    """Whether the rows came whatever they weigh, so that their mean weight tells something."""
    last: bool = True
    """Whether no other piece of the same offer follows."""

    def pieces(self, left: NDArray[np.bool_] | None, most: int) -> Iterator[Offer]:
        """Cut the rows that are left (None: all) into equal pieces of so many rows at most."""
        places = np.arange(self.ids.size) if left is None else np.flatnonzero(left)
        size = -(-places.size // max(1, -(-places.size // most))) or 1
        for first in range(0, max(1, places.size), size):
            chosen, last = places[first : first + size], first + size >= places.size
            batch = self.batch if chosen.size == self.ids.size else self.batch.take(chosen)
            bounds = None if self.bounds is None else self.bounds[chosen]
            columns = self.ids[chosen], self.kinds[chosen], self.tickets[chosen]
            yield Offer(batch, *columns, bounds, self.tells, last)


CELLS_AT_ONCE = 2**21
MOST_AT_ONCE = 65_536
LEAST_AT_ONCE = 1_024


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
        self.testing: EncodedRows | None = None
        """Rows that test every vote of the run and are never learned from, where there are some."""
        self.distinct = False
        """Whether rows that are equal are one example, which counts once."""

    def position(self) -> dict[str, Any]:
        """Return where a run has come to, in values that JSON can hold."""
        return {"oracle": self.oracle.position()}

    def seek(self, position: Mapping[str, Any]) -> None:
        self.oracle.seek(position["oracle"])

    @abstractmethod
    def offer(self, key: np.uint64, scale: float) -> Iterator[Iterable[Offer]]:
        """Return groups of candidates, as long as they are asked for and there are any.

        Groups end where they do whatever the sizes of the oracle's batches: only between them
        may anything be decided. The offers of a group are made one after the other, and all of
        them before the next group: a block is let go before the next one is asked for.
        """

    def seen(self, rows: NDArray[np.uint64], chances: Floats) -> None:  # noqa: B027 - streams forget
        """Take note of what rows weigh."""

    @property
    def problem(self) -> str:
        """Why nothing can be certified, if that is so: rows of a stream came again."""
        return ""

    def set_apart(self, encoder: RowEncoder, offer: Offer) -> NDArray[np.bool_] | None:
        """Set some rows apart for the certificate; return which are left, None for all."""
        return None

    @abstractmethod
    def apart(self, encoder: RowEncoder) -> EncodedRows | None:
        """Return the rows that were set apart, which nothing has looked at."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what a checkpoint needs besides the position."""
        return {}

    def restore(  # noqa: B027 - not all have a state
        self, state: dict[str, NDArray[Any]], encoder: RowEncoder
    ) -> None:
        """Go on from what ``state`` gave."""


# Chance that is keyed: the same for the same seed, purpose and row, whenever the row comes.

UNIT = 2.0**-hashing.BITS


def key_of(*parts: int) -> np.uint64:
    """Make a key from a seed and what it is for; their number counts, since NumPy drops zeros."""
    entropy = (len(parts), *parts)
    return np.uint64(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])


def numbers(rows: NDArray[np.uint64], key: np.uint64) -> NDArray[np.float64]:
    """Return each row its number in [0, 1).

    >>> numbers(np.array([7, 8], dtype=np.uint64), key_of(0, 1)).round(4).tolist()
    [0.9412, 0.904]
    """
    out = np.empty(rows.size, dtype=np.uint64)

    def task(start: int, stop: int) -> None:
        hashing.numbers(rows[start:stop], key, out[start:stop])

    each_rows(task, rows.size, at_least=ROWS_FOR_CHEAP_KERNELS)
    return out.astype(np.float64) * UNIT


@dataclass(frozen=True, eq=False)
class Coins:
    """A coin for every row: those below ``share`` may be set apart, here and on any worker."""

    key: np.uint64
    share: float
    salt: np.uint64 | None = None
    """Of the hash of its content, which identifies a row; None: its place does."""

    def ids(self, batch: Drawn) -> NDArray[np.uint64]:
        return (
            batch.rows if self.salt is None else row_hashes(batch.read().table, salt=int(self.salt))
        )

    def low(self, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        return np.asarray(numbers(ids, self.key) < self.share)

    def choose(self, rows: NDArray[np.uint64], held: Held) -> NDArray[np.bool_]:
        """Choose the rows of a block whose coins are low."""
        if self.salt is None:
            return self.low(rows)
        try:
            table = held.table(np.arange(held.n_rows))
        except BadCell:  # reading all rows names it
            return np.ones(held.n_rows, dtype=np.bool_)
        return self.low(row_hashes(table, salt=int(self.salt)))


# What a fit by filtering holds in memory besides the blocks of its source and its sample.


def bytes_of_work(
    oracle: AbstractOracle, learner: Learner, outputs: int, apart: int, bins: int
) -> int:
    """Estimate the bytes of the rows that are set ``apart``, and of the step that needs most.

    The steps follow each other: the bins are found from ``bins`` rows, and a rule is learned.
    Sparse rows take little memory, and count as none.
    """
    if oracle.sparse:
        return 0
    columns = oracle.n_columns
    held = apart * columns * 9  # as read, and codes
    found = 3 * bins * columns * 8  # rows that wait, those that may be looked at, and all together
    return held + max(found, learner.bytes_of_work(columns, outputs))


# All rows of an array as candidates: one byte a row says how easy the row was.
#
# Rows that nobody has looked at yet are as easy as their class was to rows picked blindly. Some are
# kept back for that: each refill looks at some of them first, whatever they weigh. They are fresh
# draws, so the mean weight μ is tested on them; afterwards they are candidates like others.

ROWS_PER_SWEEP = 2**20
OFFERS_PER_GROUP = 8
"""Nothing is decided between groups of rows that were picked, but whether the time is up."""

UNSEEN = 248
"""Rows never looked at have the kinds 248 to 255, by class; the last kind is for all others."""
KEPT_BACK = 247
"""Rows kept back for the tests of μ."""
APART = 246
"""Rows set apart for the certificate: nobody looks at them."""
STEPS = 8
"""Kind k means a weight of at most 2**(-k/8) when last looked at, with room to grow."""
ROOM = 2.0
"""A weight may have grown so much since then before chances no longer follow it."""
SHARE_FRESH, MOST_FRESH = 0.1, 100_000
TESTS, ROWS_PER_TEST = 20, 500
"""The rows kept back last for so many refills, or half of them are used if they are few."""
ROWS_TO_TELL = 30
"""So many rows of a class tell how easy it is."""
HARD = 0.9
"""Nine in ten of a class weigh no more than this quantile."""


class ArrayRows(Candidates):
    """The rows of an array, each known by its kind."""

    whole = True

    def __init__(
        self, oracle: ArrayOracle, seed: int, apart: int, classes: NDArray[Any], first_chance: float
    ) -> None:
        super().__init__(oracle, seed)
        self._array, self._classes = oracle, classes
        rows = oracle.n_rows
        last = 255 - UNSEEN
        self.kinds = UNSEEN + np.minimum(oracle.class_numbers(classes), last).astype(np.uint8)
        self._unseen = np.full(last + 1, first_chance)
        """What rows never looked at weigh at most, by class."""
        back = min(round(rows * SHARE_FRESH), MOST_FRESH, rows - apart)
        generator = np.random.default_rng(int(key_of(seed, 1)))
        chosen = generator.choice(rows, apart + back, replace=False, shuffle=True)
        self.kinds[chosen[:apart]], self.kinds[chosen[apart:]] = APART, KEPT_BACK
        self._per_test = back // TESTS

    def some(self, count: int) -> Table:
        """Return rows by chance, of those that are neither set apart nor kept back."""
        generator = np.random.default_rng(int(key_of(self.seed, 6)))
        drawn = np.arange(self.kinds.size)
        if drawn.size > count:
            drawn = np.unique(generator.integers(self.kinds.size, size=count))
        usable = drawn[self.kinds[drawn] >= UNSEEN]
        return self._array.take(usable).table

    def apart(self, encoder: RowEncoder) -> EncodedRows | None:
        rows = np.flatnonzero(self.kinds == APART)
        return encoder.read(self._array.take(rows)) if rows.size else None

    def offer(self, key: np.uint64, scale: float) -> Iterator[Iterable[Offer]]:
        """Return fresh rows first; then look through all, and pick those whose number is low."""
        fresh = self._fresh(key)
        if fresh.size:
            batch = self._array.take(fresh)
            self._numbered = np.searchsorted(self._classes, batch.labels)
            kinds = np.full(fresh.size, FRESH, dtype=np.int8)
            yield [Offer(batch, batch.rows, kinds, batch.rows)]
        rows = self._picked(key, scale)
        rows = rows[~np.isin(rows, fresh, assume_unique=True)]
        for first in range(0, rows.size, OFFERS_PER_GROUP * self.at_once):
            yield self._offers(rows[first : first + OFFERS_PER_GROUP * self.at_once])

    def _offers(self, rows: NDArray[np.int64]) -> Iterator[Offer]:
        """Offer rows that were picked: so many at a time."""
        for first in range(0, rows.size, self.at_once):
            some = rows[first : first + self.at_once]
            batch, bounds = self._array.unread(some), self._bounds()[self.kinds[some]]
            kinds = np.full(some.size, AGAIN, dtype=np.int8)
            yield Offer(batch, batch.rows, kinds, batch.rows, bounds, tells=False)

    def seen(self, rows: NDArray[np.uint64], chances: Floats) -> None:
        own = rows.astype(np.int64)
        if self.kinds[own[:1]].tolist() == [KEPT_BACK]:
            self._learn_how_easy(chances)

        def task(start: int, stop: int) -> None:
            kinds = np.empty(stop - start, dtype=np.uint8)
            weights = np.minimum(1.0, ROOM * chances[start:stop])
            same_bits.steps_below_1(weights, STEPS, APART - 1, kinds)
            self.kinds[own[start:stop]] = kinds

        each_rows(task, own.size, at_least=ROWS_FOR_CHEAP_KERNELS)

    def _learn_how_easy(self, chances: Floats) -> None:
        """Let rows picked blindly tell what rows of their class weigh."""
        for k in range(self._unseen.size):
            own = chances[self._numbered == k]
            if own.size >= ROWS_TO_TELL:
                hard = max(float(np.quantile(own, HARD)), ROOM * mean(own))
                self._unseen[k] = min(1.0, hard)
            elif self._numbered.size > 0:
                self._unseen[k] = 1.0

    def state(self) -> dict[str, NDArray[Any]]:
        return super().state() | {"kinds": self.kinds.copy(), "unseen": self._unseen.copy()}

    def restore(self, state: dict[str, NDArray[Any]], encoder: RowEncoder) -> None:
        super().restore(state, encoder)
        kinds = of_kind(state, "kinds", np.uint8, self.kinds.size)
        unseen = of_kind(state, "unseen", np.float64, self._unseen.size)
        if not np.array_equal(kinds == APART, self.kinds == APART):
            raise ValueError("other rows are set apart than those that the seed chooses")
        if not ((unseen >= 0) & (unseen <= 1)).all():
            raise ValueError("a chance lies outside of [0, 1]")
        self.kinds[:], self._unseen[:] = kinds, unseen

    def _fresh(self, key: np.uint64) -> NDArray[np.int64]:
        """Choose rows for the test of μ: some of those left, a few before anything is learned."""
        rows = np.flatnonzero(self.kinds == KEPT_BACK)
        count = max(self._per_test, min(ROWS_PER_TEST, rows.size // 2), ROWS_TO_TELL)
        if not (self.kinds < APART).any():
            count = min(ROWS_TO_TELL, count)
        drawn = numbers(rows.astype(np.uint64), key ^ np.uint64(1))
        return (
            rows[drawn <= np.partition(drawn, count - 1)[count - 1]] if count < rows.size else rows
        )

    def _bounds(self) -> Floats:
        bounds = 2.0 ** (-np.arange(256) / STEPS)
        bounds[UNSEEN:] = self._unseen
        bounds[[APART, KEPT_BACK]] = 0.0
        return bounds

    def _picked(self, key: np.uint64, scale: float) -> NDArray[np.int64]:
        chances = np.minimum(1.0, self._bounds() / scale)
        limits = np.ceil(chances * 2.0**hashing.BITS).astype(np.uint64)
        parts: dict[int, NDArray[np.int64]] = {}

        def task(start: int, stop: int) -> None:
            out = np.empty(min(stop - start, ROWS_PER_SWEEP), dtype=np.int64)
            for first in range(start, stop, ROWS_PER_SWEEP):
                kinds = self.kinds[first : min(first + ROWS_PER_SWEEP, stop)]
                found = hashing.below(kinds, limits, first, key, out)
                parts[first] = out[:found].copy()

        each_rows(task, self.kinds.size)
        return np.concatenate([parts[first] for first in sorted(parts)])
