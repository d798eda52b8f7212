"""Recognise rows of a stream that come again, by their content; and copies among rows of an array.

A stream has no row numbers that could be trusted: a second call of ``partial_fit`` with the same
rows, or a generator that starts over, gives them new positions. So each row is hashed. If equal
rows are copies (``copies="distinct"``), ``Arrivals`` tells which rows come for the first time. If
every row is a draw, nothing that is counted depends on the hashes: ``RepeatAlarm`` only refuses the
certificate when rows come again more often than rows repeat by themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.row_hashes import Hashes, among
from pacboost.samples.same_example import REPEATS, Examples, exact_keys, warn_uncounted
from pacboost.samples.sketch import Overlap
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.sparse import SparseTable
from pacboost.sources.table import Table
from pacboost.training.filtering.candidates import MOST_AT_ONCE
from pacboost.training.filtering.rows import of_kind

Flags = NDArray[np.bool_]

REMEMBERED = 2**18
"""The hashes of so many rows are remembered; two million bytes."""
FIRST_ROWS, MAX_REFERENCE_ROWS = 32, 2**16
"""Later rows of a stream are compared with its first rows: from 32 on, doubled up to 65,536."""
CAME_AGAIN = (
    "rows of the stream came again more often than they repeat by themselves, so rows that certify "
    "may have been learned from. Give every row once, or count distinct rows if equal rows are "
    "copies of one example."
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
        return {"arrivals": self.known, "repeated": np.array([self.repeated])}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        self.known = of_kind(state, "arrivals", np.uint64, -1)
        self.repeated = bool(of_kind(state, "repeated", np.bool_, 1)[0])


def _later_copies(hashes: Hashes) -> NDArray[np.intp]:
    """Return the places of rows that have an equal one before them."""
    order = np.argsort(hashes, kind="stable")
    equal = hashes[order[1:]] == hashes[order[:-1]]
    return np.asarray(order[1:][equal], dtype=np.intp)


class RepeatAlarm:
    """Notices that rows of a stream come again more often than rows repeat by themselves.

    The rows of each window, between two powers of two, are compared with the first rows: all that
    came before, or 65,536. Independent draws equal one of these about as often as these equal each
    other. A window of its own for each doubling finds rows that come again early, before copies
    among the first rows seem natural, and late, before other rows outnumber them. What is found
    does not depend on how many rows come at once.

    >>> alarm, rows = RepeatAlarm(), np.arange(500, dtype=np.uint64)
    >>> alarm.look(rows)
    >>> alarm.suspicious
    False
    >>> alarm.look(rows)
    >>> alarm.suspicious
    True
    """

    def __init__(self) -> None:
        self._rows = 0
        """How many rows came."""
        self._first: Hashes = np.empty(0, dtype=np.uint64)
        """The hashes of the first of them, in their order."""
        self._earlier_alarm = False
        self._start_window(0)

    def _start_window(self, rows: int) -> None:
        """Compare the rows that follow with the first ones, of so many that came."""
        hashes, counts = np.unique(self._first[:rows], return_counts=True)
        self._reference: Hashes = hashes
        self._reference_rows = int(counts.sum())
        self._repeated = int(counts[counts > 1].sum())
        self._end = max(FIRST_ROWS, 2 * rows)
        self._compared = self._shared = 0

    @property
    def overlap(self) -> Overlap:
        """How many rows of the window equal first rows, and how often these equal each other."""
        return Overlap(self._compared, self._shared, self._reference_rows, self._repeated)

    @property
    def suspicious(self) -> bool:
        return self._earlier_alarm or self.overlap.suspicious

    def look(self, hashes: Hashes) -> None:
        """Compare rows that came with the first ones."""
        while hashes.size:
            window, hashes = np.split(hashes, [self._end - self._rows])
            room = MAX_REFERENCE_ROWS - self._first.size
            if room > 0:
                self._first = np.concatenate([self._first, window[:room]])
            self._compared += window.size
            self._shared += int(np.count_nonzero(among(window, self._reference)))
            self._rows += window.size
            if self._rows == self._end:
                self._earlier_alarm = self.suspicious
                self._start_window(self._rows)

    def state(self) -> dict[str, NDArray[Any]]:
        counts = [self._rows, self._compared, self._shared, self._earlier_alarm]
        return {"first_rows": self._first, "rows_compared": np.array(counts, dtype=np.int64)}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        rows, compared, shared, alarm = of_kind(state, "rows_compared", np.int64, 4).tolist()
        self._first = of_kind(state, "first_rows", np.uint64, min(rows, MAX_REFERENCE_ROWS))
        start = 2 ** (rows.bit_length() - 1) if rows >= FIRST_ROWS else 0
        if not 0 <= shared <= compared == rows - start:
            raise ValueError(f"of {rows} rows {compared} were compared and {shared} found again")
        self._start_window(start)
        self._rows, self._compared, self._shared = rows, compared, shared
        self._earlier_alarm = bool(alarm)


def without_copies(oracle: ArrayOracle) -> ArrayOracle:
    """Leave one row of every example of an array, where equal rows are one example."""
    every = np.arange(oracle.n_rows)
    parts = (oracle.take(every[a : a + MOST_AT_ONCE]) for a in range(0, every.size, MOST_AT_ONCE))
    keys = np.concatenate([_keys(batch.table) for batch in parts])
    number = np.unique(keys, return_inverse=True)[1].astype(np.intp)
    once = Examples(every.size, number, True).once(every)
    warn_uncounted(every.size - once.size, every.size, REPEATS)
    return oracle.only(once)


def _keys(table: Table) -> Hashes:
    return exact_keys(table.matrix if isinstance(table, SparseTable) else table.rows())
