"""Blocks that workers of a cluster read: the client knows how many rows each has, and no values.

The order of rows is that of the same source without a cluster, and so is every row's identity. Rows
leave a worker only when they are asked for: the few that bins are made of, those that certify or
test, and those that a filter keeps.
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
from pacboost.parallel.remote_task import Shared
from pacboost.sources.oracles.blocks import BlockOracle, Span, Spot, chosen_rows
from pacboost.sources.oracles.held import Held
from pacboost.sources.oracles.oracle import Batch, Chooser, Drawn, Unread, in_time

SHARE_OF_MEMORY = 0.25
"""Blocks that are read ahead take no more than this share of what workers may use."""


def place_in(where: str, row: int) -> str:
    """Name a row of one block: a worker does not know the others."""
    return f"{where}, row {row & 0xFFFFFFFF}"


class SpreadOracle(BlockOracle):
    """A source whose blocks can be read on any machine that has access to it."""

    reads_in_tasks = True
    """Whether a task reads its blocks itself, one after the other, rather than being given them."""

    @abstractmethod
    def block_rows(self, block: int) -> int:
        """How many rows a block has."""

    @abstractmethod
    def reading(self, block: int, cluster: Cluster) -> tuple[Any, ...]:
        """Return how a worker reads a block: a pure function, and what it is called with."""

    @abstractmethod
    def block_place(self, block: int) -> str:
        """Return in words where a block lies."""

    @abstractmethod
    def classes(self, cluster: Cluster | None = None) -> NDArray[Any]:
        """Find the distinct labels, on a cluster if there is one."""

    def check_block(self, block: int) -> None:
        """Raise if the files of the source are no longer as they were."""

    def place(self, row: int) -> str:
        return place_in(self.block_place(row >> 32), row)


class RemoteOracle(BlockOracle):
    """The rows of a source, read by the workers of a cluster."""

    reads_ahead = False

    def __init__(self, source: SpreadOracle, cluster: Cluster) -> None:
        super().__init__(source._seed, source._n_blocks)
        self.source, self.cluster = source, cluster
        self.names, self.n_columns, self.n_rows = source.names, source.n_columns, source.n_rows
        self.shuffles_rows = source.shuffles_rows
        self.row_seconds = 0.0
        """How long looking at a row took the last time."""
        self.last_counted: tuple[int, int] | None = None
        """The pass and number of the block that was last counted as read."""
        self._blocks: dict[Spot, Shared[Held]] = {}
        limits, largest = cluster.memory_limits(), source.largest_block
        for worker, limit in limits.items():
            if limit and 2 * largest > limit:
                raise ClusterError(
                    f"{source.largest_block_place}: takes {largest / 1e6:,.0f} MB in memory, and a "
                    f"worker holds two such at times; worker {worker} may use "
                    f"{limit / 1e6:,.0f} MB. Give workers more memory, or write the source again "
                    "in smaller blocks."
                )
        room = SHARE_OF_MEMORY * sum(limits.values()) / largest if all(limits.values()) else 2**31
        self._most_blocks = max(1, min(2 * cluster.threads, int(room)))

    def read(self, block: int) -> Held:
        """Return as many rows as a block has, which only workers can read."""
        return Held({}, range(self.source.block_rows(block)))

    def draw(self, n: int) -> Batch:
        span = self._next_span(n)
        given = self.shared(self._spot), self.source.block_place(span.block), span
        batch = self.cluster.submit(_read_span, *given).result()
        self._advance(batch.n_rows)
        return batch

    def draw_unread(self, n: int) -> Drawn:
        span = self._next_span(n)
        self._advance(span.last - span.first)
        unknown = np.zeros(span.last - span.first, dtype=np.uint64)  # which rows, workers know
        held = self.read(span.block)
        return Unread(held, unknown.view(np.int64), unknown, span.lap, self.place)

    def _next_span(self, n: int) -> Span:
        """Return the rows that come next: at most n, and at most to the end of the block."""
        held = self._open()
        if held is None:
            raise TypeError("a source in blocks does not end")
        return self.span(self._spot, held.n_rows, self._row, min(self._row + n, held.n_rows))

    def shared(self, spot: Spot) -> Shared[Held]:
        """Return the block whose turn it is then, as workers have it; those before are let go."""
        for other in [own for own in self._blocks if own < self._spot]:
            del self._blocks[other]
        if spot not in self._blocks:
            self.source.check_block(self._block(spot))
            reading = self.source.reading(self._block(spot), self.cluster)
            self._blocks[spot] = self.cluster.share(*reading)
        return self._blocks[spot]

    def spots(self) -> Iterator[tuple[Spot, int, int]]:
        """Return the turns from here on, how many rows of each have come, and how many it has."""
        spot, row = self._spot, self._row
        while True:
            yield spot, row, self.source.block_rows(self._block(spot))
            spot, row = self._after(spot), 0

    def read_next_blocks(self) -> None:
        """Have workers read what comes next, while the client does something else."""
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
        """Return what a worker needs to read a block in the same task as it uses it."""
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


def _read_span(held: Held, where: str, span: Span) -> Batch:
    return span.of(held, partial(place_in, where)).read()


def _select(
    choose: Chooser, where: str, block: int, read: Callable[..., Held], *given: Any
) -> Batch:
    return chosen_rows(read(*given), block, choose, partial(place_in, where))
