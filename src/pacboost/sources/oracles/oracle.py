"""The interface of oracles: draw batches of examples in a known order.

The sequence of rows depends only on the source and the seed, never on the sizes of batches. Every
row has an identity that is the same on every pass, so random choices about a row can be keyed by
its identity rather than its position in the sequence.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, OutOfTime, ParameterError
from pacboost.numerics.checks import whole
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.learned_columns import LearnedColumns
from pacboost.sources.oracles.row_block import BadCell, RowBlock
from pacboost.sources.table import Table

_end: ContextVar[float] = ContextVar("end", default=math.inf)
Item = TypeVar("Item")


@contextmanager
def reading_until(end: float) -> Iterator[None]:
    """Make reads of sources raise ``OutOfTime`` after this time of the monotonic clock."""
    token = _end.set(end)
    try:
        yield
    finally:
        _end.reset(token)


def in_time(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items; raise ``OutOfTime`` after the end set by ``reading_until``."""
    for item in items:
        if time.monotonic() >= _end.get():
            raise OutOfTime(OUT_OF_TIME.format("while the source was read"))
        yield item


OUT_OF_TIME = (
    "the time limit ended {}, before the first round was done: nothing was learned. Allow more time"
)


@dataclass(frozen=True)
class Order:
    """The order of rows, and what a certificate about future examples assumes."""

    name: str
    assumes: str


INDEPENDENT = Order(
    "independent", "every row is a fresh draw from the distribution of future examples"
)
SHUFFLED = Order(
    "shuffled",
    "the rows of the source are independent draws from the distribution of future examples, in "
    "whatever order the source holds them",
)
REPLACED = Order(
    "replaced",
    "rows are drawn with replacement from this source: this speaks of the error on this source "
    "alone",
)
STREAM = Order(
    "stream",
    "the rows of the stream are independent draws from one distribution, which does not change (a "
    "stream that is sorted by anything is not like that)",
)


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows: their identities in the source, their values, and their unmodified labels.

    Values and labels may still lie in a block, from which any thread may ``read`` them.
    """

    copied: tuple[Table, NDArray[Any]] | None
    """Values and labels; None if they lie in ``block``."""
    rows: NDArray[np.uint64]
    """Identity of each row, the same on every pass and for any batch size."""
    lap: int = 0
    """Number of passes over the source before this one."""
    place: Callable[[int], str] = "row {}".format
    """Returns a description of the position of a row, given its identity."""
    block: RowBlock | None = None
    picked: NDArray[np.int64] | None = None
    """Row numbers within the block."""

    @property
    def n_rows(self) -> int:
        """The number of rows; 0 if a stream has ended."""
        return self.rows.size

    @property
    def table(self) -> Table:
        return self._values()[0]

    @property
    def labels(self) -> NDArray[Any]:
        return self._values()[1]

    def take(self, chosen: NDArray[np.intp]) -> Batch:
        rows = self.rows[chosen]
        if self.picked is not None:
            return replace(self, rows=rows, picked=self.picked[chosen])
        table, labels = self._values()
        return replace(self, copied=(table.take(chosen), labels[chosen]), rows=rows)

    def read(self) -> Batch:
        """Copy and check rows that lie in a block."""
        if self.copied is not None:
            return self
        return Batch(self._values(), self.rows, self.lap, self.place)

    def _values(self) -> tuple[Table, NDArray[Any]]:
        if self.copied is not None:
            return self.copied
        assert self.block is not None
        assert self.picked is not None
        try:
            return self.block.take(self.picked)
        except BadCell as bad:  # the block does not know where it comes from
            raise DataError(f"{self.place(int(self.rows[bad.row]))}: {bad}") from bad.__cause__


Chooser = Callable[[NDArray[np.uint64], RowBlock], NDArray[np.bool_]]
"""Function from the identities of the rows of a block, and the block, to a boolean mask."""


class AbstractOracle(ABC):
    """A source of examples with draws, a position to resume from, and a fingerprint."""

    names: tuple[str, ...] | None = None
    n_columns: int
    n_rows: int | None = None
    """Number of rows in a pass; None if it is unknown or infinite."""
    estimated_rows: int | None = None
    """Estimated number of rows in a pass, if they were not counted."""
    in_blocks: bool = False
    """Whether the source has a known list of blocks, so that ``select`` can read any rows."""
    order: Order
    sparse: bool = False
    """Whether rows are sparse, so that the number of columns does not determine memory."""
    largest_block: int = 0
    """Bytes of the largest block in memory; 0 if the source has no blocks."""
    largest_block_place: str = ""
    bytes_besides: int = 0
    """Bytes that reading takes in addition to blocks."""
    learned: LearnedColumns | None = None
    """What columns hold that are no numbers; None if there are none."""
    _looked_at: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
    """The identities of the rows that the columns were learned from."""
    asks: bool = False
    """Whether every example is asked for and may cost, so that none is drawn ahead."""
    late_labels: bool = False
    """Whether labels are asked for after rows, so that rows may stay without them."""
    asked: int = 0
    """Number of labels that were asked for."""
    price: float | None = None
    """The price of a label, if one was named."""

    def draw(self, n: int) -> Batch:
        """Return the next rows of a pass: at most n, and none if a stream has ended."""
        batch = self._upcoming(n).read()
        self._advance(batch.n_rows)  # not reached if a row cannot be read
        return batch

    def draw_unread(self, n: int) -> Batch:
        """Return the next rows like ``draw``, but let the caller read them later."""
        drawn = self._upcoming(n)
        self._advance(drawn.n_rows)
        return drawn

    @abstractmethod
    def _upcoming(self, n: int) -> Batch:
        """Return the rows of the next ``draw``."""

    def _advance(self, count: int) -> None:  # noqa: B027 - optional
        """Advance the position by ``count`` rows."""

    @abstractmethod
    def position(self) -> dict[str, Any]:
        """Return the position of the next row as values for JSON."""

    @abstractmethod
    def seek(self, position: Mapping[str, Any]) -> None:
        """Continue from a position with the same rows as then."""

    @abstractmethod
    def fingerprint(self) -> str:
        """Return a hash that identifies the source; it does not depend on the seed."""

    @abstractmethod
    def place(self, row: int) -> str:
        """Return a description of the position of a row, given its identity."""

    def classes(self) -> NDArray[Any] | None:
        """Return the sorted distinct labels; None if that would take a pass over the source."""
        return None

    def looked_at(self, rows: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return which rows the columns were learned from, given their identities."""
        return np.isin(rows, self._looked_at)

    @property
    def n_looked_at(self) -> int:
        """The number of rows that the columns were learned from."""
        return self._looked_at.size

    @property
    def about_rows(self) -> int | None:
        """Number of rows in a pass, counted or estimated; None if it is unknown."""
        return self.estimated_rows if self.n_rows is None else self.n_rows

    def select(self, choose: Chooser) -> Iterator[Batch]:
        """Yield the chosen rows of the whole source, without changing the position."""
        raise NotImplementedError(f"{type(self).__name__} cannot select rows")

    @property
    def bytes_needed(self) -> int:
        """Bytes that reading takes at most: the block in use, the next one, and the rest."""
        return 2 * self.largest_block + self.bytes_besides

    def _no_rows(self, lap: int = 0) -> Batch:
        """Return an empty batch, which means that the source has ended."""
        nothing = ArrayTable(np.empty((0, self.n_columns)), self.names)
        return Batch((nothing, np.empty(0)), np.empty(0, np.uint64), lap)

    def check_memory(self, limit: int) -> None:
        """Raise if reading takes more than ``limit`` bytes."""
        if self.bytes_needed > limit:
            raise DataError(
                f"{self.largest_block_place}: takes {self.largest_block / 1e6:,.0f} MB in memory. "
                f"Reading two such blocks takes {self.bytes_needed / 1e6:,.0f} MB, but only "
                f"{limit / 1e6:,.0f} MB are available. Raise the memory limit, or write the source "
                "in smaller blocks."
            )

    def read_ahead_on(self, threads: int) -> None:  # noqa: B027 - optional
        """Read blocks ahead on up to this many threads, if that takes little more memory."""

    def close(self) -> None:  # noqa: B027 - optional
        """Release memory, and close files and connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


def read_position(position: Mapping[str, Any], *names: str) -> tuple[int, ...]:
    """Return the numbers of a position; refuse one of another kind of oracle."""
    if set(position) != set(names):
        raise ParameterError(
            f"the position has the fields {', '.join(map(str, position)) or 'none'}, but this kind "
            f"of source needs {', '.join(names)}. Resume with the kind of source that was saved.",
            parameter="position",
        )
    return tuple(whole(name, position[name]) for name in names)
