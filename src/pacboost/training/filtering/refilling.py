"""Fill a sample: look at candidates, keep each with the chance that its weight is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, log_softmax

from pacboost.ledgers.refill import Refill
from pacboost.samples.sample import Signs
from pacboost.training.filtering.candidates import Candidates, Offer
from pacboost.training.filtering.keys import numbers
from pacboost.training.filtering.mean_test import MeanTest
from pacboost.training.filtering.row_encoder import EncodedRows, RowEncoder
from pacboost.training.filtering.vote_so_far import RowMargins, VoteSoFar

Floats = NDArray[np.float64]


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
        return float((self.chances / self.odds).sum())

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> AcceptedRows:
        """Copy some of them."""
        return AcceptedRows(
            self.examples.take(chosen),
            self.margins[chosen],
            self.chances[chosen],
            self.odds[chosen],
            None if self.path is None else self.path[chosen],
        )

    @classmethod
    def join(cls, parts: list[AcceptedRows]) -> AcceptedRows:
        """Put them one below the other."""
        paths = [part.path for part in parts if part.path is not None]
        return cls(
            EncodedRows.join([part.examples for part in parts]),
            np.concatenate([part.margins for part in parts]),
            np.concatenate([part.chances for part in parts]),
            np.concatenate([part.odds for part in parts]),
            np.concatenate(paths) if paths else None,
        )


FRESH, NEW, AGAIN = range(3)
"""Rows that nothing looked at before, rows that nothing was learned from, and all others."""


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
        self._loss += float(losses.sum())

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
    ) -> None:
        self._candidates, self._encoder, self._vote_so_far = candidates, encoder, vote_so_far
        self._key, self._scale = key, scale
        self._delta = delta
        self._tallies = [Tally(delta) for _ in (FRESH, NEW, AGAIN)]
        self.test, self.error_test = self._tallies[FRESH].weight, self._tallies[FRESH].error
        self._factor = vote_so_far.booster.error_factor
        self.draws = self.accepted = 0
        self._notes: list[tuple[NDArray[np.int8], Floats, Floats, Floats]] = []
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
            self._note(row_margins, examples, np.full(examples.n_rows, FRESH, dtype=np.int8))
            known = self._candidates.known_testing
            if known is not None:
                kinds, chances, wrong, losses = self._notes.pop()
                copied = known.mistakes
                chances, wrong = np.where(copied, 1.0, chances), np.where(copied, 1.0, wrong)
                self._notes.append((kinds, chances, wrong, losses))
            self._sum_up()

    def groups(self) -> Iterator[None]:
        """Look at one group of candidates after the other."""
        for group in self._candidates.offer(self._key, self._scale):
            for offer in group:
                self._look(offer)
            self._sum_up()
            yield

    def _look(self, offer: Offer) -> None:
        examples, tickets, bounds = self._encoder.read(offer.batch), offer.tickets, offer.bounds
        kinds = np.where(offer.fresh, FRESH, np.where(offer.new, NEW, AGAIN)).astype(np.int8)
        left = self._candidates.set_apart(examples, offer)
        if left is not None:
            examples, tickets, kinds = examples.take(left), tickets[left], kinds[left]
            bounds = None if bounds is None else bounds[left]
        row_margins = self._vote_so_far.score(examples.table, examples.signs)
        self._candidates.seen(examples.rows, row_margins.chances)
        if offer.tells:
            self._note(row_margins, examples, kinds)
        odds = row_margins.chances
        if bounds is not None:
            odds = np.minimum(odds, bounds)
        odds = np.minimum(1.0, odds / self._scale)
        kept = np.flatnonzero(numbers(tickets, self._key) < odds)
        places = kept if left is None else np.flatnonzero(left)[kept]
        self._candidates.learn(offer.batch.table.take(places), examples.rows[kept])
        self.draws += examples.n_rows
        self.accepted += kept.size
        path = None if row_margins.path is None else row_margins.path[kept]
        chances = row_margins.chances[kept]
        own = AcceptedRows(
            examples.take(kept), row_margins.margins[kept], chances, odds[kept], path
        )
        self._parts.append(own)

    def _note(
        self, row_margins: RowMargins, examples: EncodedRows, kinds: NDArray[np.int8]
    ) -> None:
        wrong = row_margins.wrong(examples.signs).astype(np.float64)
        losses = _losses(row_margins.margins, examples.signs)
        self._notes.append((kinds, row_margins.chances, wrong, losses))

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

    def kept(self) -> AcceptedRows | None:
        """Give what was kept since the last time; None if nothing was."""
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
            told = kept.chances, row_margins.wrong(signs), _losses(kept.margins, signs)
            sums += [float((numbers / kept.odds).sum()) for numbers in told]
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
        again = self._tallies[AGAIN].count
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


def _losses(margins: Floats, signs: Signs) -> Floats:
    """Give the log loss of every row."""
    if margins.shape[1] == 1:
        return np.asarray(-log_expit(2 * margins[:, 0]))
    return np.asarray(-log_softmax(margins * signs, axis=1)[signs > 0])
