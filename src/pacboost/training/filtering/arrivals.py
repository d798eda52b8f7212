"""Recognise rows of a stream that come again, by their content; and copies among rows of an array.

Rows of a stream have no fixed position: a second call of ``partial_fit`` with the same rows gives
them new ones. So each row is hashed. If equal rows are copies (``copies="distinct"``), ``Arrivals``
finds the rows that come for the first time. Otherwise ``RepeatAlarm`` refuses the certificate if
rows come again more often than independent draws repeat.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.overlap import Overlap, ValueCounts
from pacboost.samples.row_hashes import Hashes, among, mixed
from pacboost.samples.same_example import REPEATS, Examples, exact_keys, warn_uncounted
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.sparse import SparseTable
from pacboost.training.filtering.candidates import MAX_ROWS_PER_OFFER
from pacboost.training.filtering.rows import of_kind

Flags = NDArray[np.bool_]

MAX_HASHES = 2**18
"""Maximum number of stored hashes of rows: two million bytes."""
MIN_REFERENCE_ROWS, MAX_REFERENCE_ROWS = 32, 2**16
"""Later rows of a stream are compared with its first rows: 32 at first, doubled up to 65,536."""
MAX_WINDOW_ROWS = 2**16
"""Of longer windows about this number of rows is compared, chosen by content on both sides."""
CAME_AGAIN = (
    "rows of the stream came again more often than they repeat by themselves, so rows that certify "
    "may have been learned from. Give every row once, or count distinct rows if equal rows are "
    "copies of one example."
)


class Arrivals:
    """The rows of a stream so far, and whether one of them came again."""

    def __init__(self) -> None:
        self.repeated = False
        """Whether a row came again; no row counts as a first arrival after that."""
        self.known: Hashes = np.empty(0, dtype=np.uint64)
        """The stored hashes, sorted."""

    @property
    def full(self) -> bool:
        """Whether no more hashes are stored, so that copies of later rows are not recognised."""
        return self.known.size >= MAX_HASHES

    def first_time(self, hashes: Hashes, others: Hashes | None = None) -> Flags:
        """Return a mask of the rows before the first repeat; ``others`` came earlier."""
        # a stream that repeats one row may be in another pass, whose rows were all learned from
        if self.repeated:
            return np.zeros(hashes.size, dtype=np.bool_)
        repeats = among(hashes, self.known)
        if others is not None:
            repeats |= among(hashes, np.sort(others))
        repeats[_later_copies(hashes)] = True
        first = int(repeats.argmax()) if repeats.any() else hashes.size
        self.repeated = first < hashes.size
        fresh = np.sort(hashes[:first][: max(0, MAX_HASHES - self.known.size)])
        self.known = np.insert(self.known, np.searchsorted(self.known, fresh), fresh)
        return np.asarray(np.arange(hashes.size) < first)

    def state(self) -> dict[str, NDArray[Any]]:
        return {"arrivals": self.known, "repeated": np.array([self.repeated])}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        self.known = of_kind(state, "arrivals", np.uint64, -1)
        self.repeated = bool(of_kind(state, "repeated", np.bool_, 1)[0])


def _later_copies(hashes: Hashes) -> NDArray[np.intp]:
    """Return the places of rows that equal an earlier one."""
    # stable, so that of equal rows the first one stays
    order = np.argsort(hashes, kind="stable")
    equal = hashes[order[1:]] == hashes[order[:-1]]
    return np.asarray(order[1:][equal], dtype=np.intp)


class RepeatAlarm:
    """Detects rows of a stream that come again more often than independent draws repeat.

    The rows of each window, between two powers of two, are compared with the first rows: all
    earlier ones, or 65,536 (samples/overlap.py). The result does not depend on the sizes of
    batches.
    """

    def __init__(self) -> None:
        self._rows = 0
        self._first: Hashes = np.empty(0, dtype=np.uint64)
        """The hashes of the first rows, in order."""
        self._earlier_alarm = False
        self._start_window(0)

    def _start_window(self, rows: int) -> None:
        """Compare the rows that follow with the first of the ``rows`` so far."""
        self._end = max(MIN_REFERENCE_ROWS, 2 * rows)
        self._reference = ValueCounts.of(self._selected(self._first[:rows]))
        self._window: Hashes = np.empty(0, dtype=np.uint64)
        self._overlap: Overlap | None = None

    def _selected(self, hashes: Hashes) -> Hashes:
        """Return the hashes to compare; equal rows are all chosen, or none of them."""
        length = self._end - self._end // 2
        if length <= MAX_WINDOW_ROWS:
            return hashes
        # by content: a draw by place would choose the two rows of a pair apart, and miss it
        return hashes[mixed(hashes) < np.uint64(2.0**64 * MAX_WINDOW_ROWS / length)]

    @property
    def overlap(self) -> Overlap:
        if self._overlap is None:
            self._overlap = self._reference.overlap(ValueCounts.of(self._window))
        return self._overlap

    @property
    def suspicious(self) -> bool:
        return self._earlier_alarm or self.overlap.suspicious

    def look(self, hashes: Hashes) -> None:
        while hashes.size:
            # windows end at the same rows whatever the sizes of batches
            window, hashes = np.split(hashes, [self._end - self._rows])
            room = MAX_REFERENCE_ROWS - self._first.size
            if room > 0:
                self._first = np.concatenate([self._first, window[:room]])
            self._window = np.concatenate([self._window, self._selected(window)])
            self._overlap = None
            self._rows += window.size
            if self._rows == self._end:
                self._earlier_alarm = self.suspicious
                self._start_window(self._rows)

    def state(self) -> dict[str, NDArray[Any]]:
        counts = [self._rows, self._earlier_alarm]
        return {
            "first_rows": self._first,
            "window_rows": self._window,
            "rows_compared": np.array(counts, dtype=np.int64),
        }

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        rows, alarm = of_kind(state, "rows_compared", np.int64, 2).tolist()
        if rows < 0:
            raise ValueError(f"the number of rows is {rows}")
        self._first = of_kind(state, "first_rows", np.uint64, min(rows, MAX_REFERENCE_ROWS))
        start = 2 ** (rows.bit_length() - 1) if rows >= MIN_REFERENCE_ROWS else 0
        self._start_window(start)
        window = of_kind(state, "window_rows", np.uint64, -1)
        whole = self._end - start <= MAX_WINDOW_ROWS
        if window.size > rows - start or (whole and window.size < rows - start):
            raise ValueError(
                f"the numbers of rows ({rows}) and of rows compared ({window.size}) do not match"
            )
        self._rows, self._window, self._earlier_alarm = rows, window, bool(alarm)


def without_copies(oracle: ArrayOracle) -> ArrayOracle:
    """Keep one row of every example of an array, if equal rows are one example."""
    every, keys = np.arange(oracle.n_rows), []
    # piece by piece, since a copy of all rows may not fit into memory
    for first in range(0, every.size, MAX_ROWS_PER_OFFER):
        table = oracle.take(every[first : first + MAX_ROWS_PER_OFFER]).table
        keys.append(
            exact_keys(
                table.matrix if isinstance(table, SparseTable) else table.block(0, table.n_columns)
            )
        )
    number = np.unique(np.concatenate(keys), return_inverse=True)[1].astype(np.intp)
    once = Examples(every.size, number, True).once(every)
    warn_uncounted(every.size - once.size, every.size, REPEATS)
    return oracle.only(once)
