"""Fill a sample: look at candidates, keep each with the chance that its weight is.

Rows are looked at in pieces: read, coded, scored by the vote so far, and their coins tossed. What
is found of a piece is a pure function of the piece, the vote and the key of the refill, so pieces
can be looked at on any thread, or elsewhere, and in any order.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacboost.kernels import hashing
from pacboost.ledgers.ledger import Refill
from pacboost.numerics.same_bits import total
from pacboost.parallel.cores import in_order
from pacboost.samples.gathering import Gathering
from pacboost.samples.row_hashes import Hashes
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.oracle import Drawn, Unread
from pacboost.sources.sparse import SparseTable
from pacboost.sources.table import Table
from pacboost.training.filtering.candidates import AGAIN, FRESH, NEW, Candidates, Offer
from pacboost.training.filtering.plan import MeanTest
from pacboost.training.filtering.rows import MarginRows, RowEncoder, VoteSoFar

Floats = NDArray[np.float64]

CELLS_PER_PIECE = 2**17
"""A piece of so many values takes about a megabyte and some milliseconds."""
LEAST_PER_PIECE = 512
NO_BOUNDS: Floats = np.empty(0)


Noted = tuple[NDArray[np.int8], Floats, Floats, Floats]
"""What scored rows tell: their kinds, chances, mistakes and losses."""


@dataclass(frozen=True, eq=False)
class RefillFound:
    """What was found of some rows that were looked at."""

    draws: int
    rows: NDArray[np.uint64]
    chances: Floats
    noted: list[Noted]
    kept: MarginRows
    tables: list[Table]
    """The rows that are kept, as they were read, if they are still to be hashed."""
    learned: list[Hashes]
    """Else what ``Gathering`` notes of them."""
    last: bool

    @classmethod
    def join(cls, parts: Sequence[RefillFound]) -> RefillFound:
        """Put together what was found of all pieces of an offer."""
        return cls(
            sum(part.draws for part in parts),
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.chances for part in parts]),
            [noted for part in parts for noted in part.noted],
            MarginRows.join([part.kept for part in parts]),
            [table for part in parts for table in part.tables if table.n_rows],
            [hashes for part in parts for hashes in part.learned],
            last=True,
        )


@dataclass(frozen=True, eq=False)
class Look:
    """The task: look at a piece with the vote, the key and the scale of a refill."""

    encoder: RowEncoder
    vote_so_far: VoteSoFar
    key: np.uint64
    scale: float
    learned: Gathering
    n_columns: int
    compiled: bool
    """Whether there are so many rows that it pays to compile how they are hashed."""

    def pieces(self, offer: Offer, left: NDArray[np.bool_] | None) -> Iterator[Offer]:
        """Cut the rows of an offer that are left; rules that do not go by codes get all at once.

        What a black box answers may depend on which rows it is shown together. Of rows that are
        coded where they lie, only those that are kept are copied, so there may be more of them.
        """
        if not self.vote_so_far.by_codes:
            return offer.pieces(left, 2**62)
        cells = CELLS_PER_PIECE * (2 if self._in_place(offer.batch) else 1)
        return offer.pieces(left, max(LEAST_PER_PIECE, cells // max(1, self.n_columns)))

    def _in_place(self, batch: Drawn) -> TypeGuard[Unread]:
        return self.compiled and self.encoder.codes_in_place(batch)

    def __call__(self, piece: Offer) -> RefillFound:
        """Read, code and score the rows of a piece, and keep each with the chance it has."""
        batch = piece.batch
        if self._in_place(batch):
            coded = self.encoder.read_in_place(batch)
        else:
            batch = batch.read()
            coded = self.encoder.read(batch)
        rows = self.vote_so_far.score(coded)
        odds, chosen = np.empty(rows.n_rows), np.empty(rows.n_rows, dtype=np.int64)
        bounds = NO_BOUNDS if piece.bounds is None else piece.bounds
        count = hashing.keep(
            piece.tickets, self.key, rows.chances, bounds, self.scale, odds, chosen
        )
        chosen = chosen[:count]
        kept = replace(rows.take(chosen), odds=odds[:count])
        noted = [(piece.kinds, *rows.told)] if piece.tells else []
        hashed = self._hashed(batch.take(chosen).read().table, kept.rows)
        return RefillFound(rows.n_rows, rows.rows, rows.chances, noted, kept, *hashed, piece.last)

    def _hashed(self, table: Table, rows: NDArray[np.uint64]) -> tuple[list[Table], list[Hashes]]:
        """Hash rows that are kept; the first ones are left as they are: they say how."""
        compiled = self.compiled and not table.levels
        if table.entries is None:  # NumPy hashes column by column
            values = table.rows() if compiled else np.asfortranarray(table.rows())
            table = ArrayTable(values, table.names, table.levels)
        if not self.learned.started:
            return [table], []
        return [], [self.learned.read(table, rows, compiled=compiled)]


class Tally:
    """What rows of one kind told; weights and mistakes bound the error, each with delta/2."""

    def __init__(self, delta: float) -> None:
        self.weight, self.error = MeanTest(delta / 2), MeanTest(delta / 2)
        self._loss = 0.0

    def add(self, chances: Floats, wrong: Floats, losses: Floats) -> None:
        self.weight.add(chances)
        self.error.add(wrong)
        self._loss += total(losses)

    @property
    def count(self) -> int:
        return self.weight.count

    def error_upper(self, factor: float) -> float:
        """Bound the error by the smaller of the two; ``factor`` 0: by the mistakes alone."""
        by_mistakes = self.error.upper
        return min(1.0, by_mistakes, factor * self.weight.upper) if factor else by_mistakes

    @property
    def loss(self) -> float:
        return self._loss / self.count if self.count else 0.0


class Refilling:
    """One refill on its way: candidates go in, what is kept adds up, and so do the records."""

    def __init__(
        self,
        candidates: Candidates,
        encoder: RowEncoder,
        vote_so_far: VoteSoFar,
        key: np.uint64,
        scale: float,
        delta: float,
        threads: int = 1,
    ) -> None:
        self._candidates, self._encoder, self._vote_so_far = candidates, encoder, vote_so_far
        self._threads = threads if vote_so_far.by_codes else 1  # black boxes may not be safe
        self._key, self._scale = key, scale
        self._delta = delta
        self._tallies = [Tally(delta) for _ in (FRESH, NEW, AGAIN)]
        self.test, self.error_test = self._tallies[FRESH].weight, self._tallies[FRESH].error
        self._factor = vote_so_far.booster.error_factor
        self.draws = self.accepted = 0
        self._notes: list[Noted] = []
        self._parts: list[MarginRows] = []
        self._started = time.perf_counter()

    @property
    def error_upper(self) -> float:
        """What the error is at most, by the rows that nothing looked at before."""
        return self._tallies[FRESH].error_upper(self._factor)

    def score_testing_rows(self) -> None:
        """Score the rows that test every vote of the run, where the source has such."""
        examples = self._candidates.testing
        if examples is not None:
            kinds = np.full(examples.n_rows, FRESH, dtype=np.int8)
            self._notes.append((kinds, *self._vote_so_far.score(examples).told))
            self._sum_up()

    def groups(self) -> Iterator[None]:
        """Look at one group of candidates after the other.

        Where all rows are in memory, the offers of a group are looked at as one. Else an offer is
        done with before the next one is drawn, so that no more blocks are held than have to be.
        """
        for group in self._candidates.offer(self._key, self._scale):
            for offers in [group] if self._candidates.whole else ([offer] for offer in group):
                self._look(offers)
            self._sum_up()
            yield

    def _task(self, learned: Gathering) -> Look:
        oracle = self._candidates.oracle
        cells = (oracle.about_rows or 0) * oracle.n_columns
        compiled = cells > hashing.MIN_CELLS_TO_COMPILE
        given = self._encoder, self._vote_so_far, self._key, self._scale
        return Look(*given, learned, oracle.n_columns, compiled)

    def _look(self, offers: Iterable[Offer]) -> None:
        """Look at offers piece by piece, and note what is found in the order of offers."""
        candidates, look = self._candidates, self._task(self._candidates.learned)
        pieces = (
            piece
            for offer in offers
            for piece in look.pieces(offer, candidates.set_apart(self._encoder, offer))
        )
        parts: list[RefillFound] = []
        for part in in_order(look, pieces, self._threads):
            parts.append(part)
            if part.last:
                found, parts = RefillFound.join(parts), []
                candidates.seen(found.rows, found.chances)
                self._note(found)

    def _note(self, found: RefillFound) -> None:
        """Add up what was found; the first rows that are kept come as tables, to be hashed."""
        self._notes += found.noted
        if found.tables:
            self._candidates.learned.add(_one_table(found.tables), found.kept.rows)
        elif found.learned:
            self._candidates.learned.note(found.learned)
        self.draws += found.draws
        self.accepted += found.kept.n_rows
        self._parts.append(found.kept)

    def _count_again(self) -> int:
        """How many of the rows may have been learned from before."""
        return self._tallies[AGAIN].count

    def expect(self, draws: float) -> None:
        """Take note of about how many draws will be enough."""

    def finish(self) -> None:
        """Take note that no more candidates will be asked for."""

    def _sum_up(self) -> None:
        """Add a whole group up at once: sums must not depend on how the oracle cut it."""
        if not self._notes:
            return
        kinds, *noted = (np.concatenate(parts) for parts in zip(*self._notes, strict=True))
        self._notes = []
        for kind, tally in enumerate(self._tallies):
            own = kinds == kind
            if own.any():
                tally.add(*(values[own] for values in noted))

    def kept(self) -> MarginRows | None:
        """Return what was kept since the last time; None if nothing was."""
        parts = [part for part in self._parts if part.n_rows]
        self._parts = []
        return MarginRows.join(parts) if parts else None

    def _guessed(self) -> tuple[float, float, float]:
        """Estimate mean weight, error and loss from what was kept, where nothing else tells."""
        rows = self._candidates.oracle.n_rows
        sums = np.zeros(3)
        for kept in self._parts:
            sums += [total(numbers / kept.odds) for numbers in kept.told]
        mean, wrong, loss = sums / (rows or 1)
        return min(1.0, mean), min(1.0, wrong), loss

    def record(self, number: int) -> Refill:
        told = next((tally for tally in self._tallies if tally.count), self._tallies[FRESH])
        test, error = told.weight, told.error
        mean, wrong, loss = test.mean, error.mean, told.loss
        if not told.count and self.draws:
            mean, wrong, loss = self._guessed()
        bound = told.error_upper(self._factor)
        again = self._count_again()
        if not self.test.count and (self._candidates.whole or again < self.draws):
            bound = 1.0  # rows that were chosen by what they weighed, or known to the bins
        return Refill(
            number=number,
            rounds=len(self._vote_so_far),
            draws=self.draws,
            fresh=self.test.count,
            accepted=self.accepted,
            scale=self._scale,
            mean=mean,
            lower=test.lower,
            upper=test.upper,
            error=wrong,
            error_upper=min(1.0, bound),
            loss=loss,
            delta=self._delta,
            smoothness=1 / (mean or test.upper),
            again=again,
            mistakes=round(error.total) if told.count else 0,
            seconds=time.perf_counter() - self._started,
        )


def _one_table(tables: list[Table]) -> Table:
    """Put tables one below the other; sparse ones stay sparse."""
    if len(tables) == 1:
        return tables[0]
    stored = [table.matrix for table in tables if isinstance(table, SparseTable)]
    if stored:
        return SparseTable(sparse.csc_array(sparse.vstack(stored)))
    rows = np.concatenate([table.rows() for table in tables])
    return ArrayTable(rows, tables[0].names, tables[0].levels)
