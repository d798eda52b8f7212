"""Sources that are read in blocks: one block is in use while the next one is read.

If the blocks are known (row groups of a file, ranges of lines), the blocks and the rows of each are
read in a random order keyed by the seed and the pass; otherwise (a query, a stream) in sequence.
Rows of a block come together in both cases, so the first rows are a cluster sample: rows that test
or certify a classifier must be drawn from all blocks (``select``).

The identity of a row is the number of its block and its number within the block, so it depends
neither on batch sizes nor on the time of reading.
"""

from __future__ import annotations

import ctypes
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from pacboost.errors import DataError
from pacboost.numerics.checks import whole
from pacboost.parallel.cores import Result, in_order
from pacboost.sources.optional import need
from pacboost.sources.oracles.learned_columns import (
    LearnedColumns,
    blocks_to_learn,
    rows_to_learn,
)
from pacboost.sources.oracles.oracle import (
    SHUFFLED,
    STREAM,
    AbstractOracle,
    Batch,
    Chooser,
    in_time,
    read_position,
)
from pacboost.sources.oracles.row_block import RowBlock
from pacboost.sources.oracles.shuffle import Shuffle, key
from pacboost.sources.spelling import Spelling

BLOCKS, ROWS = 0, 1
"""First number of a key: the order of blocks, or of the rows in a block."""
BYTES_PER_THREAD = 2**20
"""Memory per thread for blocks read ahead in addition to the next one."""


@lru_cache(maxsize=8)
def _shuffle(n: int, seed: int, *place: int) -> Shuffle:
    """Return a cached order, because many draws read a part of it."""
    return Shuffle(n, key(seed, *place))


@cache
def trim() -> Callable[[int], object]:
    """Return ``malloc_trim`` of the C library (Linux only), else a function without effect."""
    try:
        malloc_trim: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
        return malloc_trim
    except (AttributeError, OSError, TypeError):
        return lambda keep: None


class BlockPlace(NamedTuple):
    """A pass, and the number of its blocks that have been read before."""

    lap: int
    turn: int


class BlockPart(NamedTuple):
    """A range of the rows of a block, in the order of a pass."""

    seed: int
    lap: int
    block: int
    block_rows: int
    first: int
    last: int
    shuffled: bool
    ticket: int = 0
    """Number of the first row among all rows that a refill draws."""

    def of(self, data: RowBlock, place: Callable[[int], str]) -> Batch:
        picked = np.arange(self.first, self.last)
        if self.shuffled:
            order = _shuffle(self.block_rows, self.seed, ROWS, self.lap, self.block)
            picked = order.part(self.first, self.last)
        rows = picked.astype(np.uint64) | np.uint64(self.block << 32)
        return Batch(None, rows, self.lap, place, data, picked)


class BlockOracle(AbstractOracle):
    """An oracle that reads blocks of rows; a subclass reads one block.

    If the number of blocks is unknown (``n_blocks`` is None), they are read in order to the end.
    """

    shuffles_rows: bool = True
    reads_ahead: bool = True
    """Whether another thread reads the next block while this one is in use."""
    blocks_ahead: int = 1
    """Number of blocks read ahead, each by a thread; one if blocks come in sequence."""
    repeats: bool = True
    """Whether a source of unknown blocks can be read again."""

    def __init__(self, seed: int, n_blocks: int | None) -> None:
        self.order = STREAM if n_blocks is None else SHUFFLED
        self.in_blocks = n_blocks is not None
        self._seed = whole("seed", seed)
        self._n_blocks = n_blocks
        self._spot, self._row = BlockPlace(0, 0), 0
        self._lap_has_rows = False
        self._held: RowBlock | None = None
        self._ahead: deque[Future[RowBlock | None]] = deque()
        self._reader: ThreadPoolExecutor | None = None
        self._spares_memory = False

    def learn_columns(
        self, cells_of: Callable[[int], Any], where: str, spelling: Spelling | None = None
    ) -> LearnedColumns:
        """Learn the columns from random rows of random blocks; ``cells_of`` reads those of one."""
        pa = need("pyarrow")
        blocks = blocks_to_learn(self._n_blocks or 1)
        parts, ids = [], []
        for block in in_time(blocks):
            cells = cells_of(block)
            rows = rows_to_learn(cells.num_rows, block, len(blocks))
            parts.append(cells.take(pa.array(rows)))
            ids.append(rows.astype(np.uint64) | np.uint64(block << 32))
        self._looked_at = np.sort(np.concatenate(ids))
        table = pa.concat_tables(parts)
        cells = dict(zip(table.column_names, table.columns, strict=True))
        return LearnedColumns.learn(cells, where, spelling)

    @abstractmethod
    def read(self, block: int) -> RowBlock | None:
        """Read a block; None after the last one, if the number of blocks is unknown."""

    def _upcoming(self, n: int) -> Batch:
        n = whole("n", n, 1)
        data = self._open()
        if data is None:
            return self._no_rows(self._spot.lap)
        last = min(self._row + n, data.n_rows)
        return self.span(self._spot, data.n_rows, self._row, last).of(data, self.place)

    def span(self, spot: BlockPlace, block_rows: int, first: int, last: int) -> BlockPart:
        """Return a range of the rows of the block at a spot."""
        block, shuffled = self._block(spot), self.shuffles_rows
        return BlockPart(self._seed, spot.lap, block, block_rows, first, last, shuffled)

    def _advance(self, count: int) -> None:
        self._row += count
        if self._held is not None and self._row == self._held.n_rows:
            self._leave()

    def select(self, choose: Chooser) -> Iterator[Batch]:
        self._forget()
        block = -1
        for data in self._in_order(self._read_block, range(self._n_blocks or 0)):
            block += 1  # enumerate would keep a reference to the block
            batch = None if data is None else chosen_rows(data, block, choose, self.place)
            del data  # free the memory before the next block is read
            if batch is not None and batch.n_rows:
                yield batch

    def read_ahead_on(self, threads: int) -> None:
        if self._n_blocks is not None and self.largest_block:
            extra_blocks = min(threads - 1, threads * BYTES_PER_THREAD // self.largest_block)
            self.blocks_ahead = 1 + min(extra_blocks, self._n_blocks - 1)

    def _in_order(self, task: Callable[[Any], Result], blocks: Iterable[Any]) -> Iterator[Result]:
        """Apply a task to blocks in order, with as many blocks in memory as during drawing."""
        ahead, blocks = self.blocks_ahead, in_time(blocks)
        return in_order(task, blocks, ahead, ahead + 1) if self.reads_ahead else map(task, blocks)

    def position(self) -> dict[str, Any]:
        return {**self._spot._asdict(), "row": self._row}

    def seek(self, position: Mapping[str, Any]) -> None:
        lap, turn, row = read_position(position, "lap", "turn", "row")
        self._forget()
        self._spot, self._row = BlockPlace(lap, turn), row
        self._lap_has_rows = True

    def close(self) -> None:
        self._forget()
        if self._reader is not None:
            self._reader.shutdown()
            self._reader = None

    def _block(self, spot: BlockPlace) -> int:
        if self._n_blocks is None:
            return spot.turn
        order = _shuffle(self._n_blocks, self._seed, BLOCKS, spot.lap)
        return int(order.part(spot.turn, spot.turn + 1)[0])

    def _after(self, spot: BlockPlace) -> BlockPlace:
        ends = self._n_blocks is not None and spot.turn + 1 >= self._n_blocks
        return BlockPlace(spot.lap + 1, 0) if ends else BlockPlace(spot.lap, spot.turn + 1)

    def _again(self, spot: BlockPlace) -> bool:
        """Check whether the next pass begins with the block that ends this one."""
        return self._block(self._after(spot)) == self._block(spot)

    def _open(self) -> RowBlock | None:
        """Return the block of the next row; None if the source has ended."""
        while True:
            if self._held is None:
                self._held = self._fetch()
            if self._held is None:  # only if the number of blocks is unknown
                if not (self.repeats and self._lap_has_rows):
                    return None
                self._enter(BlockPlace(self._spot.lap + 1, 0))
            elif self._row < self._held.n_rows:
                self._lap_has_rows = True
                return self._held
            else:
                self._leave()

    def _leave(self) -> None:
        """Go to the next block, and free this one before the next but one is read."""
        after = self._after(self._spot)
        if not self._again(self._spot):
            self._held = None
        self._enter(after)

    def _enter(self, spot: BlockPlace) -> None:
        if spot.lap > self._spot.lap:
            if not self._lap_has_rows:
                raise DataError("the source holds no rows; at least one is needed")
            self._lap_has_rows = False
        self._spot, self._row = spot, 0

    def _fetch(self) -> RowBlock | None:
        """Return the current block, and start to read the next ones."""
        (block,) = in_time([self._block(self._spot)])
        if not self.reads_ahead:
            return self._read_block(block)
        if not self._ahead:
            self._ahead.append(self._read_ahead(self._spot))
        wait([self._ahead[0]])
        future = self._ahead.popleft()
        if future.exception() is not None:
            self._forget()  # so that the block can be read again
        data, spot = future.result(), self._spot
        for k in range(self.blocks_ahead if data is not None else 0):
            if self._again(spot):
                break
            spot = self._after(spot)
            if k == len(self._ahead):
                self._ahead.append(self._read_ahead(spot))
        return data

    def _read_ahead(self, spot: BlockPlace) -> Future[RowBlock | None]:
        if self._reader is None:
            self._reader = ThreadPoolExecutor(self.blocks_ahead, "pacboost-reader")
        block = self._block(spot)
        try:
            return self._reader.submit(self._read_block, block)
        except RuntimeError:  # the system has no thread to spare
            read: Future[RowBlock | None] = Future()
            try:
                read.set_result(self._read_block(block))
            except Exception as problem:  # raised where the block is used
                read.set_exception(problem)
            return read

    def check_memory(self, limit: int) -> None:
        """Raise if blocks do not fit; from now on, free unused memory before each read."""
        super().check_memory(limit)
        self._spares_memory = True

    def _read_block(self, block: int) -> RowBlock | None:
        if self._spares_memory:
            trim()(0)
        return self.read(block)

    def _forget(self) -> None:
        """Free all blocks; wait for reads in progress."""
        pending = [future for future in self._ahead if not future.cancel()]
        self._ahead.clear()
        wait(pending)
        self._held = None


def chosen_rows(data: RowBlock, block: int, choose: Chooser, place: Callable[[int], str]) -> Batch:
    """Return the chosen rows of a block."""
    rows = np.arange(data.n_rows, dtype=np.uint64) | np.uint64(block << 32)
    chosen = np.flatnonzero(choose(rows, data))
    return Batch(None, rows[chosen], 0, place, data, chosen).read()
