"""Candidates of a filter: rows of an array, or the next of an oracle (stream.py).

Every row has a random number under the key of a refill. It is scored only if the number is below a
bound on its weight, and accepted if the same number is below its weight. So rows that were easy at
the last look take almost no time, and the accepted rows do not depend on the bounds.

A row of an array has one byte that bounds its weight; for a row that was never scored it is the
bound of its class, which rows drawn uniformly estimate. Each refill first scores some rows that are
reserved for that, whatever their weight: they are fresh draws, so the mean weight μ is tested on
them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.hashing import BITS
from pacboost.kernels.native import native
from pacboost.kernels.threads import ROWS_FOR_CHEAP_KERNELS, each_rows
from pacboost.learners.learner import Learner
from pacboost.numerics.same_bits import mean
from pacboost.samples.gathering import Gathering
from pacboost.samples.row_hashes import row_hashes
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.oracle import AbstractOracle, Batch
from pacboost.sources.oracles.row_block import BadCell, RowBlock
from pacboost.sources.table import Table
from pacboost.training.filtering.rows import CodedBatch, Floats, RowEncoder, of_kind

FRESH, NEW, AGAIN = range(3)
"""Kinds of rows: never used before, not even to choose bins; not used for learning; all others."""


def kinds_of(new: NDArray[np.bool_], fresh: NDArray[np.bool_] | None = None) -> NDArray[np.int8]:
    """Return the kind of each row."""
    kinds = np.where(new, NEW, AGAIN) if fresh is None else np.where(fresh, FRESH, kinds_of(new))
    return kinds.astype(np.int8)


@dataclass(frozen=True, eq=False)
class FilterBatch:
    """Rows to be scored."""

    batch: Batch
    ids: NDArray[np.uint64]
    """The identity of each row on every pass: its number or, in a stream, a hash of its content."""
    kinds: NDArray[np.int8]
    tickets: NDArray[np.uint64]
    """The seeds of the rows' random numbers; a row that comes twice in a refill has two."""
    bounds: Floats | None = None
    """Bounds on the weights, which selected the rows; None if all rows are scored."""
    is_unbiased: bool = True
    """True if rows were drawn independently of their weights, so that their mean is unbiased."""
    last: bool = True
    """Whether this is the last piece of an offer."""

    def pieces(self, usable: NDArray[np.bool_] | None, max_rows: int) -> Iterator[FilterBatch]:
        """Divide the usable rows (None: all) into equal pieces of at most ``max_rows`` rows."""
        places = np.arange(self.ids.size) if usable is None else np.flatnonzero(usable)
        # equal pieces, so that threads end at about the same time
        size = -(-places.size // max(1, -(-places.size // max_rows))) or 1
        for first in range(0, max(1, places.size), size):
            chosen, last = places[first : first + size], first + size >= places.size
            batch = self.batch if chosen.size == self.ids.size else self.batch.take(chosen)
            bounds = None if self.bounds is None else self.bounds[chosen]
            columns = self.ids[chosen], self.kinds[chosen], self.tickets[chosen]
            yield FilterBatch(batch, *columns, bounds, self.is_unbiased, last)


MAX_CELLS_PER_OFFER = 2**21
MAX_ROWS_PER_OFFER = 65_536
MIN_ROWS_PER_OFFER = 1_024
MAX_ROWS_SHOWN = 2_000
"""Number of certifying rows that are compared with rows learned from, to notice copies."""


class Candidates(ABC):
    """A source of candidates."""

    whole: bool
    """Whether one refill considers all rows of the source."""

    def __init__(self, oracle: AbstractOracle, seed: int) -> None:
        self.oracle = oracle
        self.seed = seed
        rows = MAX_CELLS_PER_OFFER // max(1, oracle.n_columns)
        self.at_once = min(MAX_ROWS_PER_OFFER, max(MIN_ROWS_PER_OFFER, rows))
        self.ended = False
        self.learned = Gathering()
        """A sketch of the rows used for learning."""
        self.testing: CodedBatch | None = None
        """Rows that test every vote of the run and are never used for learning, if any."""
        self.distinct = False
        """Whether equal rows are one example, which counts once."""
        self.n_apart = 0
        """Number of rows set apart for the certificate so far."""
        self.shown: list[Table] = []
        """Some of the rows that certify, as they came; they decide nothing that is counted."""

    def position(self) -> dict[str, Any]:
        """Return the position of a run in the source, as values that JSON supports."""
        return {"oracle": self.oracle.position()}

    def seek(self, position: Mapping[str, Any]) -> None:
        self.oracle.seek(position["oracle"])

    @abstractmethod
    def offer(self, key: np.uint64, scale: float) -> Iterator[Iterable[FilterBatch]]:
        """Yield groups of candidates until the source ends.

        The groups do not depend on the sizes of the oracle's batches, and a run decides only
        between groups. All offers of a group are consumed in order before the next group, so that
        a block is released before the next one is read.
        """

    def seen(self, rows: NDArray[np.uint64], chances: Floats) -> None:  # noqa: B027 - streams forget
        """Store the weights of rows that were scored."""

    @property
    def problem(self) -> str:
        """The reason why nothing can be certified, if any: rows of a stream came again."""
        return ""

    def set_apart(self, encoder: RowEncoder, offer: FilterBatch) -> NDArray[np.bool_] | None:
        """Set some rows apart for the certificate; return which others are usable, None for all."""
        return None

    @abstractmethod
    def apart(self, encoder: RowEncoder, *, draw: bool = True) -> CodedBatch | None:
        """Return the rows set apart, which nothing has used; ``draw`` missing ones first."""

    def show(self, table: Table) -> None:
        """Keep some of the rows that certify; later ones are left out if there are many."""
        most = min(MAX_ROWS_SHOWN, MAX_CELLS_PER_OFFER // max(1, table.n_columns))
        room = most - sum(shown.n_rows for shown in self.shown)
        if min(room, table.n_rows) > 0:
            self.shown.append(table.take(np.arange(min(room, table.n_rows))))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a checkpoint, besides the position."""
        return {}

    def restore(  # noqa: B027 - not all have a state
        self, state: dict[str, NDArray[Any]], encoder: RowEncoder
    ) -> None:
        """Continue from the arrays of ``state``."""


UNIT = 2.0**-BITS


def key_of(*parts: int) -> np.uint64:
    """Return a key for random numbers, from a seed and numbers that stand for the purpose.

    The length is part of the key, because NumPy ignores trailing zeros.
    """
    entropy = (len(parts), *parts)
    return np.uint64(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])


def numbers(rows: NDArray[np.uint64], key: np.uint64) -> NDArray[np.float64]:
    """Return a random number in [0, 1) for each row: always the same for a row and a key.

    >>> numbers(np.array([7, 8], dtype=np.uint64), key_of(0, 1)).round(4).tolist()
    [0.9412, 0.904]
    """
    out = np.empty(rows.size, dtype=np.uint64)

    def task(start: int, stop: int) -> None:
        native.draw(rows[start:stop], key, out[start:stop])

    each_rows(task, rows.size, at_least=ROWS_FOR_CHEAP_KERNELS)
    return out.astype(np.float64) * UNIT


@dataclass(frozen=True, eq=False)
class Coins:
    """A number for every row, the same on any worker; those below ``share`` are set apart."""

    key: np.uint64
    share: float
    salt: np.uint64 | None = None
    """The salt of hashes, if the content of a row identifies it; None if its place does."""

    def ids(self, batch: Batch) -> NDArray[np.uint64]:
        if self.salt is None:
            return batch.rows
        return row_hashes(batch.read().table, salt=int(self.salt), exact=True)

    def low(self, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        return np.asarray(numbers(ids, self.key) < self.share)

    def choose(self, rows: NDArray[np.uint64], held: RowBlock) -> NDArray[np.bool_]:
        """Return a mask of the rows of a block that may be set apart."""
        if self.salt is None:
            return self.low(rows)
        try:
            table = held.table(np.arange(held.n_rows))
        except BadCell:  # reading all rows raises an error that names the cell
            return np.ones(held.n_rows, dtype=np.bool_)
        return self.low(row_hashes(table, salt=int(self.salt), exact=True))


def bytes_of_work(
    oracle: AbstractOracle, learner: Learner, outputs: int, apart: int, bins: int
) -> int:
    """Estimate the memory of a fit by filtering, besides the blocks of its source and its sample.

    It consists of the rows set ``apart`` and the larger of two steps: finding bins from ``bins``
    rows, and learning a rule. Sparse rows take little memory and count as 0.
    """
    if oracle.sparse:
        return 0
    columns = oracle.n_columns
    certifying = apart * columns * 9  # 8 bytes for each value and 1 for its code
    binning = (
        3 * bins * columns * 8
    )  # rows read ahead, those that bins may use, and a copy of these
    return certifying + max(binning, learner.bytes_of_work(columns, outputs))


ROWS_PER_SWEEP = 2**20
OFFERS_PER_GROUP = 8
"""Between groups of selected rows, only the time limit is checked."""

UNSEEN = 248
"""Rows never scored have the kinds 248 to 255, by class; all further classes share the last."""
RESERVED = 247
"""Rows reserved for the tests of μ."""
APART = 246
"""Rows set apart for the certificate, which are never scored."""
STEPS_PER_HALVING = 8
"""Kind k means a weight of at most 2**(-k/8) when it was last scored, times ``MAX_GROWTH``."""
MAX_GROWTH = 2.0
"""A weight may grow by this factor until the row is scored again; else its chance is too low."""
SHARE_RESERVED, MAX_RESERVED = 0.1, 100_000
TESTS, ROWS_PER_TEST = 20, 500
"""The reserved rows last for this number of refills; if they are few, each test takes half."""
MIN_ROWS_OF_CLASS = 30
"""Minimum number of rows of a class that estimate its weights."""
HARD_QUANTILE = 0.9
"""The bound of a class is this quantile of the weights of its rows, or more."""


class ArrayRows(Candidates):
    """The rows of an array, each with its kind: a bound on its weight, or its role."""

    whole = True

    def __init__(
        self, oracle: ArrayOracle, seed: int, apart: int, classes: NDArray[Any], first_chance: float
    ) -> None:
        super().__init__(oracle, seed)
        self._array, self._classes = oracle, classes
        rows = oracle.n_rows
        # a kind is one byte: a billion rows take a gigabyte
        last = 255 - UNSEEN
        self.kinds = UNSEEN + np.minimum(oracle.class_numbers(classes), last).astype(np.uint8)
        self._unseen = np.full(last + 1, first_chance)
        """The largest weight of rows never scored, by class."""
        # rows that columns were learned from neither certify nor test
        new = ~oracle.looked_at(np.arange(rows, dtype=np.uint64)) if oracle.learned else None
        count = rows if new is None else int(new.sum())
        apart = min(apart, count)
        reserved = min(round(rows * SHARE_RESERVED), MAX_RESERVED, count - apart)
        generator = np.random.default_rng(int(key_of(seed, 1)))
        chosen = generator.choice(count, apart + reserved, replace=False, shuffle=True)
        chosen = chosen if new is None else np.flatnonzero(new)[chosen]
        self.kinds[chosen[:apart]], self.kinds[chosen[apart:]] = APART, RESERVED
        self._per_test = reserved // TESTS

    def some(self, count: int) -> Table:
        generator = np.random.default_rng(int(key_of(self.seed, 6)))
        drawn = np.arange(self.kinds.size)
        if drawn.size > count:
            # drawn with replacement, then taken once: a permutation would take memory for every row
            drawn = np.unique(generator.integers(self.kinds.size, size=count))
        usable = drawn[self.kinds[drawn] >= UNSEEN]
        return self._array.take(usable).table

    def apart(self, encoder: RowEncoder, *, draw: bool = True) -> CodedBatch | None:
        rows = np.flatnonzero(self.kinds == APART)
        if not rows.size:
            return None
        batch = self._array.take(rows)
        if not self.shown:
            self.show(batch.table)
        return encoder.read(batch)

    def offer(self, key: np.uint64, scale: float) -> Iterator[Iterable[FilterBatch]]:
        """Return fresh rows first, then all rows whose random number is below their bound."""
        # first, since their weights bound those of rows that were never scored
        fresh = self._fresh(key)
        if fresh.size:
            batch = self._array.take(fresh)
            self._numbered = np.searchsorted(self._classes, batch.labels)
            kinds = np.full(fresh.size, FRESH, dtype=np.int8)
            yield [FilterBatch(batch, batch.rows, kinds, batch.rows)]
        rows = self._select(key, scale)
        rows = rows[~np.isin(rows, fresh, assume_unique=True)]
        for first in range(0, rows.size, OFFERS_PER_GROUP * self.at_once):
            yield self._offers(rows[first : first + OFFERS_PER_GROUP * self.at_once])

    def _offers(self, rows: NDArray[np.int64]) -> Iterator[FilterBatch]:
        for first in range(0, rows.size, self.at_once):
            part = rows[first : first + self.at_once]
            batch, bounds = self._array.unread(part), self._bounds()[self.kinds[part]]
            kinds = np.full(part.size, AGAIN, dtype=np.int8)
            yield FilterBatch(batch, batch.rows, kinds, batch.rows, bounds, is_unbiased=False)

    def seen(self, rows: NDArray[np.uint64], chances: Floats) -> None:
        places = rows.astype(np.int64)
        if self.kinds[places[:1]].tolist() == [RESERVED]:
            self._bound_classes(chances)

        def task(start: int, stop: int) -> None:
            kinds = np.empty(stop - start, dtype=np.uint8)
            weights = np.minimum(1.0, MAX_GROWTH * chances[start:stop])
            native.steps_below_1(weights, STEPS_PER_HALVING, APART - 1, kinds)
            self.kinds[places[start:stop]] = kinds

        each_rows(task, places.size, at_least=ROWS_FOR_CHEAP_KERNELS)

    def _bound_classes(self, chances: Floats) -> None:
        for k in range(self._unseen.size):
            of_class = chances[self._numbered == k]
            if of_class.size >= MIN_ROWS_OF_CLASS:
                hard = max(float(np.quantile(of_class, HARD_QUANTILE)), MAX_GROWTH * mean(of_class))
                self._unseen[k] = min(1.0, hard)
            elif self._numbered.size > 0:
                # too few rows of a class bound nothing, so that all its rows are scored
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
        """Choose reserved rows for the test of μ; the first test, of an empty vote, takes few."""
        rows = np.flatnonzero(self.kinds == RESERVED)
        count = max(self._per_test, min(ROWS_PER_TEST, rows.size // 2), MIN_ROWS_OF_CLASS)
        if not (self.kinds < APART).any():
            count = min(MIN_ROWS_OF_CLASS, count)
        # by another key than rows are accepted by: low numbers would be accepted more often
        drawn = numbers(rows.astype(np.uint64), key ^ np.uint64(1))
        return (
            rows[drawn <= np.partition(drawn, count - 1)[count - 1]] if count < rows.size else rows
        )

    def _bounds(self) -> Floats:
        bounds = 2.0 ** (-np.arange(256) / STEPS_PER_HALVING)
        bounds[UNSEEN:] = self._unseen
        # rows that certify or test are never candidates
        bounds[[APART, RESERVED]] = 0.0
        return bounds

    def _select(self, key: np.uint64, scale: float) -> NDArray[np.int64]:
        chances = np.minimum(1.0, self._bounds() / scale)
        limits = np.ceil(chances * 2.0**BITS).astype(np.uint64)
        parts: dict[int, NDArray[np.int64]] = {}

        def task(start: int, stop: int) -> None:
            out = np.empty(min(stop - start, ROWS_PER_SWEEP), dtype=np.int64)
            for first in range(start, stop, ROWS_PER_SWEEP):
                kinds = self.kinds[first : min(first + ROWS_PER_SWEEP, stop)]
                count = native.draw_below(kinds, limits, first, key, out)
                parts[first] = out[:count].copy()

        each_rows(task, self.kinds.size)
        return np.concatenate([parts[first] for first in sorted(parts)])
