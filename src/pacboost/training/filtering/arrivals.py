"""Recognise rows that come again, by their content; and copies in a source of known rows.

A stream has no row numbers that could be trusted: a second call of ``partial_fit`` with the same
rows, or a generator that starts over, gives them new positions. So each row is hashed. Equal rows
have equal hashes, and whatever is decided by the hash is decided alike for all copies of a row.

Rows that come again with fewer digits have other hashes. Rounding them and what came before to
the same digits makes them equal again. Among independent draws, rows of the second half are equal
to rows of the first about as often as the latter among themselves; if they are far more often,
rows have come again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import NotCertified
from pacboost.samples.content_sample import (
    CHOSEN,
    ContentKeys,
    ContentSample,
    EqualRowsOfSource,
    joined,
)
from pacboost.samples.equal_rows import Examples
from pacboost.samples.row_hashes import Hashes, among, mixed
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.held import BadCell, Held
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.sources.table import Table
from pacboost.training.filtering.candidates import MOST_AT_ONCE, Coins
from pacboost.training.filtering.rows import of_kind

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
        own = {"arrivals": self.known, "repeated": np.array([self.repeated])}
        return own | self.rounded.state()

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
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
        counts = [self._seen, self._number, self._compared, self._alarm, *self._equal]
        return {
            "rounded": self._codes.reshape(-1),
            "rounded_exact": self._exact,
            "rounded_counts": np.array(counts, dtype=np.int64),
        }

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        counts = of_kind(state, "rounded_counts", np.int64, 4 + WAYS)
        self._exact = of_kind(state, "rounded_exact", np.uint64, -1)
        size = self._exact.size
        self._codes = of_kind(state, "rounded", np.uint64, WAYS * size).reshape(WAYS, size)
        self._seen, number, compared, alarm = counts[:4].tolist()
        due = FIRST_ROWS
        while size >= 2 * due:
            due *= 2
        if number != due:
            raise ValueError(f"{size} rows are compared with the first {number}, not with {due}")
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
                cells = np.where(np.isnan(cells), np.inf, cells)  # all missing ones are equal
                plain = cells.astype(np.float32) + np.float32(0)
            bits = plain.view(np.uint32).astype(np.uint64)
            total[way] += mixed(bits + np.uint64(2 * j + 1 << 32))
    return total


def _later_copies(hashes: Hashes) -> NDArray[np.intp]:
    """Return the places of rows that have an equal one before them."""
    order = np.argsort(hashes, kind="stable")
    equal = hashes[order[1:]] == hashes[order[:-1]]
    return np.asarray(order[1:][equal], dtype=np.intp)


# Equal rows of a source: samples that are chosen by content tell whether they are copies.


@dataclass(frozen=True, eq=False)
class ReadFirst:
    """Chooses the rows that are read in a pass of their own: by their coins, and by content."""

    coins: Coins
    samples: Sequence[ContentSample]

    def __call__(self, rows: NDArray[np.uint64], held: Held) -> NDArray[np.bool_]:
        if self.coins.content is not None:
            try:
                rows = self.coins.content.ids(held.table(np.arange(held.n_rows)), rows)
            except BadCell:  # reading all rows names it
                return np.ones(held.n_rows, dtype=np.bool_)
        chosen = self.coins.low(rows)
        for sample in self.samples:
            chosen |= sample.choose(held)
        return chosen

    def settle(self, first: ReadFirst) -> None:
        """Choose from all blocks by what was settled on the first one."""
        for own, settled in zip(self.samples, first.samples, strict=True):
            own.go_by(settled)


def filled(oracle: AbstractOracle, samples: list[ContentSample]) -> list[ContentSample]:
    """Fill samples with rows of a source."""
    for batch in oracle.select(ReadFirst(Coins(np.uint64(0), 0.0), samples)):
        for sample in samples:
            sample.keep(batch.table)
    return samples


def judged(
    oracle: AbstractOracle, sample: ContentSample, copies: str, about: tuple[int, int]
) -> EqualRowsOfSource:
    """Return what equal rows of a source are, by a sample, and by all rows of fine columns."""
    verdict = sample.judge(copies)
    if verdict.distinct and not verdict.judged:
        by = [ContentSample(*about, by=columns) for columns in verdict.fine]
        verdict = verdict.by_values(filled(oracle, by))
    return verdict


def without_copies(oracle: ArrayOracle, copies: str) -> tuple[ArrayOracle, EqualRowsOfSource]:
    """Leave one row of every example of an array, where equal rows are copies."""
    every = np.arange(oracle.n_rows)
    if oracle.n_rows <= CHOSEN:
        batch = oracle.take(every)
        try:
            examples = Examples.of(joined([batch.table]), copies, batch.labels)
        except NotCertified as refusal:
            return oracle, EqualRowsOfSource(True, problems=(str(refusal), ""))
        drawn = examples.drawn is not None
        verdict = EqualRowsOfSource(examples.repeated, examples.copied, drawn=drawn)
        return oracle.only(examples.once(every)) if examples.copied else oracle, verdict
    (sample,) = filled(oracle, [ContentSample(oracle.n_rows)])
    verdict = judged(oracle, sample, copies, (oracle.n_rows, 1))
    if not verdict.distinct:
        return oracle, verdict
    some = np.random.default_rng(0).choice(oracle.n_rows, CHOSEN, replace=False)
    content = ContentKeys.of(np.uint64(0), verdict.fine, [oracle.take(np.sort(some)).table])
    parts = (oracle.take(every[a : a + MOST_AT_ONCE]) for a in range(0, every.size, MOST_AT_ONCE))
    ids = np.concatenate([content.ids(batch.table, batch.rows) for batch in parts])
    number = np.unique(ids, return_inverse=True)[1].astype(np.intp)
    once = Examples(every.size, number, True).once(every)
    return oracle.only(once), replace(verdict, drawn=bool(content.popular))
