"""Boosting by filtering: draw, accept hard examples, boost on them, discard them, and draw again.

The vote is fixed during a refill, so rows that nothing has used are fresh draws for it: their mean
weight μ and their mistakes bound the error, and the run stops once the smaller bound is below ε.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.kernels.threads import each_rows, threads
from pacboost.learners.learner import Learner
from pacboost.ledgers.ledger import Ledger, Refill, Round
from pacboost.numerics.same_bits import exp, mean, total
from pacboost.parallel.cores import usable_cores
from pacboost.samples.sample import Sample
from pacboost.sources.oracles.remote import RemoteOracle
from pacboost.training.filtering.candidates import Candidates, key_of, numbers
from pacboost.training.filtering.late_labels import LateRefilling
from pacboost.training.filtering.plan import MAX_READ_PER_ROW, FilteringPlan, share_of
from pacboost.training.filtering.refilling import Refilling
from pacboost.training.filtering.remote import RemoteRefilling
from pacboost.training.filtering.rows import RowEncoder, ScoredBatch, VoteSoFar
from pacboost.training.filtering.stream import BlockRows
from pacboost.training.run.loop import Run
from pacboost.training.run.rounds import FinishedRound
from pacboost.training.run.stop_reason import Stop, StopReason, sentence_of

MIN_ROWS = 10
"""Minimum size of a sample, except of the first one."""
ROUNDS_PER_CHECK = 3
"""Number of rounds after which a run checks how much of a sample would still be accepted."""
MAX_UNLABELLED_PER_ROW = 100
"""``MAX_READ_PER_ROW`` where rows come without labels, and so cost next to nothing."""
MIN_EFFECTIVE_SHARE = 0.5
"""A new sample is drawn when the effective size has fallen to this share of that at the start."""

Event = Refill | Round
Floats = NDArray[np.float64]
MAX_THREADS = 12
"""Maximum number of threads that score candidates: 16 took a tenth longer on 16 cores."""


class Filtering:
    """A run of boosting by filtering: iterate over it to advance by a refill or a round."""

    def __init__(
        self,
        candidates: Candidates,
        encoder: RowEncoder,
        learner: Learner,
        booster: FilteringBooster[Any],
        plan: FilteringPlan,
        answers: tuple[str, ...] = ("−", "+"),
    ) -> None:
        self.candidates, self.encoder, self.plan = candidates, encoder, plan
        self._learner, self._booster, self._answers = learner, booster, answers
        outputs = 1 if encoder.classes.size <= 2 else encoder.classes.size
        self.vote_so_far = VoteSoFar(booster, encoder.bins, outputs, cells=False)
        self.rounds: list[Round] = []
        self.refills: list[Refill] = []
        self.mass = 0.0
        """An estimate of μ, the mean weight of candidates, from the last sample."""
        self.stopped: StopReason | None = None
        self.certified = False
        """Whether the run stopped because the error is surely below ε."""
        self._carried: ScoredBatch | None = None
        self._first_draws = 0
        """Number of draws that the first sample was expected to take."""
        self.threads = min(threads(), usable_cores(), MAX_THREADS)
        """Number of threads that score candidates; the model does not depend on it."""
        self.before_refill: Callable[[], object] = bool
        """Called before each refill, when no sample is in memory, to write a checkpoint."""
        self.over: Callable[[], bool] = bool
        """Called between groups of candidates; True if the time is up."""

    def __iter__(self) -> Iterator[Event]:
        """Advance until ε or the last round is reached, rows end, or no rule has an edge."""
        while not self.stopped:
            self.before_refill()
            sample = self.fill()
            yield self.refills[-1]
            yield from self._rounds(sample)
            if len(self.vote_so_far) >= self.plan.rounds:
                self.stopped = self.stopped or StopReason(
                    Stop.ALL_ROUNDS, {"rounds": self.plan.rounds}
                )

    def fill(self, *, all_of_it: bool = False) -> ScoredBatch | None:
        """Draw a sample, and test at the same time whether the vote is good enough.

        With ``all_of_it``, every row of the source is considered.
        """
        number = len(self.refills)
        # the k-th refill has a share of 1/(k(k+1)), so that all tests of a run hold together
        delta = share_of(self.plan.delta / 2, number)
        size = self._wanted(delta)
        max_draws = self._max_draws(size)
        key, scale = key_of(self.plan.seed, 2, number), self._scale(size)
        refilling = self._refilling(key, scale, delta)
        expected = size * scale / self._mean_weight()
        if number == 0:
            self._first_draws = math.ceil(expected)
        refilling.expect(expected)
        refilling.score_testing_rows()
        tested = refilling.test.count
        for _ in () if self._good_enough(refilling) else refilling.groups():
            if self.over():
                self.stopped = StopReason(Stop.TIME_IS_UP)
                break
            if self.candidates.whole or all_of_it:
                continue  # a sample of a part of the rows would not be uniform
            full = refilling.accepted >= size
            if full and refilling.test.count == tested:
                break  # no fresh rows come any more, so the test of μ cannot continue
            tested = refilling.test.count
            starved = refilling.draws >= max_draws
            if self._enough(refilling, full=full, starved=starved) or self._good_enough(refilling):
                break
        refilling.finish()
        self.refills.append(refilling.record(number))
        sample = refilling.kept()
        if self.stopped:
            return None
        if self._good_enough(refilling):
            self.certified = True
            self.stopped = StopReason(Stop.ERROR_REACHED, {"epsilon": self.plan.epsilon or 0.0})
        elif sample is None or (
            len(self.vote_so_far) and sample.n_rows < min(self._min_rows(), size)
        ):
            self._starve(refilling)
            return None
        return None if sample is None else self._thinned(sample, size)

    def _refilling(self, key: np.uint64, scale: float, delta: float) -> Refilling:
        candidates, vote = self.candidates, (self.encoder, self.vote_so_far, key, scale, delta)
        if isinstance(candidates, BlockRows) and isinstance(candidates.oracle, RemoteOracle):
            return RemoteRefilling(candidates, candidates.oracle, *vote)
        kind = LateRefilling if candidates.oracle.late_labels else Refilling
        return kind(candidates, *vote, self.threads)

    def _wanted(self, delta: float) -> int:
        return self.plan.rows_of(len(self.refills))

    def _scale(self, size: int) -> float:
        """Return the divisor that turns weights into probabilities.

        A refill that considers all n rows accepts n·μ/scale of them; one that reads rows in order
        reads at most ``MAX_READ_PER_ROW`` rows for each row that it may accept.
        """
        mean = self._mean_weight()
        if self.candidates.whole:
            rows = self.candidates.oracle.n_rows or 1
            return max(rows * mean / size, 1e-12)
        if self.candidates.oracle.late_labels:
            return 1.0  # rows cost nothing, and the test of μ counts rows kept by their weights
        return min(1.0, max(MAX_READ_PER_ROW * mean, 1e-12))

    def _mean_weight(self) -> float:
        return self.mass or self._booster.first_chance(self.vote_so_far.outputs)

    def _max_draws(self, size: int) -> int:
        """Return the number of draws after which the filter starves."""
        per_row = MAX_UNLABELLED_PER_ROW if self.candidates.oracle.late_labels else MAX_READ_PER_ROW
        return per_row * size

    def _min_rows(self) -> int:
        """Return the size of a sample below which the filter starves."""
        return MIN_ROWS

    def _enough(self, refilling: Refilling, *, full: bool, starved: bool) -> bool:
        return full or starved

    def _good_enough(self, refilling: Refilling) -> bool:
        """Check whether the error is surely below ε, by fresh draws alone."""
        epsilon = self.plan.epsilon
        if epsilon is None or refilling.test.count == 0 or len(self.vote_so_far) == 0:
            return False
        return refilling.error_upper <= epsilon

    def _starve(self, refilling: Refilling) -> None:
        last = self.refills[-1]
        if self.candidates.ended:
            came = self.refills[0].draws
            short = came < self._first_draws
            counts = {"draws": came, "wanted": self._first_draws} if short else {}
            self.stopped = StopReason(Stop.STREAM_TOO_SHORT if short else Stop.STREAM_ENDED, counts)
        else:
            where = "" if last.fresh or last.again < last.draws else " on these very rows"
            counts = {"draws": refilling.draws, "accepted": refilling.accepted}
            self.stopped = StopReason(
                Stop.STARVED, {**counts, "where": where, "error": last.error_upper}
            )

    def _thinned(self, rows: ScoredBatch, size: int) -> ScoredBatch:
        self.mass = rows.mass / self._n_candidates()
        excess = rows.n_rows / size
        if excess <= 1.25:
            return rows
        key = key_of(self.plan.seed, 3, len(self.refills))
        chosen = np.flatnonzero(numbers(np.arange(rows.n_rows, dtype=np.uint64), key) < 1 / excess)
        fewer = rows.take(chosen)
        # a row that stays with probability 1/excess stands for so many more candidates
        return dataclasses.replace(fewer, odds=fewer.odds / excess)

    def _n_candidates(self) -> int:
        all_rows = self.candidates.oracle.n_rows if self.candidates.whole else None
        return all_rows or self.refills[-1].draws

    def _run(self, rows: ScoredBatch) -> Run:
        # weights corrected for how rows were drawn, as in importance sampling
        base = 1 / rows.odds
        base /= mean(base)
        bins = self.encoder.bins
        sample = Sample(rows.table, rows.signs, base, bins, self._answers, rows.labels)
        booster = self._booster
        # the vote has its constant from the first sample
        if len(self.vote_so_far) and booster.prior:
            booster = dataclasses.replace(booster, prior=False)  # type: ignore[type-var]
        penalty = getattr(booster, "l2", 0.0)
        if penalty:  # its unit is a row of mean weight here, but of the largest in the booster
            booster = dataclasses.replace(booster, l2=penalty / float(base.max()))  # type: ignore[type-var]
        seed = int(key_of(self.plan.seed, 4, len(self.refills)) >> np.uint64(33))
        run = Run(sample, self._learner, booster, seed=seed)
        self.vote_so_far.cells = run.cells
        run.continue_on_other_rows(rows.margins, self.vote_so_far.votes, rows.path)
        return run

    def rounds_on(self, rows: ScoredBatch) -> Iterator[Event]:
        return self.boost(rows)

    def _rounds(self, rows: ScoredBatch | None) -> Iterator[Event]:
        if not self.stopped:
            yield from self.rounds_without() if rows is None else self.rounds_on(rows)

    def rounds_without(self) -> Iterator[Event]:
        """Run rounds without a sample; only the constant rules of faithful runs can."""
        return iter(())

    def boost(self, rows: ScoredBatch) -> Iterator[Round]:
        """Boost on a sample as long as enough of it would still be accepted."""
        run = self._run(rows)
        first = 0.0
        rounds = max(1, self.plan.rounds - len(self.vote_so_far))
        for done in run.up_to(rounds, ROUNDS_PER_CHECK):
            self._take(done, 1.0 if run.cells else done.entry.vote)
            yield self.rounds[-1]
            first = first or done.entry.effective_size
            if done.entry.number % ROUNDS_PER_CHECK or done.entry.number == rounds:
                continue
            weights, stay = self._still_accepted(run, rows)
            self.mass = total(weights) / self._n_candidates()
            used_up = mean(stay) < self.plan.keep
            if used_up or done.entry.effective_size < MIN_EFFECTIVE_SHARE * first:
                break
        if run.stopped == StopReason(Stop.NO_EDGE) and not run.done:
            self.stopped = run.stopped

    def carry_over(self, rows: ScoredBatch) -> ScoredBatch:
        """Add rows of the last sample that would still be accepted, up to the size of a sample."""
        if self._carried is not None:
            key = key_of(self.plan.seed, 7, len(self.refills))
            room = max(0, self.plan.rows - rows.n_rows)
            old = self.vote_so_far.score(self._carried)
            share = np.minimum(1.0, old.chances / self._carried.chances)
            stay = np.flatnonzero(numbers(np.arange(old.n_rows, dtype=np.uint64), key) < share)
            # the newest rows stay: their weights are nearest to those of now
            stay = stay[-room:] if room else stay[:0]
            odds = (self._carried.odds * share)[stay]
            if stay.size:
                part = dataclasses.replace(old.take(stay), odds=odds)
                rows = ScoredBatch.join([part, rows])
        self._carried = rows
        return rows

    def _still_accepted(self, run: Run, rows: ScoredBatch) -> tuple[Floats, Floats]:
        """Return the weight of all candidates that each row stands for, and its chance to stay."""
        path, margins = getattr(run.state, "log_weights", None), run.margins
        weights, stay = np.empty(rows.n_rows), np.empty(rows.n_rows)

        def task(start: int, stop: int) -> None:
            part, signs = slice(start, stop), rows.signs[start:stop]
            if path is None:
                chances = self._booster.chances(margins[part], len(self.vote_so_far), signs)
            else:
                chances = np.asarray(exp(path[part]).max(axis=1))
            np.divide(chances, rows.odds[part], out=weights[part])
            np.minimum(1.0, chances / rows.chances[part], out=stay[part])

        two_classes = path is None and margins.shape[1] == 1
        at_least = self._booster.rows_worth_a_thread if two_classes else 1
        each_rows(task, rows.n_rows, at_least=at_least)
        return weights, stay

    def _take(self, done: FinishedRound, vote: float) -> None:
        self.vote_so_far.add(done.hypothesis, vote, done.entry.memory)
        vote = done.entry.vote if self.vote_so_far.cells else vote
        self.rounds.append(dataclasses.replace(done.entry, number=len(self.vote_so_far), vote=vote))

    def ledger(self) -> Ledger:
        outputs, oracle = self.vote_so_far.outputs, self.candidates.oracle
        return Ledger(
            booster=self._booster.name,
            potential=self._booster.potential,
            learner=self._learner.name,
            rows=sum(refill.draws + refill.tested for refill in self.refills),
            classes=outputs,
            weighted=False,
            plain_votes=False,
            multiclass=self._booster.multiclass if outputs > 1 else "",
            cells=self.vote_so_far.cells,
            stopped=sentence_of(self.stopped),
            rounds=list(self.rounds),
            refills=list(self.refills),
            asked=oracle.asked,
            asked_to_certify=self.candidates.n_apart if oracle.asks else 0,
            price=oracle.price or 0.0,
        )
