"""An oracle gives examples when asked, and says in what order: a booster needs no more than that.

The sequence of rows depends on the source and the seed alone, never on how many rows are asked for
at once. Every row has an identity that is the same on every pass, so choices about a row can be
keyed by it instead of by its arrival.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, OutOfTime, ParameterError
from pacboost.numerics.checks import whole
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.held import BadCell, Held
from pacboost.sources.table import Table

# Reading a source before the first round may take longer than a fit has.

_end: ContextVar[float] = ContextVar("end", default=math.inf)
Item = TypeVar("Item")


@contextmanager
def reading_until(end: float) -> Iterator[None]:
    """Have reads of sources raise ``OutOfTime`` after a moment of the monotonic clock."""
    token = _end.set(end)
    try:
        yield
    finally:
        _end.reset(token)


def in_time(items: Iterable[Item]) -> Iterator[Item]:
    """Return the items one by one, as long as there is time."""
    for item in items:
        if time.monotonic() >= _end.get():
            raise OutOfTime(OUT_OF_TIME.format("while the source was read"))
        yield item


OUT_OF_TIME = (
    "the time limit ended {}, before the first round was done: nothing was learned. Allow more time"
)


@dataclass(frozen=True)
class Order:
    """In what order rows come, and what a certificate about future examples has to assume."""

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
    """Some rows: their values, their labels as they came, and which rows of the source they are."""

    table: Table
    labels: NDArray[Any]
    rows: NDArray[np.uint64]
    """The identity of each row: the same on every pass, and for any size of batch."""
    lap: int = 0
    """How many passes over the source came before this one."""
    place: Callable[[int], str] = "row {}".format
    """Says where the row of an identity lies."""

    @property
    def n_rows(self) -> int:
        """The number of rows; 0 says that a stream has ended."""
        return self.rows.size

    def take(self, chosen: NDArray[np.intp]) -> Batch:
        table = self.table.take(chosen)
        return Batch(table, self.labels[chosen], self.rows[chosen], self.lap, self.place)

    def read(self) -> Batch:
        return self


@dataclass(frozen=True, eq=False)
class Unread:
    """Rows still to be copied out of the block that holds them, by any thread."""

    held: Held
    picked: NDArray[np.int64]
    """The numbers of the rows in the block."""
    rows: NDArray[np.uint64]
    lap: int
    place: Callable[[int], str]

    @property
    def n_rows(self) -> int:
        return self.rows.size

    def take(self, chosen: NDArray[np.intp]) -> Unread:
        picked, rows = self.picked[chosen], self.rows[chosen]
        return Unread(self.held, picked, rows, self.lap, self.place)

    def read(self) -> Batch:
        """Copy and check the rows; a cell that cannot be used is named by its place."""
        try:
            table, labels = self.held.take(self.picked)
        except BadCell as bad:
            raise DataError(f"{self.place(int(self.rows[bad.row]))}: {bad}") from bad.__cause__
        return Batch(table, labels, self.rows, self.lap, self.place)


Drawn = Batch | Unread

Chooser = Callable[[NDArray[np.uint64], Held], NDArray[np.bool_]]
"""Tells which rows of a block are chosen, given their identities and the block."""


class AbstractOracle(ABC):
    """A source of examples that can be asked for more, told where to go on, and recognised."""

    names: tuple[str, ...] | None = None
    n_columns: int
    n_rows: int | None = None
    """How many rows a pass has; None where that is not known, or rows never end."""
    estimated_rows: int | None = None
    """About how many rows a pass has, where they were not counted."""
    in_blocks: bool = False
    """Whether the source is made of blocks that are all known: ``select`` then reads any rows."""
    order: Order
    sparse: bool = False
    """Whether rows hold few of the columns, so that their number says nothing about memory."""
    largest_block: int = 0
    """How many bytes the largest block takes in memory; 0 where nothing is read in blocks."""
    largest_block_place: str = ""
    bytes_besides: int = 0
    """What reading takes besides blocks."""

    def draw(self, n: int) -> Batch:
        """Return the next rows of one pass: at most n, none where a stream has ended."""
        batch = self._upcoming(n).read()
        self._advance(batch.n_rows)  # not where a row cannot be read
        return batch

    def draw_unread(self, n: int) -> Drawn:
        """Do what ``draw`` does, but leave it to the caller when and where the rows are read."""
        drawn = self._upcoming(n)
        self._advance(drawn.n_rows)
        return drawn

    @abstractmethod
    def _upcoming(self, n: int) -> Drawn:
        """Return the rows that ``draw`` gives next."""

    def _advance(self, count: int) -> None:  # noqa: B027 - not all oracles have a place
        """Go on by so many rows."""

    @abstractmethod
    def position(self) -> dict[str, Any]:
        """Return where the next row comes from, in values that JSON can hold."""

    @abstractmethod
    def seek(self, position: Mapping[str, Any]) -> None:
        """Go on from a position, with the very rows that would have come then."""

    @abstractmethod
    def fingerprint(self) -> str:
        """Return what tells one source from another; the seed has no part in it."""

    @abstractmethod
    def place(self, row: int) -> str:
        """Return in words where the row of this identity lies."""

    def classes(self) -> NDArray[Any] | None:
        """Return the distinct labels, sorted; None where finding them would cost a pass."""
        return None

    @property
    def about_rows(self) -> int | None:
        """How many rows a pass has, counted or estimated; None where nothing is known of it."""
        return self.estimated_rows if self.n_rows is None else self.n_rows

    def select(self, choose: Chooser) -> Iterator[Batch]:
        """Read the whole source once for the rows that are chosen; ``draw`` goes on as before."""
        raise NotImplementedError(f"{type(self).__name__} cannot be asked for chosen rows")

    @property
    def bytes_needed(self) -> int:
        """How many bytes reading takes at most: two blocks, the one in use and the next."""
        return 2 * self.largest_block + self.bytes_besides

    def _no_rows(self, lap: int = 0) -> Batch:
        """Return a batch that says that the source has ended."""
        nothing = ArrayTable(np.empty((0, self.n_columns)), self.names)
        return Batch(nothing, np.empty(0), np.empty(0, np.uint64), lap)

    def check_memory(self, limit: int) -> None:
        """Raise if what reading takes does not fit into so many bytes."""
        if self.bytes_needed > limit:
            raise DataError(
                f"{self.largest_block_place}: takes {self.largest_block / 1e6:,.0f} MB in memory, "
                f"and two such have to be held at once: with all that is needed to read them "
                f"{self.bytes_needed / 1e6:,.0f} MB, where the limit leaves {limit / 1e6:,.0f} MB. "
                "Raise the limit, or write the source again in smaller blocks."
            )

    def read_ahead_on(self, threads: int) -> None:  # noqa: B027 - many oracles read nothing ahead
        """Keep so many threads busy with reading, where that takes little more memory."""

    def close(self) -> None:  # noqa: B027 - many oracles have nothing open
        """Let go of what is held and open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


def read_position(position: Mapping[str, Any], *names: str) -> tuple[int, ...]:
    """Read the numbers of a position, and refuse one that is of another kind of oracle."""
    if set(position) != set(names):
        raise ParameterError(
            f"a position of this oracle holds {', '.join(names)}; this one holds "
            f"{', '.join(map(str, position)) or 'nothing'}. Go on with the kind of source it is of."
        )
    return tuple(whole(name, position[name]) for name in names)
