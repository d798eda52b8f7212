"""Fill a sample: score candidates, and accept each with a probability equal to its weight.

The result for a piece of rows is a pure function of the piece, the vote and the key of the refill,
so pieces can be scored on any thread or machine, and in any order.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.native import native
from pacboost.ledgers.ledger import Refill
from pacboost.numerics.same_bits import total
from pacboost.parallel.cores import in_order
from pacboost.samples.gathering import Gathering
from pacboost.samples.row_hashes import Hashes
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.given import joined
from pacboost.sources.table import Table
from pacboost.training.filtering.candidates import AGAIN, FRESH, NEW, Candidates, FilterBatch
from pacboost.training.filtering.plan import MeanTest
from pacboost.training.filtering.rows import RowEncoder, ScoredBatch, VoteSoFar

Floats = NDArray[np.float64]

CELLS_PER_PIECE = 2**17
"""Number of values of a piece, which takes about a megabyte and some milliseconds."""
MIN_ROWS_PER_PIECE = 512
NO_BOUNDS: Floats = np.empty(0)


Tests = tuple[NDArray[np.int8], Floats, Floats, Floats]
"""Kinds, chances, mistakes and losses of scored rows."""


@dataclass(frozen=True, eq=False)
class RefillPart:
    """The result of scoring some rows."""

    draws: int
    rows: NDArray[np.uint64]
    chances: Floats
    tests: list[Tests]
    kept: ScoredBatch
    tables: list[Table]
    """The accepted rows as they were read, if they are still to be hashed."""
    learned: list[Hashes]
    """Their hashes for ``Gathering`` otherwise."""
    last: bool

    @classmethod
    def join(cls, parts: Sequence[RefillPart]) -> RefillPart:
        return cls(
            sum(part.draws for part in parts),
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.chances for part in parts]),
            [tests for part in parts for tests in part.tests],
            ScoredBatch.join([part.kept for part in parts]),
            [table for part in parts for table in part.tables if table.n_rows],
            [hashes for part in parts for hashes in part.learned],
            last=True,
        )


@dataclass(frozen=True, eq=False)
class RefillTask:
    """The task of scoring a piece with the vote, the key and the scale of a refill."""

    encoder: RowEncoder
    vote_so_far: VoteSoFar
    key: np.uint64
    scale: float
    learned: Gathering
    n_columns: int

    def pieces(self, offer: FilterBatch, usable: NDArray[np.bool_] | None) -> Iterator[FilterBatch]:
        """Divide the usable rows of an offer into pieces.

        Black boxes get all rows at once, since their answers may depend on the other rows. Pieces
        of rows that are coded in place are larger, because only accepted rows are copied.
        """
        if not self.vote_so_far.by_codes:
            return offer.pieces(usable, 2**62)
        cells = CELLS_PER_PIECE * (2 if self.encoder.codes_in_place(offer.batch) else 1)
        return offer.pieces(usable, max(MIN_ROWS_PER_PIECE, cells // max(1, self.n_columns)))

    def __call__(self, piece: FilterBatch) -> RefillPart:
        """Read, code and score the rows of a piece, and accept each with its probability."""
        batch = piece.batch
        if self.encoder.codes_in_place(batch):
            coded = self.encoder.read_in_place(batch)
        else:
            batch = batch.read()
            coded = self.encoder.read(batch)
        rows = self.vote_so_far.score(coded)
        odds, chosen = np.empty(rows.n_rows), np.empty(rows.n_rows, dtype=np.int64)
        bounds = NO_BOUNDS if piece.bounds is None else piece.bounds
        count = native.keep(piece.tickets, self.key, rows.chances, bounds, self.scale, odds, chosen)
        chosen = chosen[:count]
        accepted = replace(rows.take(chosen), odds=odds[:count])
        tests = [(piece.kinds, *rows.outcomes)] if piece.is_unbiased else []
        # only accepted rows are copied, and these are few
        hashed = self._hash(batch.take(chosen).read().table, accepted.rows)
        scored = rows.n_rows, rows.rows, rows.chances
        return RefillPart(*scored, tests, accepted, *hashed, piece.last)

    def _hash(self, table: Table, rows: NDArray[np.uint64]) -> tuple[list[Table], list[Hashes]]:
        """Hash accepted rows, except the very first ones, from which the salt is derived."""
        if table.entries is None:
            cells = table.block(0, table.n_columns)
            table = ArrayTable(cells, table.names, table.levels)
        if not self.learned.started:
            return [table], []
        return [], [self.learned.read(table, rows)]


class RefillTests:
    """Tests on rows of one kind: weights and mistakes bound the error, each with delta/2."""

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
        """Return the smaller of the two bounds; for a factor of 0, that by mistakes."""
        # each has half of delta, so that the smaller one may be chosen after looking
        by_mistakes = self.error.upper
        return min(1.0, by_mistakes, factor * self.weight.upper) if factor else by_mistakes

    @property
    def loss(self) -> float:
        return self._loss / self.count if self.count else 0.0


class Refilling:
    """A refill in progress, with its accepted rows and its tests so far."""

    kind = RefillTask

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
        # black boxes may not be safe, and examples are asked for by one thread
        asks = candidates.oracle.asks
        self._threads = threads if vote_so_far.by_codes and not asks else 1
        self._key, self._scale = key, scale
        self._delta = delta
        self._tallies = [RefillTests(delta) for _ in (FRESH, NEW, AGAIN)]
        self.test, self.error_test = self._tallies[FRESH].weight, self._tallies[FRESH].error
        self._factor = vote_so_far.booster.error_factor
        self.draws = self.accepted = 0
        self._tests: list[Tests] = []
        self._parts: list[ScoredBatch] = []
        self._started = time.perf_counter()

    @property
    def error_upper(self) -> float:
        return self._tallies[FRESH].error_upper(self._factor)

    def score_testing_rows(self) -> None:
        """Score the rows that test every vote of the run, if any."""
        examples = self._candidates.testing
        if examples is not None:
            kinds = np.full(examples.n_rows, FRESH, dtype=np.int8)
            self._tests.append((kinds, *self._vote_so_far.score(examples).outcomes))
            self._add_tests()

    def groups(self) -> Iterator[None]:
        """Score one group of candidates after the other.

        If all rows are in memory, the offers of a group are scored together. Otherwise an offer is
        finished before the next one is drawn, so that as few blocks as possible are in memory.
        """
        for group in self._candidates.offer(self._key, self._scale):
            for offers in [group] if self._candidates.whole else ([offer] for offer in group):
                self._look(offers)
            self._add_tests()
            yield

    def _task(self, learned: Gathering) -> RefillTask:
        oracle = self._candidates.oracle
        return self.kind(
            self._encoder, self._vote_so_far, self._key, self._scale, learned, oracle.n_columns
        )

    def _look(self, offers: Iterable[FilterBatch]) -> None:
        candidates, look = self._candidates, self._task(self._candidates.learned)
        pieces = (
            piece
            for offer in offers
            for piece in look.pieces(offer, candidates.set_apart(self._encoder, offer))
        )
        parts: list[RefillPart] = []
        for part in in_order(look, pieces, self._threads):
            parts.append(part)
            if part.last:
                # in the order of the pieces: sums of floats depend on it, and threads may not
                result, parts = RefillPart.join(parts), []
                candidates.seen(result.rows, result.chances)
                self._add(result)

    def _add(self, result: RefillPart) -> None:
        """Add the result of an offer; the first accepted rows come as tables, to be hashed."""
        self._tests += result.tests
        if result.tables:
            self._candidates.learned.add(joined(result.tables), result.kept.rows)
        elif result.learned:
            self._candidates.learned.note(result.learned)
        self.draws += result.draws
        self.accepted += result.kept.n_rows
        self._parts.append(result.kept)

    def _count_again(self) -> int:
        """Return the number of rows that may have been used for learning before."""
        return self._tallies[AGAIN].count

    def expect(self, draws: float) -> None:
        """Prepare for about this number of draws."""

    def finish(self) -> None:
        """End the refill: no more candidates will be requested."""

    def _add_tests(self) -> None:
        """Add the tests of a group at once: sums of floats must not depend on its batches."""
        if not self._tests:
            return
        kinds, *outcomes = (np.concatenate(parts) for parts in zip(*self._tests, strict=True))
        self._tests = []
        # only rows that nothing has used are fresh draws for the vote, so kinds are counted apart
        for kind, tally in enumerate(self._tallies):
            of_kind = kinds == kind
            if of_kind.any():
                tally.add(*(values[of_kind] for values in outcomes))

    def kept(self) -> ScoredBatch | None:
        """Return the rows accepted since the last call; None if there are none."""
        parts = [part for part in self._parts if part.n_rows]
        self._parts = []
        return ScoredBatch.join(parts) if parts else None

    def _estimates(self, rows: int | None) -> tuple[float, float, float]:
        """Estimate mean weight, error and loss of this many rows from the accepted ones."""
        sums = np.zeros(3)
        for part in self._parts:
            # an accepted row stands for 1/odds candidates (Horvitz and Thompson)
            sums += [total(numbers / part.odds) for numbers in part.outcomes]
        mean, wrong, loss = sums / (rows or 1)
        return min(1.0, mean), min(1.0, wrong), loss

    def record(self, number: int) -> Refill:
        tally = next((tally for tally in self._tallies if tally.count), self._tallies[FRESH])
        test, error = tally.weight, tally.error
        mean, wrong, loss = test.mean, error.mean, tally.loss
        if self._candidates.oracle.late_labels:
            _, wrong, loss = self._estimates(self.draws)
        elif not tally.count and self.draws:
            mean, wrong, loss = self._estimates(self._candidates.oracle.n_rows)
        bound = tally.error_upper(self._factor)
        repeats = self._count_again()
        if not self.test.count and (self._candidates.whole or repeats < self.draws):
            bound = 1.0  # the rows were selected by their weights, or bins were chosen by them
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
            error=float(wrong),
            error_upper=min(1.0, bound),
            loss=float(loss),
            delta=self._delta,
            smoothness=1 / (mean or test.upper),
            again=repeats,
            mistakes=round(error.total) if tally.count else 0,
            seconds=time.perf_counter() - self._started,
        )
