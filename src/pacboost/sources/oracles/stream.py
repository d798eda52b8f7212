"""Draw from streams of batches, and from batches that the caller pushes.

Batches are pairs (X, y), or data frames and Arrow batches with a column of labels. A list, or a
function that returns a new iterator, can be read in several passes; an iterator is read once.
Iterators of single examples (x, y), or of arrays of one row, are read in batches of
``EXAMPLES_PER_BATCH``; examples.py asks a function for them one by one. Only the thread that draws
reads the stream, because a generator may use objects bound to one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, ParameterError
from pacboost.sources.dataframe import columns_of, is_frame
from pacboost.sources.optional import need
from pacboost.sources.oracles.blocks import BlockOracle
from pacboost.sources.oracles.examples import is_example
from pacboost.sources.oracles.files import refuse_other
from pacboost.sources.oracles.learned_columns import LearnedColumns, rows_to_learn
from pacboost.sources.oracles.oracle import STREAM, AbstractOracle, Batch
from pacboost.sources.oracles.row_block import RowBlock, are_numbers, hold, split_frame, taken
from pacboost.sources.table import Table

Batches = Iterable[Any] | Callable[[], Iterable[Any]]


EXAMPLES_PER_BATCH = 1000


class StreamOracle(BlockOracle):
    """The rows of a stream in their order."""

    shuffles_rows = False
    reads_ahead = False
    called = "the stream"

    def __init__(
        self,
        batches: Batches,
        target: str | None = None,
        seed: int = 0,
        *,
        drop: Collection[str] = (),
    ) -> None:
        super().__init__(seed, None)
        self._target, self._left_out = target, drop
        self._begin, self.repeats = _beginning(batches)
        self._begun: Iterator[Any] = _in_batches(self._begin())
        self._number = 0
        """Number of the next batch."""
        self._last: RowBlock | None = None
        self._length: int | None = None
        self._problem: Exception | None = None
        first = self._next()
        if first is None:
            raise DataError(f"{self.called} is empty; at least one batch is needed")
        self.largest_block, self.largest_block_place = first.nbytes, f"batch 0 of {self.called}"

    def read(self, block: int) -> RowBlock | None:
        if self._last is not None and block == self._number - 1:
            return self._last
        self._last = None  # free the memory before the next batch is read
        if block < self._number:
            if not self.repeats:
                raise DataError(
                    f"{self.called} is at batch {self._number} and cannot go back to {block}. "
                    "Pass a function that returns a new iterator instead of an iterator."
                )
            self._begun, self._number, self._problem = _in_batches(self._begin()), 0, None
        while self._number < block:
            if self._ask() is None:
                return None
        return self._next()

    def _next(self) -> RowBlock | None:
        """Return the rows of the next batch, or None at the end; check its columns."""
        batch = self._ask()
        if batch is None:
            return None
        data, where = self.hold(batch), f"batch {self._number - 1} of {self.called}"
        if self._number == 1:
            self.names, self.n_columns = data.names, data.n_columns
        if self.names is not None and data.names is not None and data.names != self.names:
            refuse_other(data.names, where, self.names, "the first")
            raise DataError(f"{where}: has its columns in another order than the first batch")
        if data.n_columns != self.n_columns:
            raise DataError(
                f"{where}: has {data.n_columns} columns, but the first batch had {self.n_columns}"
            )
        self._last = data
        return data

    def _ask(self) -> Any:
        """Return the next batch, unconverted; None at the end."""
        try:
            batch = next(self._begun) if self._problem is None else None
        except StopIteration:
            if self._length not in {None, self._number}:
                raise DataError(
                    f"{self.called} ended after {self._number} batches, but after {self._length} "
                    "on an earlier pass. Every pass must give the same batches."
                ) from None
            self._length = self._number
            return None
        except Exception as problem:
            self._problem = problem  # a generator that raised would seem to have ended
        where, raised = f"batch {self._number} of {self.called}", self._problem
        if raised is not None:
            complaint = f"{where} cannot be read: {type(raised).__name__}: {raised}"
            raise DataError(complaint) from raised
        if batch is None:
            raise DataError(f"{where} is None; end the iterator instead")
        self._number += 1
        return batch

    def learn_first(self, cells: Mapping[str, Any], rows: int) -> None:
        """Learn the columns from half of the first batch, if it is the first pass."""
        if self.learned is None:
            # of batch 0: its number is the upper half of an identity, and no other batch is known
            self._looked_at = rows_to_learn(rows).astype(np.uint64)
            half = self._looked_at.astype(np.int64)
            some = {name: taken(column, half) for name, column in cells.items()}
            self.learned = LearnedColumns.learn(some, self.called)

    def hold(self, batch: Any) -> RowBlock:
        where = f"batch {self._number - 1} of {self.called}"
        if type(batch).__name__ == "RecordBatch":
            batch = need("pyarrow").Table.from_batches([batch])
        try:
            if isinstance(batch, tuple | list) and len(batch) == 2:
                X, y = batch
                if self._number == 1 and is_frame(X) and not are_numbers(X):
                    self.learn_first(columns_of(X), len(X))
                return hold(X, y, self.learned)
            if is_frame(batch) and self._target is not None:
                X, y = split_frame(batch, self._target, self._left_out, where)
                return self.hold((X, y))
        except DataError as problem:
            raise DataError(f"{where}: {str(problem).removeprefix(f'{where}: ')}") from problem
        raise DataError(
            f"{where} is a {type(batch).__name__}; it must be a pair (X, y), or a data frame with "
            "the name of its column of labels as target"
        )

    def fingerprint(self) -> str:
        return sha256(repr((self.n_columns, self.names, self._target)).encode()).hexdigest()

    def place(self, row: int) -> str:
        return f"batch {row >> 32} of {self.called}, row {row & 0xFFFFFFFF}"


def _beginning(batches: Batches) -> tuple[Callable[[], Iterator[Any]], bool]:
    """Return a function that starts the stream, and whether it can be started again."""
    if isinstance(batches, Iterator):
        return lambda: batches, False
    if isinstance(batches, Iterable):
        return lambda: iter(batches), True
    if callable(batches):
        return lambda: iter(batches()), True
    raise ParameterError(
        f"batches is a {type(batches).__name__}; it must be an iterator, a list, or a function "
        "that returns a new iterator",
        parameter="batches",
    )


def _in_batches(items: Iterator[Any]) -> Iterator[Any]:
    """Collect single examples, arrays of one row included, and yield other batches unmodified."""
    X: list[Any] = []
    y: list[Any] = []
    for item in items:
        example = _example(item)
        if example is not None:
            X.append(example[0])
            y.append(example[1])
        if X and (example is None or len(X) == EXAMPLES_PER_BATCH):
            yield X, y
            X, y = [], []
        if example is None:
            yield item
    if X:
        yield X, y


def _example(item: Any) -> tuple[Any, Any] | None:
    """Return a pair (x, y) of a single label, also from arrays of one row; None for others."""
    if not is_example(item):
        return None
    X, y = item
    return (X[0], y[0]) if np.ndim(y) else (X, y)


class PushedOracle(AbstractOracle):
    """Rows that the caller pushes batch by batch; each is drawn once, in order."""

    order = STREAM

    def __init__(self, n_columns: int, names: tuple[str, ...] | None = None) -> None:
        self.n_columns, self.names = n_columns, names
        self._waiting: list[Batch] = []
        self._count = 0

    def push(self, table: Table, labels: NDArray[Any]) -> None:
        rows = np.arange(self._count, self._count + table.n_rows, dtype=np.uint64)
        self._waiting.append(Batch((table, labels), rows, place=self.place))
        self._count += table.n_rows

    def _upcoming(self, n: int) -> Batch:
        return self._waiting.pop(0) if self._waiting else self._no_rows()

    def position(self) -> dict[str, Any]:
        return {"count": self._count}

    def seek(self, position: Mapping[str, Any]) -> None:
        raise ParameterError("batches that were pushed cannot be read again", parameter="batches")

    def fingerprint(self) -> str:
        return "pushed"

    def place(self, row: int) -> str:
        return f"row {row} of all batches"
