"""Look at candidates: read them, code them, score them by the vote so far, and toss their coins.

Rows are looked at in pieces. What is found of a piece is a pure function of the piece, the vote and
the key of the refill, so pieces can be looked at on any thread, or elsewhere, and in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels import hashing
from pacboost.numerics.same_bits import log_sum_exp, softplus, total
from pacboost.samples.gathering import Gathering
from pacboost.samples.row_hashes import Hashes
from pacboost.samples.sample import Signs
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.oracle import AbstractOracle, Drawn, Unread
from pacboost.sources.table import Table
from pacboost.training.filtering.candidates import Offer, numbers, row_numbers
from pacboost.training.filtering.row_encoder import EncodedRows, RowEncoder
from pacboost.training.filtering.vote_so_far import RowMargins, VoteSoFar

Floats = NDArray[np.float64]

CELLS_PER_PIECE = 2**17
"""A piece of so many values takes about a megabyte and some milliseconds."""
LEAST_PER_PIECE = 512
NO_BOUNDS: Floats = np.empty(0)

FRESH, NEW, AGAIN = range(3)
"""Rows that nothing looked at before, rows that nothing was learned from, and all others."""


@dataclass(frozen=True, eq=False)
class AcceptedRows:
    """EncodedRows that were kept, where they stand, and by which chance they came."""

    examples: EncodedRows
    margins: Floats
    chances: Floats
    """What they weighed when they were kept."""
    odds: Floats
    """With what probability they came to be kept: weights have to be divided by it."""
    path: Floats | None

    @property
    def n_rows(self) -> int:
        """The number of examples."""
        return self.examples.n_rows

    @property
    def mass(self) -> float:
        """An estimate of the weight of all rows that were candidates."""
        return total(self.chances / self.odds)

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> AcceptedRows:
        """Copy some of them."""
        return AcceptedRows(
            self.examples.take(chosen),
            self.margins[chosen],
            self.chances[chosen],
            self.odds[chosen],
            None if self.path is None else self.path[chosen],
        )

    def still_kept(self, vote: VoteSoFar, key: np.uint64, room: int) -> AcceptedRows:
        """Return rows that would be kept again under a later vote: the last, as many as fit."""
        now = vote.score(self.examples.table, self.examples.signs)
        share = np.minimum(1.0, now.chances / self.chances)
        stay = np.flatnonzero(numbers(row_numbers(self.n_rows), key) < share)
        stay = stay[-room:] if room else stay[:0]
        path = None if now.path is None else now.path[stay]
        odds = (self.odds * share)[stay]
        return AcceptedRows(
            self.examples.take(stay), now.margins[stay], now.chances[stay], odds, path
        )

    @classmethod
    def join(cls, parts: list[AcceptedRows]) -> AcceptedRows:
        """Put them one below the other."""
        if len(parts) == 1:
            return parts[0]
        paths = [part.path for part in parts if part.path is not None]
        return cls(
            EncodedRows.join([part.examples for part in parts]),
            np.concatenate([part.margins for part in parts]),
            np.concatenate([part.chances for part in parts]),
            np.concatenate([part.odds for part in parts]),
            np.concatenate(paths) if paths else None,
        )


@dataclass(frozen=True, eq=False)
class Noted:
    """What scored rows tell: their kinds, weights, mistakes and log losses."""

    kinds: NDArray[np.int8]
    chances: Floats
    wrong: Floats
    losses: Floats


@dataclass(frozen=True, eq=False)
class Piece:
    """Some of the rows of an offer."""

    batch: Drawn
    kinds: NDArray[np.int8]
    tickets: NDArray[np.uint64]
    bounds: Floats | None
    tells: bool
    last: bool
    """Whether it is the last piece of its offer."""


@dataclass(frozen=True, eq=False)
class Looked:
    """What was found of a piece."""

    rows: NDArray[np.uint64]
    chances: Floats
    measured: Noted | None
    kept: AcceptedRows
    table: Table | None
    """The rows that are kept, as they were read, if they are still to be hashed."""
    learned: Hashes | None
    """Else what ``Gathering`` notes of them."""
    last: bool


def pieces(offer: Offer, left: NDArray[np.bool_] | None, rows: int) -> Iterator[Piece]:
    """Cut the rows of an offer that are left into equal pieces of so many rows at most."""
    kinds = np.where(offer.fresh, FRESH, np.where(offer.new, NEW, AGAIN)).astype(np.int8)
    places = np.arange(kinds.size) if left is None else np.flatnonzero(left)
    rows = -(-places.size // max(1, -(-places.size // rows))) or 1
    for first in range(0, max(1, places.size), rows):
        own, last = places[first : first + rows], first + rows >= places.size
        whole = own.size == kinds.size
        bounds = None if offer.bounds is None else offer.bounds[own]
        batch = offer.batch if whole else offer.batch.take(own)
        yield Piece(batch, kinds[own], offer.tickets[own], bounds, offer.tells, last)


@dataclass(frozen=True, eq=False)
class Look:
    """The task: look at a piece with the vote, the key and the scale of a refill."""

    encoder: RowEncoder
    vote_so_far: VoteSoFar
    key: np.uint64
    scale: float
    learned: Gathering
    compiled: bool
    """Whether there are so many rows that it pays to compile how they are hashed."""

    def rows_per_piece(self, batch: Drawn) -> int:
        """How many rows make a piece; rules that do not go by codes get all rows at once.

        What a black box answers may depend on which rows it is shown together. Of rows that are
        coded where they lie, only those that are kept are copied, so there may be more of them.
        """
        if not self.vote_so_far.by_codes:
            return 2**62
        cells = CELLS_PER_PIECE * (2 if self._in_place(batch) else 1)
        return max(LEAST_PER_PIECE, cells // max(1, self.encoder.oracle.n_columns))

    def _in_place(self, batch: Drawn) -> TypeGuard[Unread]:
        return self.compiled and self.encoder.codes_in_place(batch)

    def __call__(self, piece: Piece) -> Looked:
        """Read, code and score the rows of a piece, and keep each with the chance it has."""
        batch = piece.batch
        if self._in_place(batch):
            examples = self.encoder.read_in_place(batch)
        else:
            batch = batch.read()
            examples = self.encoder.read(batch)
        row_margins = self.vote_so_far.score(examples.table, examples.signs)
        kept, odds = self._kept(piece, row_margins.chances)
        accepted = AcceptedRows(
            examples.take(kept),
            row_margins.margins[kept],
            row_margins.chances[kept],
            odds,
            None if row_margins.path is None else row_margins.path[kept],
        )
        measured = measure(row_margins, examples, piece.kinds) if piece.tells else None
        hashed = self._hashed(batch.take(kept).read().table, examples.rows[kept])
        return Looked(examples.rows, row_margins.chances, measured, accepted, *hashed, piece.last)

    def _kept(self, piece: Piece, chances: Floats) -> tuple[NDArray[np.int64], Floats]:
        """Toss the coins of rows; give which of them are kept, and their odds."""
        odds, kept = np.empty(chances.size), np.empty(chances.size, dtype=np.int64)
        bounds = NO_BOUNDS if piece.bounds is None else piece.bounds
        count = hashing.keep(piece.tickets, self.key, chances, bounds, self.scale, odds, kept)
        return kept[:count], odds[:count]

    def _hashed(self, table: Table, rows: NDArray[np.uint64]) -> tuple[Table | None, Hashes | None]:
        """Hash rows that are kept; the first ones are left as they are: they say how."""
        compiled = self.compiled and not table.levels
        if table.entries is None:  # NumPy hashes column by column
            values = table.rows() if compiled else np.asfortranarray(table.rows())
            table = ArrayTable(values, table.names, table.levels)
        if not self.learned.started:
            return table, None
        return None, self.learned.read(table, rows, compiled=compiled)


def worth_compiling(oracle: AbstractOracle) -> bool:
    """Check whether there are so many rows that it pays to compile how they are hashed."""
    return (oracle.about_rows or 0) * oracle.n_columns > hashing.CELLS_WORTH_COMPILING


def measure(row_margins: RowMargins, examples: EncodedRows, kinds: NDArray[np.int8]) -> Noted:
    """Measure what the vote makes of rows."""
    wrong = row_margins.wrong(examples.signs).astype(np.float64)
    losses = losses_of(row_margins.margins, examples.signs)
    return Noted(kinds, row_margins.chances, wrong, losses)


def losses_of(margins: Floats, signs: Signs) -> Floats:
    """Return the log loss of every row."""
    if margins.shape[1] == 1:
        return np.asarray(softplus(-2 * margins[:, 0]))
    scores = margins * signs
    return np.asarray((log_sum_exp(scores)[:, None] - scores)[signs > 0])
