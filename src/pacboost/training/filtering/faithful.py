"""Filtering as in the theorems: every round has a separate sample and a separate test.

A sample is as large as the learner needs for half of the promised edge, boosting continues only
while μ is surely above c·ε, and the edge of a rule is measured on draws that it was not learned
from. A rule that passes surely has 0.4 times the promised edge (KEPT of plan.py), for which
boosters are set up and their theorems bound the rounds (docs/proofs/filtering.md).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from pacboost.boosters.booster import Measured
from pacboost.boosters.bounded_weights import BoundedWeights
from pacboost.hypotheses.hypothesis import Hypothesis, Valued
from pacboost.hypotheses.stump import StumpRule
from pacboost.ledgers.ledger import Round
from pacboost.samples.coded_table import CodedTable
from pacboost.samples.sample import Sample
from pacboost.training.filtering.candidates import key_of
from pacboost.training.filtering.engine import Event, Filtering
from pacboost.training.filtering.plan import SHARE_OF_EPSILON, EdgeTest, draws_for, share_of
from pacboost.training.filtering.refilling import Refilling
from pacboost.training.filtering.rows import ScoredBatch
from pacboost.training.run.rounds import FinishedRound
from pacboost.training.run.stop_reason import Stop, StopReason

TRIES = 3
"""Number of samples on which a learner is asked for a rule that has an edge."""


class Faithful(Filtering):
    """A run that follows the theorems as proved."""

    def _wanted(self, delta: float) -> int:
        """Return the rows that the learner needs; if unknown, at most those of the source."""
        capacity, n_rows = self._capacity(), self.candidates.oracle.n_rows
        rows = self.plan.rows_for_edge(capacity, delta)
        return rows if capacity is not None else min(rows, n_rows or rows)

    def _capacity(self) -> float | None:
        if self.encoder.bins is None:
            return None
        bins = self.encoder.bins
        empty = CodedTable(np.empty((len(bins.thresholds), 0), dtype=bins.dtype), bins)
        capacity = self._learner.capacity(Sample(empty, np.empty((0, 1), np.int8), bins=bins))
        return None if capacity is None else capacity.log_size

    def _scale(self, size: int) -> float:
        return 1.0

    def _max_draws(self, size: int) -> int:
        mean = SHARE_OF_EPSILON * (self.plan.epsilon or 0.01) / (self._booster.error_factor or 1)
        mean = self._booster.coin_below(len(self.vote_so_far)) or mean
        return draws_for(size, mean, share_of(self.plan.delta / 2, len(self.refills)))

    def _enough(self, refilling: Refilling, *, full: bool, starved: bool) -> bool:
        return self._decided(refilling) if full else starved

    def _decided(self, refilling: Refilling) -> bool:
        """Check whether μ is surely large enough to continue, as the theorems require."""
        epsilon, factor = self.plan.epsilon, self._booster.error_factor
        if epsilon is None or refilling.test.count == 0:
            return True
        test = refilling.test if factor else refilling.error_test
        # a filter waits 1/μ draws for an example, so the theorems go on only while μ is above c·ε
        enough = SHARE_OF_EPSILON * epsilon / (factor or 1)
        return test.lower >= enough or len(self.vote_so_far) == 0

    def _thinned(self, rows: ScoredBatch, size: int) -> ScoredBatch:
        """Return the first rows, which are independent draws like all accepted rows."""
        return rows.take(np.arange(min(size, rows.n_rows)))

    def rounds_on(self, rows: ScoredBatch) -> Iterator[Event]:
        edges = []
        for attempt in range(TRIES):
            run = self._run(rows)
            done = next(iter(run), None)
            test = None if done is None else self._test(done.hypothesis, attempt)
            if done is not None and test is not None and test.found is not None:
                vote = 1.0 if run.cells else done.entry.vote
                if isinstance(self._booster, BoundedWeights) and not run.cells:
                    # a vote is made of whole-number weights: 40 bits give the edge to 1e-12
                    weight = 2**40
                    wrong = round(weight * (0.5 - test.found))
                    vote = self._booster.vote(Measured(weight, wrong))
                self._take(done, vote)
                yield self.rounds[-1]
                return
            if self.stopped:
                return
            if test is not None:
                edges.append(2 * test.right / test.count - 1)
            if attempt + 1 == TRIES:
                break
            sample = self.fill()
            yield self.refills[-1]
            if sample is None or self.stopped:
                yield from self._rounds(None)
                return
            rows = sample
        self.stopped = self.stopped or self._without_edge(edges)

    def _without_edge(self, edges: list[float]) -> StopReason:
        promise = "" if self.plan.edge is None else f"; promised was an edge of {self.plan.edge:g}"
        if not edges:
            return StopReason(Stop.NO_RULE, {"promise": promise})
        values = {"tries": TRIES, "edge": max(edges), "floor": 2 * self.plan.floor}
        return StopReason(Stop.NO_TESTED_EDGE, {**values, "promise": promise})

    def _min_rows(self) -> int:
        """Return the full size of a sample if a coin can replace the rule of this round."""
        coin = self._booster.coin_below(len(self.vote_so_far))
        return self.plan.rows if coin else super()._min_rows()

    def _starve(self, refilling: Refilling) -> None:
        """Stop the run, unless a coin can replace the rule of this round (Freund 1995)."""
        if self.candidates.ended or not self._booster.coin_below(len(self.vote_so_far)):
            super()._starve(refilling)

    def rounds_without(self) -> Iterator[Event]:
        """Add a constant rule instead of a coin, with alternating signs."""
        sign = 1 if len(self.vote_so_far) % 2 else -1
        vote = (
            self._booster.vote(Measured(2, 1)) if isinstance(self._booster, BoundedWeights) else 0.0
        )
        entry = Round(
            number=len(self.vote_so_far) + 1,
            error=0.5,
            edge=0.0,
            vote=vote,
            normaliser=1.0,
            training_error=self.refills[-1].error,
            effective_size=0.0,
            weight=1,
            memory=[],
            rule=f"next to nothing is left to learn from: always {self._answers[sign > 0]}",
            seconds=0.0,
        )
        coin: Hypothesis = StumpRule.constant(sign)
        if self.vote_so_far.cells:
            coin = Valued(coin, vote * coin.values)
        self._take(FinishedRound(coin, entry), 1.0 if self.vote_so_far.cells else vote)
        yield self.rounds[-1]

    def _test(self, rule: Hypothesis, attempt: int) -> EdgeTest:
        """Test a rule on newly accepted examples until it is surely above or below the floor."""
        number = len(self.refills)
        delta = share_of(self.plan.delta / 2, number) / TRIES
        test = EdgeTest(delta, self.plan.floor)
        key = key_of(self.plan.seed, 5, number, attempt)
        refilling = self._refilling(key, 1.0, delta)
        self.stopped = StopReason(Stop.STREAM_ENDED)
        for _ in refilling.groups():
            if self.over():
                self.stopped = StopReason(Stop.TIME_IS_UP)
                break
            rows = refilling.kept()
            if rows is None:
                continue
            sample = Sample(rows.table, rows.signs, bins=self.encoder.bins)
            right = np.sign(rule.values)[rule.cells(sample)] * rows.signs > 0
            test.add(int(np.count_nonzero(right)), right.size)
            if test.found is not None or test.hopeless:
                self.stopped = None
                break
        last = self.refills[-1]
        self.refills[-1] = dataclasses.replace(last, tested=last.tested + refilling.draws)
        return test
