"""Draw from arrays, sparse matrices and data frames in memory.

Rows come in a random order over the whole source. Only drawn rows are converted and checked, so the
cost of a draw does not grow with the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.numerics.checks import whole
from pacboost.sources.dataframe import columns_of, is_frame
from pacboost.sources.oracles.learned_columns import LearnedColumns, rows_to_learn
from pacboost.sources.oracles.oracle import (
    REPLACED,
    SHUFFLED,
    AbstractOracle,
    Batch,
    read_position,
)
from pacboost.sources.oracles.row_block import BadCell, are_numbers, distinct, hold
from pacboost.sources.oracles.shuffle import Shuffle, key

ROWS_PER_KEY = 2**12
LABELS_PER_PIECE = 2**18
FINGERPRINT_ROWS = 64


class ArrayOracle(AbstractOracle):
    """Rows in memory, each once per pass in an order keyed by the seed, or with replacement.

    The identity of a row is its number.

    >>> oracle = ArrayOracle(np.arange(10).reshape(5, 2), [0, 1, 0, 1, 1], seed=3)
    >>> oracle.draw(3).rows.tolist(), oracle.draw(3).rows.tolist(), oracle.draw(3).lap
    ([1, 4, 0], [3, 2], 1)
    """

    n_rows: int

    def __init__(
        self,
        X: object,
        y: object,
        seed: int = 0,
        *,
        replace: bool = False,
    ) -> None:
        if is_frame(X) and not are_numbers(X):
            cells = columns_of(X)
            rows = rows_to_learn(len(next(iter(cells.values()))))
            self._looked_at = rows.astype(np.uint64)
            some = {name: column[rows] for name, column in cells.items()}
            self.learned = LearnedColumns.learn(some, "X")
        self._held = hold(X, y, self.learned)
        self.names, self.n_columns = self._held.names, self._held.n_columns
        self.n_rows = self._held.n_rows
        if self.n_rows == 0 or self.n_columns == 0:
            raise DataError(
                f"the examples have {self.n_rows} rows and {self.n_columns} columns; at least one "
                "of each is needed"
            )
        self.order = REPLACED if replace else SHUFFLED
        self._seed = whole("seed", seed)
        self._lap = self._row = 0
        self._shuffle: Shuffle | None = None
        self._only: NDArray[np.int64] | None = None
        """Numbers of the rows to draw from; None for all."""

    def only(self, rows: NDArray[np.intp]) -> ArrayOracle:
        """Return an oracle of some rows, renumbered from 0, without copying them."""
        other = copy(self)
        other._only, other.n_rows = rows, rows.size
        return other

    def looked_at(self, rows: NDArray[np.uint64]) -> NDArray[np.bool_]:
        if self._only is not None:
            rows = self._only[rows.astype(np.intp)].astype(np.uint64)
        return super().looked_at(rows)

    def _upcoming(self, n: int) -> Batch:
        last = self._row + whole("n", n, 1)
        if self.order is REPLACED:
            return self.unread(self._replaced(self._row, last))
        if self._shuffle is None:
            self._shuffle = Shuffle(self.n_rows, key(self._seed, self._lap))
        return self.unread(self._shuffle.part(self._row, min(last, self.n_rows)))

    def _advance(self, count: int) -> None:
        self._row += count
        if self._row == self.n_rows and self.order is not REPLACED:
            self._lap, self._row, self._shuffle = self._lap + 1, 0, None

    def take(self, rows: NDArray[np.int64]) -> Batch:
        return self.unread(rows).read()

    def unread(self, rows: NDArray[np.int64]) -> Batch:
        """Return the rows of these numbers, to be read later."""
        numbers = rows if self._only is None else self._only[rows]
        ids = rows.astype(np.uint64)
        return Batch(None, ids, self._lap, self.place, self._held, numbers)

    def _replaced(self, first: int, last: int) -> NDArray[np.int64]:
        """Draw row numbers in blocks with separate keys, so that batch sizes do not matter."""
        blocks = range(first // ROWS_PER_KEY, (last - 1) // ROWS_PER_KEY + 1)
        drawn = [
            np.random.default_rng(key(self._seed, block)).integers(self.n_rows, size=ROWS_PER_KEY)
            for block in blocks
        ]
        start = first - blocks[0] * ROWS_PER_KEY
        return np.concatenate(drawn)[start : start + last - first]

    def position(self) -> dict[str, Any]:
        return {"lap": self._lap, "row": self._row}

    def seek(self, position: Mapping[str, Any]) -> None:
        self._lap, self._row = read_position(position, "lap", "row")
        self._shuffle = None

    def classes(self) -> NDArray[Any]:
        return distinct(self._labels())

    def class_numbers(self, classes: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the number of each row's class, 255 for the 256th and all beyond."""
        numbers = np.empty(self.n_rows, dtype=np.uint8)
        first = 0
        for labels in self._labels():
            part = numbers[first : first + labels.size]
            if classes.size == 2:  # ten times faster than searching
                np.equal(labels, classes[1], out=part.view(np.bool_))
            else:
                np.minimum(np.searchsorted(classes, labels), 255, out=part, casting="unsafe")
            first += labels.size
        return numbers

    def _labels(self) -> Iterator[NDArray[Any]]:
        for first in range(0, self.n_rows, LABELS_PER_PIECE):
            part = slice(first, first + LABELS_PER_PIECE)
            try:
                yield self._held.labels(part if self._only is None else self._only[part])
            except BadCell as bad:
                raise DataError(f"{self.place(first + bad.row)}: {bad}") from None

    def fingerprint(self) -> str:
        some = np.unique(np.linspace(0, self.n_rows - 1, FINGERPRINT_ROWS).astype(np.int64))
        batch = self.take(some)
        content = sha256(repr((self.n_rows, self.n_columns, self.names)).encode())
        content.update(np.ascontiguousarray(batch.table.rows(), dtype=np.float64).tobytes())
        content.update(repr(batch.labels.tolist()).encode())
        return content.hexdigest()

    def place(self, row: int) -> str:
        return f"row {row if self._only is None else self._only[row]}"
