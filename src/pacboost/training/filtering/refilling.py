"""Fill a sample: look at candidates, keep each with the chance that its weight is."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from pacboost.ledgers.ledger import Refill
from pacboost.numerics.same_bits import total
from pacboost.parallel.tasks import Serial, Tasks
from pacboost.samples.content_sample import joined
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.sparse import SparseTable
from pacboost.sources.table import Table
from pacboost.training.filtering.candidates import Candidates, Offer
from pacboost.training.filtering.looking import (
    AGAIN,
    FRESH,
    NEW,
    AcceptedRows,
    Look,
    Looked,
    Noted,
    losses_of,
    measure,
    pieces,
    worth_compiling,
)
from pacboost.training.filtering.mean_test import MeanTest
from pacboost.training.filtering.row_encoder import RowEncoder
from pacboost.training.filtering.vote_so_far import RowMargins, VoteSoFar

Floats = NDArray[np.float64]


class Tally:
    """What rows of one kind told: their weights, mistakes and log losses, each before learning.

    The error is bounded twice, by the mean weight and by the mistakes, each with half of delta.
    """

    def __init__(self, delta: float) -> None:
        self.weight, self.error = MeanTest(delta / 2), MeanTest(delta / 2)
        self._loss = 0.0

    def add(self, chances: Floats, wrong: Floats, losses: Floats) -> None:
        """See more rows."""
        self.weight.add(chances)
        self.error.add(wrong)
        self._loss += total(losses)

    @property
    def count(self) -> int:
        """How many rows there were."""
        return self.weight.count

    def error_upper(self, factor: float) -> float:
        """Bound the error by the smaller of the two; ``factor`` 0: by the mistakes alone."""
        by_mistakes = self.error.upper
        return min(1.0, by_mistakes, factor * self.weight.upper) if factor else by_mistakes

    @property
    def loss(self) -> float:
        """The mean log loss."""
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
        tasks: Tasks | None = None,
    ) -> None:
        self._candidates, self._encoder, self._vote_so_far = candidates, encoder, vote_so_far
        self._tasks = Serial() if tasks is None else tasks
        if not vote_so_far.by_codes:
            self._tasks = Serial()  # black boxes may not be safe to call from several threads
        self._key, self._scale = key, scale
        self._delta = delta
        self._tallies = [Tally(delta) for _ in (FRESH, NEW, AGAIN)]
        self.test, self.error_test = self._tallies[FRESH].weight, self._tallies[FRESH].error
        self._factor = vote_so_far.booster.error_factor
        self.draws = self.accepted = 0
        self._notes: list[Noted] = []
        self._parts: list[AcceptedRows] = []
        self._started = time.perf_counter()

    @property
    def error_upper(self) -> float:
        """What the error is at most, by the rows that nothing looked at before."""
        return self._tallies[FRESH].error_upper(self._factor)

    def score_testing_rows(self) -> None:
        """Score the rows that test every vote of the run, where the source has such."""
        examples = self._candidates.testing
        if examples is not None:
            row_margins = self._vote_so_far.score(examples.table, examples.signs)
            measured = measure(
                row_margins, examples, np.full(examples.n_rows, FRESH, dtype=np.int8)
            )
            self._notes.append(measured)
            self._sum_up()

    def groups(self) -> Iterator[None]:
        """Look at one group of candidates after the other.

        Where all rows are in memory, the offers of a group are looked at as one. Else an offer is
        done with before the next one is drawn, so that no more blocks are held than have to be.
        """
        for group in self._candidates.offer(self._key, self._scale):
            if self._candidates.whole:
                self._look(group)
            else:
                for offer in group:
                    self._look([offer])
            self._sum_up()
            yield

    def _look(self, offers: Iterable[Offer]) -> None:
        """Look at offers piece by piece, and note what is found in the order of offers."""
        candidates = self._candidates
        look = Look(
            self._encoder,
            self._vote_so_far,
            self._key,
            self._scale,
            candidates.learned,
            worth_compiling(candidates.oracle),
        )
        cut = (
            piece
            for offer in offers
            for piece in pieces(
                offer,
                candidates.set_apart(self._encoder, offer),
                look.rows_per_piece(offer.batch),
            )
        )
        found: list[Looked] = []
        for looked in self._tasks.map(look, cut):
            found.append(looked)
            if looked.last:
                self._take_note(found)
                found = []

    def _take_note(self, found: list[Looked]) -> None:
        """Note what was found of all rows of an offer."""
        rows = np.concatenate([own.rows for own in found])
        chances = np.concatenate([own.chances for own in found])
        self._candidates.seen(rows, chances)
        self._notes += [own.measured for own in found if own.measured is not None]
        kept = AcceptedRows.join([own.kept for own in found])
        self._learn(found, kept)
        self.draws += rows.size
        self.accepted += kept.n_rows
        self._parts.append(kept)

    def _learn(self, found: list[Looked], kept: AcceptedRows) -> None:
        tables = [own.table for own in found if own.table is not None and own.table.n_rows]
        if tables:
            self._learn_tables(tables, kept)
            return
        learned = [own.learned for own in found if own.learned is not None]
        if learned:
            self._candidates.learned.note(learned)

    def _learn_tables(self, tables: list[Table], kept: AcceptedRows) -> None:
        """Take note of the first rows that are kept."""
        self._candidates.learn(_one_table(tables), kept.examples.rows)

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
        every = [(own.kinds, own.chances, own.wrong, own.losses) for own in self._notes]
        kinds, *noted = (np.concatenate(parts) for parts in zip(*every, strict=True))
        self._notes = []
        for kind, tally in enumerate(self._tallies):
            own = kinds == kind
            if own.any():
                tally.add(*(values[own] for values in noted))

    def kept(self) -> AcceptedRows | None:
        """Return what was kept since the last time; None if nothing was."""
        parts = [part for part in self._parts if part.n_rows]
        self._parts = []
        return AcceptedRows.join(parts) if parts else None

    def _guessed(self) -> tuple[float, float, float]:
        """Estimate mean weight, error and loss from what was kept, where nothing else tells."""
        rows = self._candidates.oracle.n_rows
        sums = np.zeros(3)
        for kept in self._parts:
            signs = kept.examples.signs
            row_margins = RowMargins(kept.margins, kept.chances)
            told = kept.chances, row_margins.wrong(signs), losses_of(kept.margins, signs)
            sums += [total(numbers / kept.odds) for numbers in told]
        mean, wrong, loss = sums / (rows or 1)
        return min(1.0, mean), min(1.0, wrong), loss

    def record(self, number: int) -> Refill:
        """Write down what was measured."""
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
    """Put rows that were read one below the other."""
    if len(tables) == 1:
        return tables[0]
    rows = joined(tables)
    if not isinstance(rows, np.ndarray):
        return SparseTable(rows)
    return ArrayTable(rows, tables[0].names, tables[0].levels)
