"""Draw from Dask collections; a partition is a block."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, DataTypeError, ParameterError
from pacboost.parallel.cluster import Cluster, in_batches
from pacboost.sources.optional import is_collection
from pacboost.sources.oracles.files import refuse_other
from pacboost.sources.oracles.learned_columns import LearnedColumns
from pacboost.sources.oracles.remote import SpreadOracle
from pacboost.sources.oracles.row_block import (
    BadCell,
    RowBlock,
    are_numbers,
    arrow_table,
    distinct,
    hold,
    hold_frame,
    split_frame,
)


class Facts(NamedTuple):
    """Summary of a partition."""

    number: int
    rows: int
    nbytes: int
    labels: NDArray[Any]
    names: tuple[str, ...] | None
    columns: int


def hold_partition(
    target: str | None,
    drop: Collection[str],
    learned: LearnedColumns | None,
    number: int,
    *parts: Any,
    rows: int | None = None,
) -> RowBlock:
    """Make rows of a computed partition, or of a pair (X, y); check the number of rows."""
    if len(parts) == 1:
        data = hold_frame(parts[0], str(target), drop, f"partition {number}", learned)
    else:
        X, y = parts
        data = hold(X, y[:, 0] if isinstance(y, np.ndarray) and y.ndim == 2 else y, learned)
    if rows not in (None, data.n_rows):
        raise DataError(
            f"partition {number}: has {data.n_rows} rows, but had {rows} before. A partition must "
            "be the same whenever it is computed: call persist() first, or write Parquet files."
        )
    return data


def facts_of(
    target: str | None, drop: Collection[str], learned: LearnedColumns | None, number: int,
    *parts: Any,
) -> Facts:  # fmt: skip
    """Return the number of rows, the labels and the columns of a partition."""
    data = hold_partition(target, drop, learned, number, *parts)
    try:
        labels = data.labels()
    except BadCell as bad:
        raise DataError(f"partition {number}, row {bad.row}: {bad}") from bad
    nbytes = data.nbytes or 8 * data.n_rows * data.n_columns
    classes = distinct([labels]) if labels.size else labels
    return Facts(number, data.n_rows, nbytes, classes, data.names, data.n_columns)


class DaskOracle(SpreadOracle):
    """The rows of Dask collections; a first pass counts the rows and finds the labels.

    The source is a data frame with a column of labels, or a pair (X, y) of data frames, series or
    arrays with the same partitions. A partition is a block. It is computed when it is needed and
    freed afterwards, so it must give the same rows in the same order whenever it is computed.
    """

    reads_ahead = False
    reads_in_tasks = False
    n_rows: int

    def __init__(
        self,
        source: object,
        target: str | None = None,
        seed: int = 0,
        *,
        drop: Collection[str] = (),
        cluster: Cluster | None = None,
    ) -> None:
        self._how: tuple[Any, ...] = target, tuple(drop), None
        self._parts = _partitions(source, target)
        X: Any = source[0] if isinstance(source, tuple) else source
        others = [name for name in (target, *drop) if name is not None]
        if hasattr(X, "columns") and not are_numbers(X._meta.drop(columns=others, errors="ignore")):
            super().__init__(seed, len(self._parts))
            self.learned = self.learn_columns(self._cells, "the Dask collection")
            self._how = target, tuple(drop), self.learned
        numbers, look = range(len(self._parts)), partial(facts_of, *self._how)
        surveyed: Iterable[Facts] = (look(number, *self._computed(number)) for number in numbers)
        if cluster is not None:
            arguments = ((number, *self._futures(number, cluster)) for number in numbers)
            surveyed = in_batches(cluster, look, None, arguments, max_calls=1, calls=cluster.blocks)
        self._facts = [facts for facts in surveyed if facts.rows]
        if not self._facts:
            raise DataError("the Dask collection holds no rows; at least one is needed")
        first = self._facts[0]
        for facts in self._facts:
            where, elsewhere = f"partition {facts.number}", f"partition {first.number}"
            refuse_other(facts.names or (), where, first.names or (), elsewhere)
        looked_at = self._looked_at.tolist()
        super().__init__(seed, len(self._facts))
        # empty partitions are no blocks
        blocks = {facts.number: block for block, facts in enumerate(self._facts)}
        self._looked_at = np.array(
            [blocks[row >> 32] << 32 | row & 0xFFFFFFFF for row in looked_at], dtype=np.uint64
        )
        self.names, self.n_columns = first.names, first.columns
        self.n_rows = sum(facts.rows for facts in self._facts)
        largest = max(self._facts, key=lambda facts: facts.nbytes)
        self.largest_block = largest.nbytes
        self.largest_block_place = f"partition {largest.number}"

    def _cells(self, number: int) -> Any:
        """Compute the features of a partition, to learn what they hold."""
        X = self._computed(number)[0]
        if len(self._parts[number]) == 1:
            X, _ = split_frame(X, str(self._how[0]), self._how[1], f"partition {number}")
        return arrow_table(X)

    def _computed(self, number: int) -> list[Any]:
        return [part.compute(scheduler="sync") for part in self._parts[number]]

    def _futures(self, number: int, cluster: Cluster) -> list[Any]:
        """Start computing a partition; the scheduler computes it again if it is lost."""
        return [cluster.client.compute(part) for part in self._parts[number]]

    def read(self, block: int) -> RowBlock:
        facts = self._facts[block]
        parts = self._computed(facts.number)
        return hold_partition(*self._how, facts.number, *parts, rows=facts.rows)

    def reading(self, block: int, cluster: Cluster) -> tuple[Any, ...]:
        facts = self._facts[block]
        futures = self._futures(facts.number, cluster)
        return partial(hold_partition, *self._how, rows=facts.rows), facts.number, *futures

    def block_rows(self, block: int) -> int:
        return self._facts[block].rows

    def block_place(self, block: int) -> str:
        return f"partition {self._facts[block].number}"

    def classes(self, cluster: Cluster | None = None) -> NDArray[Any]:
        return distinct(facts.labels for facts in self._facts)

    def fingerprint(self) -> str:
        """Hash the keys of the partitions, which Dask derives from their content or files."""
        keys = [str(part.key) for parts in self._parts for part in parts]
        rows = [facts.rows for facts in self._facts]
        return sha256(repr((keys, rows, self.names, self._how[0])).encode()).hexdigest()


def _partitions(source: Any, target: str | None) -> list[tuple[Any, ...]]:
    if not isinstance(source, tuple):
        if not hasattr(source, "columns"):
            raise DataTypeError(
                f"the source is a Dask {type(source).__name__}; give a Dask DataFrame with "
                "target=, or a pair (X, y) of Dask collections"
            )
        if target is None:
            raise ParameterError(
                "target is None; name the column of the Dask DataFrame that holds the labels",
                parameter="target",
            )
        return [(part,) for part in source.to_delayed()]
    X, y = source
    if not is_collection(y):
        raise DataTypeError(
            f"X is a Dask collection but y a {type(y).__name__}; give y as a Dask collection with "
            "the same partitions, for example a column of the same data frame"
        )
    parts = _rows_of(X), _rows_of(y)
    if len(parts[0]) != len(parts[1]):
        raise DataError(
            f"X has {len(parts[0])} partitions but y has {len(parts[1])}; give both the same "
            "partitions"
        )
    return list(zip(*parts, strict=True))


def _rows_of(collection: Any) -> list[Any]:
    """Return the partitions of a collection; refuse arrays with chunks of columns."""
    pieces = collection.to_delayed()
    if isinstance(pieces, np.ndarray):
        if pieces.ndim == 2 and pieces.shape[1] > 1:
            raise DataError(
                f"the array has {pieces.shape[1]} chunks of columns; rechunk it so that every "
                "chunk has all columns: X.rechunk({1: -1})"
            )
        return list(pieces.ravel())
    return list(pieces)
