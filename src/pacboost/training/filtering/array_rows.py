"""All rows of an array as candidates, with one byte for each that bounds its weight.

The weight of a row that was never scored is bounded by that of its class, which rows drawn
uniformly estimate. Some rows are reserved for that: each refill scores a part of them first,
whatever their weight. They are fresh draws, so the mean weight μ is tested on them; afterwards they
are candidates like all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels import hashing, same_bits
from pacboost.kernels.runtime.threads import ROWS_FOR_CHEAP_KERNELS, each_rows
from pacboost.numerics.same_bits import mean
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.table import Table
from pacboost.training.filtering.candidates import AGAIN, FRESH, Candidates, Offer, key_of, numbers
from pacboost.training.filtering.rows import EncodedRows, Floats, RowEncoder, of_kind

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
        last = 255 - UNSEEN
        self.kinds = UNSEEN + np.minimum(oracle.class_numbers(classes), last).astype(np.uint8)
        self._unseen = np.full(last + 1, first_chance)
        """The largest weight of rows never scored, by class."""
        reserved = min(round(rows * SHARE_RESERVED), MAX_RESERVED, rows - apart)
        generator = np.random.default_rng(int(key_of(seed, 1)))
        chosen = generator.choice(rows, apart + reserved, replace=False, shuffle=True)
        self.kinds[chosen[:apart]], self.kinds[chosen[apart:]] = APART, RESERVED
        self._per_test = reserved // TESTS

    def some(self, count: int) -> Table:
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
        """Return fresh rows first, then all rows whose random number is below their bound."""
        fresh = self._fresh(key)
        if fresh.size:
            batch = self._array.take(fresh)
            self._numbered = np.searchsorted(self._classes, batch.labels)
            kinds = np.full(fresh.size, FRESH, dtype=np.int8)
            yield [Offer(batch, batch.rows, kinds, batch.rows)]
        rows = self._select(key, scale)
        rows = rows[~np.isin(rows, fresh, assume_unique=True)]
        for first in range(0, rows.size, OFFERS_PER_GROUP * self.at_once):
            yield self._offers(rows[first : first + OFFERS_PER_GROUP * self.at_once])

    def _offers(self, rows: NDArray[np.int64]) -> Iterator[Offer]:
        for first in range(0, rows.size, self.at_once):
            part = rows[first : first + self.at_once]
            batch, bounds = self._array.unread(part), self._bounds()[self.kinds[part]]
            kinds = np.full(part.size, AGAIN, dtype=np.int8)
            yield Offer(batch, batch.rows, kinds, batch.rows, bounds, is_unbiased=False)

    def seen(self, rows: NDArray[np.uint64], chances: Floats) -> None:
        places = rows.astype(np.int64)
        if self.kinds[places[:1]].tolist() == [RESERVED]:
            self._bound_classes(chances)

        def task(start: int, stop: int) -> None:
            kinds = np.empty(stop - start, dtype=np.uint8)
            weights = np.minimum(1.0, MAX_GROWTH * chances[start:stop])
            same_bits.steps_below_1(weights, STEPS_PER_HALVING, APART - 1, kinds)
            self.kinds[places[start:stop]] = kinds

        each_rows(task, places.size, at_least=ROWS_FOR_CHEAP_KERNELS)

    def _bound_classes(self, chances: Floats) -> None:
        for k in range(self._unseen.size):
            of_class = chances[self._numbered == k]
            if of_class.size >= MIN_ROWS_OF_CLASS:
                hard = max(float(np.quantile(of_class, HARD_QUANTILE)), MAX_GROWTH * mean(of_class))
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
        """Choose reserved rows for the test of μ; the first test, of an empty vote, takes few."""
        rows = np.flatnonzero(self.kinds == RESERVED)
        count = max(self._per_test, min(ROWS_PER_TEST, rows.size // 2), MIN_ROWS_OF_CLASS)
        if not (self.kinds < APART).any():
            count = min(MIN_ROWS_OF_CLASS, count)
        drawn = numbers(rows.astype(np.uint64), key ^ np.uint64(1))
        return (
            rows[drawn <= np.partition(drawn, count - 1)[count - 1]] if count < rows.size else rows
        )

    def _bounds(self) -> Floats:
        bounds = 2.0 ** (-np.arange(256) / STEPS_PER_HALVING)
        bounds[UNSEEN:] = self._unseen
        bounds[[APART, RESERVED]] = 0.0
        return bounds

    def _select(self, key: np.uint64, scale: float) -> NDArray[np.int64]:
        chances = np.minimum(1.0, self._bounds() / scale)
        limits = np.ceil(chances * 2.0**hashing.BITS).astype(np.uint64)
        parts: dict[int, NDArray[np.int64]] = {}

        def task(start: int, stop: int) -> None:
            out = np.empty(min(stop - start, ROWS_PER_SWEEP), dtype=np.int64)
            for first in range(start, stop, ROWS_PER_SWEEP):
                kinds = self.kinds[first : min(first + ROWS_PER_SWEEP, stop)]
                count = hashing.below(kinds, limits, first, key, out)
                parts[first] = out[:count].copy()

        each_rows(task, self.kinds.size)
        return np.concatenate([parts[first] for first in sorted(parts)])
