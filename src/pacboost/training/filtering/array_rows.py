"""All rows of an array as candidates: one byte a row says how easy the row was.

Rows that nobody has looked at yet are as easy as their class was to rows that were picked blindly.
Some rows are kept back for that: each refill looks at some of them first, whatever they weigh. They
are fresh draws, so the mean weight μ is tested on them; afterwards they are candidates like others.
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
from pacboost.training.filtering.candidates import Candidates, Offer, key_of, like, numbers
from pacboost.training.filtering.row_encoder import EncodedRows, RowEncoder

Floats = NDArray[np.float64]

ROWS_PER_SWEEP = 2**20
OFFERS_PER_GROUP = 8
"""Nothing is decided between groups of rows that were picked, but whether the time is up."""

UNSEEN = 248
"""Rows never looked at have the kinds 248 to 255, by class; the last kind is for all others."""
FRESH = 247
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
        self.kinds[chosen[:apart]], self.kinds[chosen[apart:]] = APART, FRESH
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
        """Read the rows that were set apart."""
        rows = np.flatnonzero(self.kinds == APART)
        return encoder.read(self._array.take(rows)) if rows.size else None

    def offer(self, key: np.uint64, scale: float) -> Iterator[Iterable[Offer]]:
        """Return fresh rows first; then look through all, and pick those whose number is low."""
        fresh = self._fresh(key)
        if fresh.size:
            batch = self._array.take(fresh)
            yes = np.ones(fresh.size, dtype=np.bool_)
            self._numbered = np.searchsorted(self._classes, batch.labels)
            yield [Offer(batch, batch.rows, yes, yes, batch.rows)]
        rows = self._picked(key, scale)
        rows = rows[~np.isin(rows, fresh, assume_unique=True)]
        for first in range(0, rows.size, OFFERS_PER_GROUP * self.at_once):
            yield self._offers(rows[first : first + OFFERS_PER_GROUP * self.at_once])

    def _offers(self, rows: NDArray[np.int64]) -> Iterator[Offer]:
        """Offer rows that were picked: so many at a time."""
        for first in range(0, rows.size, self.at_once):
            own = rows[first : first + self.at_once]
            no = np.zeros(own.size, dtype=np.bool_)
            batch = self._array.unread(own)
            bounds = self._bounds()[self.kinds[own]]
            yield Offer(batch, batch.rows, no, no, batch.rows, bounds, tells=False)

    def seen(self, rows: NDArray[np.uint64], chances: Floats) -> None:
        """Note the weights, each rounded up to its kind."""
        own = rows.astype(np.int64)
        if self.kinds[own[:1]].tolist() == [FRESH]:
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
        """Return what a checkpoint needs."""
        return super().state() | {"kinds": self.kinds.copy(), "unseen": self._unseen.copy()}

    def restore(self, state: dict[str, NDArray[Any]], encoder: RowEncoder) -> None:
        """Go on from a checkpoint."""
        super().restore(state, encoder)
        kinds, unseen = like(state, "kinds", self.kinds), like(state, "unseen", self._unseen)
        if not np.array_equal(kinds == APART, self.kinds == APART):
            raise ValueError("other rows are set apart than those that the seed chooses")
        if not ((unseen >= 0) & (unseen <= 1)).all():
            raise ValueError("a chance lies outside of [0, 1]")
        self.kinds[:], self._unseen[:] = kinds, unseen

    def _fresh(self, key: np.uint64) -> NDArray[np.int64]:
        """Choose rows for the test of μ: some of those left, a few before anything is learned."""
        rows = np.flatnonzero(self.kinds == FRESH)
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
        bounds[[APART, FRESH]] = 0.0
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
