"""Look at candidates on a worker of a cluster, and send back only what is kept.

The rows of a block are looked at exactly as they are without a cluster; what comes back is packed:
codes, classes, margins and chances of the rows that are kept, and counts of the others.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.bins import Codes
from pacboost.samples.coded import CodedTable
from pacboost.samples.content_sample import ContentKeys
from pacboost.samples.row_hashes import Hashes
from pacboost.samples.sample import signs_of
from pacboost.sources.oracles.blocks import Span
from pacboost.sources.oracles.held import Held
from pacboost.sources.oracles.remote import BlockPlace
from pacboost.sources.table import Table
from pacboost.training.filtering.drawing.keys import numbers
from pacboost.training.filtering.drawing.offer import Offer
from pacboost.training.filtering.drawing.row_encoder import EncodedRows, RowEncoder
from pacboost.training.filtering.looking import AcceptedRows, Look, Looked, Noted, pieces

Floats = NDArray[np.float64]


class Ticketed(NamedTuple):
    """Rows of a block, and the number of the first among all rows that a refill draws."""

    span: Span
    ticket: int


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

    def __call__(self, held: Held, place: BlockPlace, ticketed: Ticketed) -> FoundRows:
        """Look at some rows of a block."""
        span, ticket = ticketed
        unread = span.of(held, place)
        ids = unread.rows
        if self.content is not None:
            ids = self.content.ids(unread.read().table, ids)
        left = ~(numbers(ids, self.apart_key) < self.apart_share)
        new = np.full(unread.n_rows, span.lap == 0)
        tickets = np.arange(ticket, ticket + unread.n_rows, dtype=np.uint64)
        offer = Offer(unread, unread.rows, new, np.zeros_like(new), tickets, tells=self.measures)
        look = replace(self.look, encoder=replace(self.look.encoder, oracle=place))
        started = time.thread_time()
        found = [look(piece) for piece in pieces(offer, left, look.rows_per_piece(unread))]
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
        kept = AcceptedRows.join([own.kept for own in found])
        examples = kept.examples
        if not isinstance(examples.table, CodedTable):
            raise TypeError("rows of a cluster are looked at by their codes")
        signs, labels = examples.signs, examples.labels
        classes = signs[:, 0] > 0 if labels is None else labels
        return cls(
            draws=sum(own.rows.size for own in found),
            seconds=seconds,
            again=span.lap > 0,
            codes=examples.table.codes,
            classes=classes.astype(np.uint16),
            places=(examples.rows & np.uint64(0xFFFFFFFF)).astype(np.uint32),
            margins=kept.margins,
            chances=kept.chances,
            path=kept.path,
            noted=tuple(own.measured for own in found if own.measured is not None),
            tables=tuple(own.table for own in found if own.table is not None),
            learned=tuple(own.learned for own in found if own.learned is not None),
        )

    @property
    def nbytes(self) -> int:
        """How many bytes of arrays are sent."""
        arrays: list[NDArray[Any]] = [self.codes, self.classes, self.places, self.margins]
        arrays += [self.chances, *self.learned]
        arrays += [] if self.path is None else [self.path]
        for own in self.noted:
            arrays += [own.kinds, own.chances, own.wrong, own.losses]
        tables = (table.rows().nbytes for table in self.tables)
        return sum(array.nbytes for array in arrays) + sum(tables)

    def accepted(self, encoder: RowEncoder, block: int, scale: float) -> AcceptedRows:
        """Unpack the rows that are kept."""
        if encoder.bins is None:
            raise TypeError("codes mean nothing without bins")
        signs, labels = signs_of(self.classes.astype(np.intp), encoder.classes.size)
        rows = self.places.astype(np.uint64) | np.uint64(block << 32)
        names = getattr(encoder.oracle, "names", None)
        table = CodedTable(self.codes, encoder.bins, names)
        examples = EncodedRows(table, signs, labels, rows)
        odds = np.minimum(1.0, self.chances / scale)
        return AcceptedRows(examples, self.margins, self.chances, odds, self.path)


def look_at(
    held: Held, look: RemoteLook, place: BlockPlace, some: tuple[Ticketed, ...]
) -> list[FoundRows]:
    """Look at rows of a block that a worker has."""
    return [look(held, place, ticketed) for ticketed in some]


def as_it_is(look: RemoteLook) -> RemoteLook:
    """Give the task of a refill: a worker that has it passes it on to others."""
    return look
