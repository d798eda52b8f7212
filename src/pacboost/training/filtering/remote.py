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
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pacboost.parallel.remote_task import Job, Shared
from pacboost.samples.bins import Codes
from pacboost.samples.coded_table import CodedTable
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.blocks import Span, Spot
from pacboost.sources.oracles.held import Held
from pacboost.sources.oracles.oracle import Batch
from pacboost.sources.oracles.remote import RemoteOracle, place_in
from pacboost.training.filtering.candidates import Coins, Offer, kinds_of
from pacboost.training.filtering.refilling import Look, RefillFound, Refilling
from pacboost.training.filtering.stream import BlockRows

NO_TABLE = ArrayTable(np.empty((0, 0)))


@dataclass(frozen=True, eq=False)
class RemoteLook:
    """The task of a refill: how rows are looked at, and which of them are left out."""

    look: Look
    coins: Coins
    measures: bool
    """Whether weights and mistakes of all rows are wanted: where no rows are set apart to test."""

    def __call__(self, held: Held, where: str, span: Span) -> SentRows:
        unread = span.of(held, partial(place_in, where))
        left = ~self.coins.low(self.coins.ids(unread))
        kinds = kinds_of(np.full(unread.n_rows, span.lap == 0))
        tickets = np.arange(span.ticket, span.ticket + unread.n_rows, dtype=np.uint64)
        offer = Offer(unread, unread.rows, kinds, tickets, tells=self.measures)
        started = time.thread_time()
        found = RefillFound.join([self.look(piece) for piece in self.look.pieces(offer, left)])
        seconds = time.thread_time() - started
        if not isinstance(found.kept.table, CodedTable):
            raise TypeError("rows of a cluster are looked at by their codes")
        codes, kept = found.kept.table.codes, replace(found.kept, table=NO_TABLE)
        bare = replace(found, rows=found.rows[:0], chances=found.chances[:0], kept=kept)
        return SentRows(bare, codes, seconds)


class SentRows(NamedTuple):
    """What was found of some rows of a block, as it is sent to the client, which has the bins."""

    found: RefillFound
    codes: Codes
    seconds: float
    """How long a core was busy: other programs that run on a worker have no part in it."""


def look_at(held: Held, look: RemoteLook, where: str, spans: list[Span]) -> list[SentRows]:
    """Look at rows of a block that a worker has."""
    return [look(held, where, span) for span in spans]


# Fill a sample on a cluster: workers look at rows ahead, the client uses them in their order.
#
# Which rows are drawn is known beforehand, so tasks for later rows start before results of earlier
# ones are there. How many rows a task has, and how many tasks are open, changes nothing but the
# time.

LEAST_SECONDS, MOST_SECONDS = 0.05, 0.25
"""A task gets as many rows as take about so many seconds of a core."""
TASKS_PER_THREAD = 4
"""A refill has so many tasks for every thread, if they are not too short: they end together."""


class RemoteRefilling(Refilling):
    """One refill whose candidates are looked at by workers."""

    def __init__(self, candidates: BlockRows, oracle: RemoteOracle, *more: Any) -> None:
        super().__init__(candidates, *more)
        self._rows, self._oracle, self._cluster = candidates, oracle, oracle.cluster
        self._expected = 0
        self._again_drawn = 0
        self._looks: dict[bool, Shared[RemoteLook]] = {}
        upcoming = self._spans_ahead()
        self._found = self._visits(upcoming, *next(upcoming))

    def expect(self, draws: float) -> None:
        """Look no further ahead than about so many draws, in whole groups."""
        groups = math.ceil(draws / self._rows.at_once)
        self._expected = max(1, groups) * self._rows.at_once

    def groups(self) -> Iterator[None]:
        try:
            yield from super().groups()
        finally:
            self._found.close()  # it refers to this object, and holds on to tasks
            self._looks.clear()

    def finish(self) -> None:
        """Have workers read the next blocks while the client boosts on what was kept."""
        self._oracle.read_next_blocks()

    def _look(self, offers: Iterable[Offer]) -> None:
        """Use what a worker found; rows that were read at the start are looked at here."""
        for offer in offers:
            if isinstance(offer.batch, Batch):
                super()._look([offer])
                continue
            span, (found, codes, seconds) = next(self._found)
            if (span.ticket, span.last - span.first) != (int(offer.tickets[0]), offer.ids.size):
                raise RuntimeError("rows were looked at in another order than they are drawn")
            if self._encoder.bins is None:
                raise TypeError("codes mean nothing without bins")
            table = CodedTable(codes, self._encoder.bins, self._oracle.names)
            self._note(replace(found, kept=replace(found.kept, table=table)))
            if found.draws:
                self._oracle.row_seconds = seconds / found.draws
            self._again_drawn += found.draws * (span.lap > 0)

    def _count_again(self) -> int:
        return super()._count_again() + (0 if self._measures else self._again_drawn)

    @property
    def _measures(self) -> bool:
        return self._candidates.testing is None

    def _visits(
        self, upcoming: Iterator[tuple[Spot, Span]], spot: Spot, span: Span
    ) -> Generator[tuple[Span, SentRows]]:
        """Return what workers find of all rows to come, some tasks ahead of what is used.

        There is a single task until it is known how rows are hashed, and none that looks further
        than is expected, unless that turns out not to be enough.
        """
        ahead: deque[tuple[Job[list[SentRows]], list[Span]]] = deque()
        at_work = self._cluster.threads
        while True:
            while not ahead and span.ticket >= self._expected:
                self._expected += self._rows.at_once
            started = self._candidates.learned.started
            most, enough = (2 * at_work, self._rows_per_task(at_work)) if started else (1, 1.0)
            while len(ahead) < most and span.ticket < self._expected:
                here, spans, left = spot, [span], span.block_rows - span.first
                wanted = left if left <= 1.5 * enough else enough  # all if little more is left
                spot, span = next(upcoming)
                while spot == here and span.ticket < min(self._expected, spans[0].ticket + wanted):
                    spans.append(span)
                    spot, span = next(upcoming)
                where = self._oracle.source.block_place(spans[0].block)
                given = self._oracle.shared(here), self._shared_look(), where, spans
                ahead.append((self._cluster.submit(look_at, *given), spans))
            job, spans = ahead.popleft()
            found, block = job.result(), (spans[0].lap, spans[0].block)
            if block != self._oracle.last_counted:  # once for all tasks that look at it
                self._oracle.last_counted = block
                self._cluster.blocks[job.makers[0]] += 1
            yield from zip(spans, found, strict=True)

    def _shared_look(self) -> Shared[RemoteLook]:
        """Return the task of this refill as workers have it: it is sent once."""
        learned = self._candidates.learned
        if learned.started not in self._looks:
            look = RemoteLook(self._task(learned.empty()), self._rows.coins, self._measures)
            self._looks[learned.started] = self._cluster.share_value(look)
        return self._looks[learned.started]

    def _spans_ahead(self) -> Iterator[tuple[Spot, Span]]:
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

    def _rows_per_task(self, at_work: int) -> float:
        """So many rows that a task is worth sending, by the time that rows took before."""
        seconds = self._oracle.row_seconds
        if not seconds:
            return 1.0
        fair = self._expected / (TASKS_PER_THREAD * at_work)
        return min(max(fair, LEAST_SECONDS / seconds), MOST_SECONDS / seconds)
