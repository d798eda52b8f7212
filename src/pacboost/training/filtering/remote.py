"""Refills on a cluster: workers score rows ahead, and the client uses the results in order.

A worker sends back the codes, classes, margins and chances of the accepted rows, and counts of the
others. The next draws are known in advance, so tasks for later rows start before the results of
earlier ones arrive. The size and the number of the tasks affect nothing but the time.
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

from pacboost.parallel.jobs import Job, Shared
from pacboost.samples.bins import Codes
from pacboost.samples.coded_table import CodedTable
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.blocks import BlockPart, BlockPlace
from pacboost.sources.oracles.remote import RemoteOracle, place_in
from pacboost.sources.oracles.row_block import RowBlock
from pacboost.training.filtering.candidates import Coins, FilterBatch, kinds_of
from pacboost.training.filtering.refilling import Refilling, RefillPart, RefillTask
from pacboost.training.filtering.stream import BlockRows

NO_TABLE = ArrayTable(np.empty((0, 0)))


@dataclass(frozen=True, eq=False)
class RemoteTask:
    """The task of a refill on a worker: how rows are scored, and which are skipped."""

    look: RefillTask
    coins: Coins
    measures: bool
    """Whether all rows are tests, because no rows are set apart for tests."""

    def __call__(self, held: RowBlock, where: str, span: BlockPart) -> SentRows:
        unread = span.of(held, partial(place_in, where))
        usable = ~self.coins.low(self.coins.ids(unread))
        kinds = kinds_of(np.full(unread.n_rows, span.lap == 0))
        tickets = np.arange(span.ticket, span.ticket + unread.n_rows, dtype=np.uint64)
        offer = FilterBatch(unread, unread.rows, kinds, tickets, is_unbiased=self.measures)
        started = time.thread_time()
        result = RefillPart.join([self.look(piece) for piece in self.look.pieces(offer, usable)])
        seconds = time.thread_time() - started
        if not isinstance(result.kept.table, CodedTable):
            raise TypeError("rows of a cluster are scored by their codes")
        codes, accepted = result.kept.table.codes, replace(result.kept, table=NO_TABLE)
        bare = replace(result, rows=result.rows[:0], chances=result.chances[:0], kept=accepted)
        return SentRows(bare, codes, seconds)


class SentRows(NamedTuple):
    """The result for some rows of a block, without the bins, which the client has."""

    found: RefillPart
    codes: Codes
    seconds: float
    """Processor time, which does not include other programs on the worker."""


def look_at(held: RowBlock, look: RemoteTask, where: str, spans: list[BlockPart]) -> list[SentRows]:
    """Score rows of a block that a worker holds."""
    return [look(held, where, span) for span in spans]


MIN_SECONDS_PER_TASK, MAX_SECONDS_PER_TASK = 0.05, 0.25
TASKS_PER_THREAD = 4
"""Number of tasks of a refill for each thread, unless they are too short: so that all threads
finish at about the same time."""


class RemoteRefilling(Refilling):
    """A refill whose candidates are scored by workers."""

    def __init__(self, candidates: BlockRows, oracle: RemoteOracle, *arguments: Any) -> None:
        super().__init__(candidates, *arguments)
        self._rows, self._oracle, self._cluster = candidates, oracle, oracle.cluster
        self._expected = 0
        self._again_drawn = 0
        self._looks: dict[bool, Shared[RemoteTask]] = {}
        upcoming = self._spans_ahead()
        self._found = self._visits(upcoming, *next(upcoming))

    def expect(self, draws: float) -> None:
        """Score no more than about this number of draws ahead, in whole groups."""
        groups = math.ceil(draws / self._rows.at_once)
        self._expected = max(1, groups) * self._rows.at_once

    def groups(self) -> Iterator[None]:
        try:
            yield from super().groups()
        finally:
            self._found.close()  # a cycle of references would keep tasks in memory
            self._looks.clear()

    def finish(self) -> None:
        """Let workers read the next blocks while the client boosts."""
        self._oracle.read_next_blocks()

    def _look(self, offers: Iterable[FilterBatch]) -> None:
        """Use the results of workers; rows that were read ahead are scored here."""
        for offer in offers:
            if offer.batch.block is None:
                super()._look([offer])
                continue
            span, (result, codes, seconds) = next(self._found)
            if (span.ticket, span.last - span.first) != (int(offer.tickets[0]), offer.ids.size):
                raise RuntimeError("rows were scored in another order than they are drawn")
            if self._encoder.bins is None:
                raise TypeError("codes mean nothing without bins")
            table = CodedTable(codes, self._encoder.bins, self._oracle.names)
            self._add(replace(result, kept=replace(result.kept, table=table)))
            if result.draws:
                self._oracle.row_seconds = seconds / result.draws
            self._again_drawn += result.draws * (span.lap > 0)

    def _count_again(self) -> int:
        return super()._count_again() + (0 if self._measures else self._again_drawn)

    @property
    def _measures(self) -> bool:
        return self._candidates.testing is None

    def _visits(
        self, upcoming: Iterator[tuple[BlockPlace, BlockPart]], spot: BlockPlace, span: BlockPart
    ) -> Generator[tuple[BlockPart, SentRows]]:
        """Yield the results for all rows to come, with some tasks ahead of those that are used.

        There is a single task until the salt of hashes is known, and none beyond the expected
        number of draws, unless that turns out to be too small.
        """
        ahead: deque[tuple[Job[list[SentRows]], list[BlockPart]]] = deque()
        at_work = self._cluster.threads
        while True:
            while not ahead and span.ticket >= self._expected:
                self._expected += self._rows.at_once
            started = self._candidates.learned.started
            tasks, rows = (2 * at_work, self._rows_per_task(at_work)) if started else (1, 1.0)
            while len(ahead) < tasks and span.ticket < self._expected:
                here, spans, rest = spot, [span], span.block_rows - span.first
                size = rest if rest <= 1.5 * rows else rows  # no small task at the end of a block
                spot, span = next(upcoming)
                while spot == here and span.ticket < min(self._expected, spans[0].ticket + size):
                    spans.append(span)
                    spot, span = next(upcoming)
                where = self._oracle.source.block_place(spans[0].block)
                arguments = self._oracle.shared(here), self._shared_look(), where, spans
                ahead.append((self._cluster.submit(look_at, *arguments), spans))
            # in the order of the draws: which worker is faster may not change the model
            job, spans = ahead.popleft()
            results, block = job.result(), (spans[0].lap, spans[0].block)
            if block != self._oracle.last_counted:  # once for all tasks that look at it
                self._oracle.last_counted = block
                self._cluster.blocks[job.makers[0]] += 1
            yield from zip(spans, results, strict=True)

    def _shared_look(self) -> Shared[RemoteTask]:
        learned = self._candidates.learned
        if learned.started not in self._looks:
            look = RemoteTask(self._task(learned.empty()), self._rows.coins, self._measures)
            self._looks[learned.started] = self._cluster.share_value(look)
        return self._looks[learned.started]

    def _spans_ahead(self) -> Iterator[tuple[BlockPlace, BlockPart]]:
        """Yield the rows of every offer to come, as ``Stream.offer`` will draw them."""
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
        """Return the number of rows of a task, from the time that earlier rows took."""
        seconds = self._oracle.row_seconds
        if not seconds:
            return 1.0
        fair = self._expected / (TASKS_PER_THREAD * at_work)
        return min(max(fair, MIN_SECONDS_PER_TASK / seconds), MAX_SECONDS_PER_TASK / seconds)
