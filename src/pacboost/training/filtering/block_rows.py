"""Files and tables in blocks: which rows certify, which test and which teach is settled first.

Blocks are read in random order, but the rows of one block may have much in common: a file may be
sorted. Rows that come first are a cluster sample then, and no count of mistakes on them says
anything about new examples. So a keyed coin is tossed for every row of the source by its number,
and one pass over all blocks reads the rows that certify and those that test. They are a simple
random sample of the source, and never learned from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.content_sample import ContentKeys, ContentSample
from pacboost.sources.oracles.held import BadCell, Held
from pacboost.sources.oracles.oracle import AbstractOracle, Batch, Drawn, SettlingChooser
from pacboost.training.filtering.candidates import Offer, key_of, numbers
from pacboost.training.filtering.row_encoder import EncodedRows, RowEncoder
from pacboost.training.filtering.stream import Stream

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
    content: ContentKeys | None
    """What coins go by, where it is not the place of a row."""
    samples: Sequence[ContentSample]

    def __call__(self, ids: NDArray[np.uint64], held: Held) -> NDArray[np.bool_]:
        """Return which rows of a block are read."""
        if self.content is not None:
            try:
                ids = self.content.ids(held.table(np.arange(held.n_rows)), ids)
            except BadCell:  # reading all rows names it
                return np.ones(held.n_rows, dtype=np.bool_)
        chosen = np.asarray(numbers(ids, self.key) < self.share)
        for sample in self.samples:
            chosen |= sample.choose(held)
        return chosen

    def settle(self, first: SettlingChooser) -> None:
        """Choose from all blocks by what was settled on the first one."""
        if isinstance(first, ReadFirst):
            for own, settled in zip(self.samples, first.samples, strict=True):
                own.go_by(settled)


class BlockRows(Stream):
    """The rows of a source in blocks, less those that certify and those that test.

    Rows whose coin is below ``_certify`` certify; those whose coin is below ``_share`` test. Where
    equal rows are copies, coins go by content, and one copy of a row certifies or tests.
    """

    def __init__(
        self,
        oracle: AbstractOracle,
        seed: int,
        apart: int,
        testing: int,
        copies: str = "auto",
    ) -> None:
        super().__init__(oracle, seed, apart)
        rows = max(1, oracle.about_rows or 1)
        most = 1.0 if oracle.n_rows is not None else 0.5  # of rows that were not counted
        self._certify = min(most, apart / rows)
        self._share = self._certify + min(testing / rows, (1 - self._certify) / 2)
        self._certifying: EncodedRows | None = None
        self._roles: list[list[Batch]] = [[], []]
        self._about = rows, 1 if oracle.sparse else oracle.n_columns
        self._copies = copies

    def divide(self) -> None:
        """Read the rows that certify and those that test, in one pass over the source.

        The same pass reads rows that are chosen by their content. Where they tell that equal rows
        are copies, or may be, the source is read again: to judge columns by all rows of their
        values, and with coins that go by content.
        """
        if not self._share:
            return
        sample = ContentSample(*self._about)
        self._roles = self._read([sample])
        verdict = sample.judge(self._copies)
        if verdict.distinct and not verdict.judged:
            samples = [ContentSample(*self._about, by=columns) for columns in verdict.fine]
            for batch in self.oracle.select(ReadFirst(self._key, 0.0, None, samples)):
                for sample in samples:
                    sample.keep(batch.table)
            verdict = verdict.by_values(samples)
        if verdict.distinct:
            tables = [batch.table for role in self._roles for batch in role if batch.n_rows]
            self.content = ContentKeys.of(key_of(self.seed, 8), verdict.fine, tables)
            verdict = replace(verdict, drawn=bool(self.content.popular))
            self._roles = self._read([])
        self.equal_rows = verdict

    def _read(self, samples: Sequence[ContentSample]) -> list[list[Batch]]:
        """Read rows of both roles, one copy where coins go by content, and fill samples."""
        roles: list[list[Batch]] = [[], []]
        first = ReadFirst(self._key, self._share, self.content, samples)
        for batch in self.oracle.select(first):
            for sample in samples:
                sample.keep(batch.table)
            coins = numbers(self._ids(batch), self._key)
            certify, test = coins < self._certify, (coins >= self._certify) & (coins < self._share)
            for role, chosen in zip(roles, (certify, test), strict=True):
                role.append(self._once(batch.take(np.flatnonzero(chosen))))
        return roles

    def _once(self, batch: Batch) -> Batch:
        """Leave one copy of every row, by coins of their own, where coins go by content."""
        if self.content is None:
            return batch
        return batch.take(_one_each(self._ids(batch), numbers(batch.rows, self._key)))

    def encode(self, encoder: RowEncoder) -> None:
        """Code the rows that were read."""
        certify, test = (self._coded(role, encoder) for role in self._roles)
        self._certifying, self.testing, self._roles = certify, test, [[], []]

    def _coded(self, role: list[Batch], encoder: RowEncoder) -> EncodedRows | None:
        role = [batch for batch in role if batch.n_rows]
        if not role:
            return None
        examples = EncodedRows.join([encoder.read(batch) for batch in role])
        if self.content is None:
            return examples
        ids = np.concatenate([self._ids(batch) for batch in role])
        return examples.take(_one_each(ids, numbers(examples.rows, self._key)))

    def _kept_back(self, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        return np.asarray(numbers(ids, self._key) < self._share)

    @property
    def coin_of_rows_apart(self) -> tuple[np.uint64, float, ContentKeys | None]:
        """The key of the rows' coins, below what they certify or test, and what they go by."""
        return self._key, self._share, self.content

    def set_apart(self, encoder: RowEncoder, offer: Offer) -> NDArray[np.bool_] | None:
        """Leave out what certifies or tests, on every pass."""
        return ~self._kept_back(self._ids(offer.batch))

    def apart(self, encoder: RowEncoder) -> EncodedRows | None:
        """Return the rows that certify."""
        return self._certifying

    def _offered(self, batch: Drawn, tickets: NDArray[np.uint64], *, ahead: bool) -> Offer:
        """Offer rows that teach; none of them tests, since rows of one block are no fair draw."""
        new = self._first_time(batch, batch.rows)
        return Offer(batch, batch.rows, new, np.zeros_like(new), tickets)


def _one_each(ids: NDArray[np.uint64], coins: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the places of one row of every identity, that with the lowest coin, in order."""
    order = np.argsort(coins, kind="stable")
    return np.sort(order[np.unique(ids[order], return_index=True)[1]])
