"""Ask for a label only if the row may be kept: candidates whose labels come later than rows.

A row x is kept with probability w(x, y), which depends on its label y. With one number u, uniform
in [0, 1), the label is asked for if u < max_y w(x, y), and the row is kept if u < w(x, y). So the
rows that are kept are the same, one by one, as if all labels had been known; only labels of rows
that no label would have kept are saved. For logistic weights w(x, +) + w(x, -) = 1, so the larger
of them is at least a half, and at most half of the labels are saved.

Without their labels the weights of the other rows are not known, but whether a row is kept is a
coin of mean μ over all draws. So the test of μ counts rows that are kept, in place of weights.
Mistakes on rows without a label cannot be counted: all draws count as mistakes, and the bound is
that of μ.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.native import native
from pacboost.samples.sample import signs_of
from pacboost.sources.oracles.oracle import Batch
from pacboost.training.filtering.candidates import FilterBatch
from pacboost.training.filtering.refilling import (
    NO_BOUNDS,
    Floats,
    Refilling,
    RefillPart,
    RefillTask,
)
from pacboost.training.filtering.rows import CodedBatch, ScoredBatch


class LateRefillTask(RefillTask):
    """The task of scoring rows by every label that they may have, and asking for some labels."""

    def __call__(self, piece: FilterBatch) -> RefillPart:
        batch = piece.batch
        heaviest = self._heaviest(batch)
        sent, _ = self._below(piece.tickets, heaviest)
        labelled = batch.take(sent)
        rows = self.vote_so_far.score(self.encoder.read(labelled))
        among, odds = self._below(piece.tickets[sent], rows.chances)
        accepted: ScoredBatch = replace(rows.take(among), odds=odds)
        kept, every = np.zeros(batch.n_rows), np.ones(batch.n_rows)
        kept[sent[among]] = 1.0
        tests = [(piece.kinds, kept, every, 0 * every)] if piece.is_unbiased else []
        hashed = self._hash(labelled.take(among).table, accepted.rows)
        return RefillPart(batch.n_rows, batch.rows, heaviest, tests, accepted, *hashed, piece.last)

    def _heaviest(self, batch: Batch) -> Floats:
        """Return the largest weight of each row over the labels that it may have."""
        classes = self.encoder.classes.size
        rows = self.encoder.values(batch)
        weights = [
            self.vote_so_far.score(CodedBatch(rows, *signs, batch.rows)).chances
            for label in range(classes)
            for signs in [signs_of(np.full(batch.n_rows, label, dtype=np.intp), classes)]
        ]
        return np.asarray(np.max(weights, axis=0))

    def _below(
        self, tickets: NDArray[np.uint64], chances: Floats
    ) -> tuple[NDArray[np.int64], Floats]:
        """Return the rows whose random number is below their chance, and these chances."""
        odds, chosen = np.empty(chances.size), np.empty(chances.size, dtype=np.int64)
        chances = np.ascontiguousarray(chances)
        count = native.keep(tickets, self.key, chances, NO_BOUNDS, self.scale, odds, chosen)
        return chosen[:count], odds[:count]


class LateRefilling(Refilling):
    """A refill that asks for the labels of rows that may be kept, in the order of the draws."""

    kind = LateRefillTask
