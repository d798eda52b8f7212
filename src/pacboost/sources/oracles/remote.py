"""Draw from blocks that the workers of a cluster read; the client knows only their numbers of rows.

The order and the identities of rows are the same as without a cluster. Only some rows are sent to
the client: those for bins, those that certify or test, and those that a filter accepts.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ClusterError
from pacboost.parallel.cluster import MAX_CALLS_PER_TASK, Cluster, in_batches
from pacboost.parallel.jobs import Shared
from pacboost.sources.oracles.blocks import BlockOracle, BlockPart, BlockPlace, chosen_rows
from pacboost.sources.oracles.oracle import Batch, Chooser, in_time
from pacboost.sources.oracles.row_block import RowBlock

MAX_READ_AHEAD_SHARE = 0.25
"""Largest share of the memory of workers for blocks that are read ahead."""


def place_in(where: str, row: int) -> str:
    """Return the position of a row as the place of its block and a row number."""
    return f"{where}, row {row & 0xFFFFFFFF}"


class SpreadOracle(BlockOracle):
    """A source whose blocks can be read on any machine with access to it."""

    reads_in_tasks = True
    """Whether a task reads its own blocks, rather than receiving them."""

    @abstractmethod
    def block_rows(self, block: int) -> int:
        """Return the number of rows of a block."""

    @abstractmethod
    def reading(self, block: int, cluster: Cluster) -> tuple[Any, ...]:
        """Return a pure function with which a worker reads a block, and its arguments."""

    @abstractmethod
    def block_place(self, block: int) -> str:
        """Return a description of the position of a block."""

    @abstractmethod
    def classes(self, cluster: Cluster | None = None) -> NDArray[Any]:
        """Return the distinct labels, computed on a cluster if one is given."""

    def check_block(self, block: int) -> None:
        """Raise if the file of a block has changed."""

    def place(self, row: int) -> str:
        return place_in(self.block_place(row >> 32), row)


class RemoteOracle(BlockOracle):
    """The rows of a source, read by the workers of a cluster."""

    reads_ahead = False

    def __init__(self, source: SpreadOracle, cluster: Cluster) -> None:
        super().__init__(source._seed, source._n_blocks)
        self.source, self.cluster = source, cluster
        self.names, self.n_columns, self.n_rows = source.names, source.n_columns, source.n_rows
        self.learned, self._looked_at = source.learned, source._looked_at
        self.shuffles_rows = source.shuffles_rows
        self.row_seconds = 0.0
        """Seconds per row of the last filtering."""
        self.last_counted: tuple[int, int] | None = None
        """Pass and number of the block that was last counted as read."""
        self._blocks: dict[BlockPlace, Shared[RowBlock]] = {}
        limits, largest = cluster.memory_limits(), source.largest_block
        for worker, limit in limits.items():
            if limit and 2 * largest > limit:
                raise ClusterError(
                    f"{source.largest_block_place}: takes {largest / 1e6:,.0f} MB in memory. A "
                    f"worker needs room for two such blocks, but worker {worker} may use only "
                    f"{limit / 1e6:,.0f} MB. Give workers more memory, or write the source in "
                    "smaller blocks."
                )
        self._most_blocks = 2 * cluster.threads
        if all(limits.values()):
            room = int(MAX_READ_AHEAD_SHARE * sum(limits.values()) / largest)
            self._most_blocks = max(1, min(self._most_blocks, room))

    def read(self, block: int) -> RowBlock:
        """Return the number of rows of a block as empty rows; only workers read the values."""
        return RowBlock({}, range(self.source.block_rows(block)))

    def draw(self, n: int) -> Batch:
        span = self._next_span(n)
        arguments = self.shared(self._spot), self.source.block_place(span.block), span
        batch = self.cluster.submit(_read_span, *arguments).result()
        self._advance(batch.n_rows)
        return batch

    def draw_unread(self, n: int) -> Batch:
        span = self._next_span(n)
        self._advance(span.last - span.first)
        unknown = np.zeros(span.last - span.first, dtype=np.uint64)  # only workers know which rows
        data = self.read(span.block)
        return Batch(None, unknown, span.lap, self.place, data, unknown.view(np.int64))

    def _next_span(self, n: int) -> BlockPart:
        """Return the next rows: at most n, up to the end of the block."""
        data = self._open()
        if data is None:
            raise TypeError("a source in blocks does not end")
        return self.span(self._spot, data.n_rows, self._row, min(self._row + n, data.n_rows))

    def shared(self, spot: BlockPlace) -> Shared[RowBlock]:
        """Return the shared block at a spot, and release the blocks before the current one."""
        for other in [key for key in self._blocks if key < self._spot]:
            del self._blocks[other]
        if spot not in self._blocks:
            self.source.check_block(self._block(spot))
            reading = self.source.reading(self._block(spot), self.cluster)
            self._blocks[spot] = self.cluster.share(*reading)
        return self._blocks[spot]

    def spots(self) -> Iterator[tuple[BlockPlace, int, int]]:
        """Yield the coming spots, each with its number of rows drawn so far and in total."""
        spot, row = self._spot, self._row
        while True:
            yield spot, row, self.source.block_rows(self._block(spot))
            spot, row = self._after(spot), 0

    def read_next_blocks(self) -> None:
        """Start reading the next blocks on the workers."""
        turns = self.spots()
        for _ in range(min(self._most_blocks, self._n_blocks or 1)):
            self.shared(next(turns)[0]).future()

    def select(self, choose: Chooser) -> Iterator[Batch]:
        batches = in_batches(
            self.cluster, _select, self.cluster.share_value(choose),
            map(self._read, in_time(range(self._n_blocks or 0))),
            max_calls=MAX_CALLS_PER_TASK if self.source.reads_in_tasks else 1,
            calls=self.cluster.blocks,
        )  # fmt: skip
        return (batch for batch in batches if batch.n_rows)

    def _read(self, block: int) -> tuple[Any, ...]:
        """Return the arguments with which a task reads a block and selects its rows."""
        return self.source.block_place(block), block, *self.source.reading(block, self.cluster)

    def classes(self) -> NDArray[Any]:
        return self.source.classes(self.cluster)

    def fingerprint(self) -> str:
        return self.source.fingerprint()

    def place(self, row: int) -> str:
        return self.source.place(row)

    def close(self) -> None:
        self._blocks.clear()
        super().close()
        self.source.close()


def _read_span(data: RowBlock, where: str, span: BlockPart) -> Batch:
    return span.of(data, partial(place_in, where)).read()


def _select(
    choose: Chooser, where: str, block: int, reader: Callable[..., RowBlock], *arguments: Any
) -> Batch:
    return chosen_rows(reader(*arguments), block, choose, partial(place_in, where))
