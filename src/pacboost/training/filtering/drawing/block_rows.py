"""Files and tables in blocks: which rows certify, which test and which teach is settled first.

Blocks are read in random order, but the rows of one block may have much in common: a file may be
sorted. Rows that come first are a cluster sample then, and no count of mistakes on them says
anything about new examples. So a keyed coin is tossed for every row of the source by its number,
and one pass over all blocks reads the rows that certify and those that test. They are a simple
random sample of the source, and never learned from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.content_sample import ContentSample
from pacboost.samples.known_rows import KnownRows
from pacboost.sources.oracles.held import Held
from pacboost.sources.oracles.oracle import AbstractOracle, Drawn, SettlingChooser
from pacboost.sources.table import Table
from pacboost.training.filtering.drawing.keys import numbers
from pacboost.training.filtering.drawing.offer import Offer
from pacboost.training.filtering.drawing.row_encoder import EncodedRows, RowEncoder
from pacboost.training.filtering.drawing.stream import Stream

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


@dataclass(frozen=True, eq=False)
class ReadFirst(SettlingChooser):
    """Chooses the rows that are read in a pass of their own: by their coins, and by content."""

    key: np.uint64
    share: float
    sample: ContentSample

    def __call__(self, ids: NDArray[np.uint64], held: Held) -> NDArray[np.bool_]:
        """Tell which rows of a block are read."""
        return np.asarray(numbers(ids, self.key) < self.share) | self.sample.choose(held)

    def settle(self, first: SettlingChooser) -> None:
        """Choose from all blocks by what was settled on the first one."""
        if isinstance(first, ReadFirst):
            self.sample.go_by(first.sample)


class BlockRows(Stream):
    """The rows of a source in blocks, less those that certify and those that test.

    Rows whose coin is below ``_certify`` certify; those whose coin is below ``_share`` test.
    """

    def __init__(self, oracle: AbstractOracle, seed: int, apart: int, testing: int) -> None:
        super().__init__(oracle, seed, apart)
        rows = max(1, oracle.about_rows or 1)
        most = 1.0 if oracle.n_rows is not None else 0.5  # of rows that were not counted
        self._certify = min(most, apart / rows)
        self._share = self._certify + min(testing / rows, (1 - self._certify) / 2)
        self._certifying: EncodedRows | None = None
        self._as_read: list[Table] = []
        self._sample = ContentSample(rows, 1 if oracle.sparse else oracle.n_columns)

    def divide(self, encoder: RowEncoder) -> None:
        """Read the rows that certify and those that test, in one pass over the source.

        The same pass reads rows that are chosen by their content, to see whether there are copies.
        """
        parts: tuple[list[EncodedRows], list[EncodedRows]] = ([], [])
        as_read: tuple[list[Table], list[Table]] = ([], [])
        first = ReadFirst(self._key, self._share, self._sample)
        for batch in self.oracle.select(first) if self._share else ():
            self._sample.keep(batch.table)
            coins = numbers(batch.rows, self._key)
            certify, test = coins < self._certify, (coins >= self._certify) & (coins < self._share)
            examples = encoder.read(batch)
            for role, chosen in enumerate(map(np.flatnonzero, (certify, test))):
                parts[role].append(examples.take(chosen))
                as_read[role].append(batch.table.take(chosen))
        self._certifying, self.testing = (_joined(part) for part in parts)
        self.known_apart, self.known_testing = (KnownRows(tables) for tables in as_read)
        self._as_read = as_read[0]

    def _kept_back(self, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        return np.asarray(numbers(ids, self._key) < self._share)

    @property
    def coin_of_rows_apart(self) -> tuple[np.uint64, float]:
        """The key of the rows' coins, and below what they certify or test."""
        return self._key, self._share

    def copies(self) -> str:
        """Say that rows of the source are copies of others, if that is sure."""
        return self._sample.copies()

    def set_apart(self, encoder: RowEncoder, offer: Offer) -> NDArray[np.bool_] | None:
        """Leave out what certifies or tests, on every pass."""
        return ~self._kept_back(offer.ids)

    def apart(self, encoder: RowEncoder) -> EncodedRows | None:
        """Give the rows that certify."""
        return self._certifying

    def apart_as_read(self) -> list[Table]:
        """Give the rows that certify as the source holds them."""
        return self._as_read

    def _offered(self, batch: Drawn, tickets: NDArray[np.uint64], *, ahead: bool) -> Offer:
        """Offer rows that teach; none of them tests, since rows of one block are no fair draw."""
        new = self._first_time(batch, batch.rows)
        return Offer(batch, batch.rows, new, np.zeros_like(new), tickets)


def _joined(parts: list[EncodedRows]) -> EncodedRows | None:
    joined = EncodedRows.join(parts) if parts else None
    return joined if joined is not None and joined.n_rows else None
