"""Look at candidates on a worker of a cluster, and send back only what is kept.

The rows of a block are looked at exactly as they are without a cluster; what comes back is packed:
codes, classes, margins and chances of the rows that are kept, and counts of the others.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.parallel.remote_task import Job, Shared
from pacboost.samples.bins import Codes
from pacboost.samples.blocks import CodedTable
from pacboost.samples.content_sample import ContentKeys
from pacboost.samples.row_hashes import Hashes
from pacboost.samples.sample import signs_of
from pacboost.sources.oracles.blocks import Span, Spot
from pacboost.sources.oracles.held import Held
from pacboost.sources.oracles.oracle import Batch
from pacboost.sources.oracles.remote import BlockPlace, RemoteOracle
from pacboost.sources.table import Table
from pacboost.training.filtering.candidates import Offer, kinds_of, numbers
from pacboost.training.filtering.refilling import Look, Looked, Noted, Refilling, worth_compiling
from pacboost.training.filtering.rows import MarginRows, RowEncoder
from pacboost.training.filtering.stream import BlockRows

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RemoteLook:
    """The task of a refill: how rows are looked at, and which of them are left out."""

    look: Look
    apart_key: np.uint64
    apart_share: float
    content: ContentKeys | None
    """What coins go by, where it is not the place of a row."""
    measures: bool
    """Whether weights and mistakes of all rows are wanted: where no rows are set apart to test."""

    def __call__(self, held: Held, place: BlockPlace, span: Span) -> FoundRows:
        unread = span.of(held, place)
        ids = unread.rows
        if self.content is not None:
            ids = self.content.ids(unread.read().table, ids)
        left = ~(numbers(ids, self.apart_key) < self.apart_share)
        kinds = kinds_of(np.full(unread.n_rows, span.lap == 0))
        tickets = np.arange(span.ticket, span.ticket + unread.n_rows, dtype=np.uint64)
        offer = Offer(unread, unread.rows, kinds, tickets, tells=self.measures)
        look = replace(self.look, encoder=replace(self.look.encoder, oracle=place))
        started = time.thread_time()
        found = [look(piece) for piece in offer.pieces(left, look.rows_per_piece(unread))]
        return FoundRows.of(found, span, time.thread_time() - started)


@dataclass(frozen=True, eq=False)
class FoundRows:
    """What was found of some rows of a block, as it is sent to the client."""

    draws: int
    seconds: float
    """How long a core was busy: other programs that run on a worker have no part in it."""
    again: bool
    codes: Codes
    classes: NDArray[np.uint16]
    """The number of each kept row's class."""
    places: NDArray[np.uint32]
    """The number of each kept row in its block."""
    margins: Floats
    chances: Floats
    path: Floats | None
    noted: tuple[Noted, ...]
    tables: tuple[Table, ...]
    learned: tuple[Hashes, ...]

    @classmethod
    def of(cls, found: list[Looked], span: Span, seconds: float) -> FoundRows:
        """Pack what was found of the pieces of a span."""
        kept = MarginRows.join([looked.kept for looked in found])
        if not isinstance(kept.table, CodedTable):
            raise TypeError("rows of a cluster are looked at by their codes")
        classes = kept.signs[:, 0] > 0 if kept.labels is None else kept.labels
        return cls(
            draws=sum(looked.rows.size for looked in found),
            seconds=seconds,
            again=span.lap > 0,
            codes=kept.table.codes,
            classes=classes.astype(np.uint16),
            places=(kept.rows & np.uint64(0xFFFFFFFF)).astype(np.uint32),
            margins=kept.margins,
            chances=kept.chances,
            path=kept.path,
            noted=tuple(looked.noted for looked in found if looked.noted is not None),
            tables=tuple(looked.table for looked in found if looked.table is not None),
            learned=tuple(looked.learned for looked in found if looked.learned is not None),
        )

    @property
    def nbytes(self) -> int:
        arrays: list[NDArray[Any]] = [self.codes, self.classes, self.places, self.margins]
        arrays += [self.chances, *self.learned]
        arrays += [] if self.path is None else [self.path]
        arrays += [array for noted in self.noted for array in noted]
        tables = (table.rows().nbytes for table in self.tables)
        return sum(array.nbytes for array in arrays) + sum(tables)

    def accepted(self, encoder: RowEncoder, block: int, scale: float) -> MarginRows:
        """Unpack the rows that are kept."""
        if encoder.bins is None:
            raise TypeError("codes mean nothing without bins")
        signs, labels = signs_of(self.classes.astype(np.intp), encoder.classes.size)
        rows = self.places.astype(np.uint64) | np.uint64(block << 32)
        names = getattr(encoder.oracle, "names", None)
        table = CodedTable(self.codes, encoder.bins, names)
        odds = np.minimum(1.0, self.chances / scale)
        scores = self.margins, self.chances, odds, self.path
        return MarginRows(table, signs, labels, rows, *scores)


def look_at(
    held: Held, look: RemoteLook, place: BlockPlace, spans: tuple[Span, ...]
) -> list[FoundRows]:
    """Look at rows of a block that a worker has."""
    return [look(held, place, span) for span in spans]


# Fill a sample on a cluster: workers look at rows ahead, the client uses them in their order.
#
# Which rows are drawn is known beforehand, so tasks for later rows start before results of earlier
# ones are there. How many rows a task has, and how many tasks are open, changes nothing but the
# time.

LEAST_SECONDS, MOST_SECONDS = 0.05, 0.25
"""A task gets as many rows as take about so many seconds of a core."""
TASKS_PER_THREAD = 4
"""A refill has so many tasks for every thread, if they are not too short: they end together."""


class Visit(NamedTuple):
    """A task on its way, and the rows it looks at."""

    job: Job[list[FoundRows]]
    spans: tuple[Span, ...]


class RemoteRefilling(Refilling):
    """One refill whose candidates are looked at by workers."""

    def __init__(self, candidates: BlockRows, oracle: RemoteOracle, *more: Any) -> None:
        super().__init__(candidates, *more)
        self._rows, self._oracle, self._cluster = candidates, oracle, oracle.cluster
        self._expected = 0
        self._again_drawn = 0
        self._open: deque[Visit] = deque()
        self._found: deque[tuple[Span, FoundRows]] = deque()
        self._looks: dict[bool, Shared[RemoteLook]] = {}
        self._upcoming = self._spans_ahead()
        self._next = next(self._upcoming)
        self._at_work = self._cluster.threads

    def expect(self, draws: float) -> None:
        """Look no further ahead than about so many draws, as long as they are enough.

        Whether they are is decided after whole groups of rows.
        """
        groups = math.ceil(draws / self._rows.at_once)
        self._expected = max(1, groups) * self._rows.at_once

    def groups(self) -> Iterator[None]:
        try:
            for group in self._candidates.offer(self._key, self._scale):
                for offer in group:
                    self._look([offer])
                self._sum_up()
                yield
        finally:
            self._upcoming.close()  # it refers to this object, which holds on to tasks
            self._open.clear()
            self._looks.clear()

    def finish(self) -> None:
        """Have workers read the next blocks while the client boosts on what was kept."""
        self._oracle.read_next_blocks()

    def _look(self, offers: Iterable[Offer]) -> None:
        """Use what a worker found; rows that were read at the start are looked at here."""
        for offer in offers:
            if isinstance(offer.batch, Batch):
                super()._look([offer])
            else:
                self._use(offer)

    def _use(self, offer: Offer) -> None:
        while not self._found:
            while not self._open and self._next[1].ticket >= self._expected:
                self._expected += self._rows.at_once  # those that were expected are not enough
            self._look_ahead()
            visit = self._open.popleft()
            self._found.extend(zip(visit.spans, visit.job.result(), strict=True))
            self._count_block(visit)
        span, found = self._found.popleft()
        if (span.ticket, span.last - span.first) != (int(offer.tickets[0]), offer.ids.size):
            raise RuntimeError("rows were looked at in another order than they are drawn")
        kept = found.accepted(self._encoder, span.block, self._scale)
        self._note(found.draws, kept, found.noted, found.tables, found.learned)
        if found.draws:
            self._oracle.row_seconds = found.seconds / found.draws
        self._again_drawn += found.draws * found.again
        self._look_ahead()

    def _count_block(self, visit: Visit) -> None:
        """Note which worker has read a block, once for all tasks that look at it."""
        span = visit.spans[0]
        if (span.lap, span.block) != self._oracle.last_counted:
            self._oracle.last_counted = span.lap, span.block
            self._cluster.blocks[visit.job.makers[0]] += 1

    def _count_again(self) -> int:
        return super()._count_again() + (0 if self._measures else self._again_drawn)

    @property
    def _measures(self) -> bool:
        return self._candidates.testing is None

    def _look_ahead(self) -> None:
        """Start tasks: enough for all workers, but for no more draws than are expected.

        The first rows that are kept say how all are hashed: nothing is started before they are.
        """
        started = self._candidates.learned.started
        most = 2 * self._at_work if started else 1
        while len(self._open) < most and self._next[1].ticket < self._expected:
            self._open.append(self._visit(self._rows_per_task() if started else 1))

    def _visit(self, enough: float) -> Visit:
        """Start a task that looks at rows of one block, and ends with the span that is enough.

        What would be left of the block is included if it is no more than half a task.
        """
        spot, first = self._next
        spans = [first]
        self._next = next(self._upcoming)
        left = first.block_rows - first.first
        enough = left if left <= 1.5 * enough else enough
        while self._next[0] == spot and self._next[1].ticket < self._expected:
            if self._next[1].ticket - first.ticket >= enough:
                break
            spans.append(self._next[1])
            self._next = next(self._upcoming)
        place, _ = self._oracle.told(first)
        given = self._oracle.shared(spot), self._shared_look(), place, tuple(spans)
        return Visit(self._cluster.submit(look_at, *given), tuple(spans))

    def _shared_look(self) -> Shared[RemoteLook]:
        """Return the task of this refill as workers have it: it is sent once."""
        started = self._candidates.learned.started
        if started not in self._looks:
            self._looks[started] = self._cluster.share_value(self._remote_look())
        return self._looks[started]

    def _spans_ahead(self) -> Generator[tuple[Spot, Span], None, None]:
        """Return the rows of every offer to come, as ``Stream.offer`` will draw them."""
        waiting, at_once = self._rows.rows_ahead, self._rows.at_once
        ticket, missing = waiting, at_once - waiting % at_once
        for spot, row, rows in self._oracle.spots():
            first = row
            while first < rows:
                last = min(first + missing, rows)
                yield spot, self._oracle.span(spot, rows, first, last)._replace(ticket=ticket)
                ticket, missing = ticket + last - first, missing - (last - first) or at_once
                first = last

    def _rows_per_task(self) -> float:
        """So many rows that a task is worth sending, by the time that rows took before."""
        seconds = self._oracle.row_seconds
        if not seconds:
            return 1.0
        fair = self._expected / (TASKS_PER_THREAD * self._at_work)
        return min(max(fair, LEAST_SECONDS / seconds), MOST_SECONDS / seconds)

    def _remote_look(self) -> RemoteLook:
        candidates = self._rows
        encoder = replace(self._encoder, oracle=BlockPlace(self._oracle.n_columns, ""))
        look = Look(
            encoder, self._vote_so_far, self._key, self._scale,
            candidates.learned.empty(), worth_compiling(self._oracle),
        )  # fmt: skip
        return RemoteLook(look, *candidates.coin_of_rows_apart, self._measures)
