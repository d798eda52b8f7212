"""Boosting by filtering: draw, keep what is hard, boost on it, forget it, and draw again.

Before every refill the vote is fixed, so rows that nothing has looked at are fresh draws to it:
their mean weight μ and the mistakes among them bound the error, whatever the learner did, and the
run stops once the smaller bound is below ε. How long it takes depends on the learner; the bounds do
not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.kernels.runtime.threads import each_rows, threads
from pacboost.learners.learner import Learner
from pacboost.ledgers.ledger import Ledger, Refill, Round
from pacboost.numerics.same_bits import exp, mean, total
from pacboost.parallel.cores import usable_cores
from pacboost.samples.sample import Sample
from pacboost.sources.oracles.remote import RemoteOracle
from pacboost.training.filtering.candidates import Candidates, key_of, numbers
from pacboost.training.filtering.plan import FilteringPlan, share_of
from pacboost.training.filtering.refilling import Refilling
from pacboost.training.filtering.remote import RemoteRefilling
from pacboost.training.filtering.rows import MarginRows, RowEncoder, VoteSoFar
from pacboost.training.filtering.stream import BlockRows
from pacboost.training.run.loop import Run
from pacboost.training.run.rounds import FinishedRound
from pacboost.training.run.stop_reason import Stop, StopReason, sentence_of

LEAST_ROWS = 10
"""A sample of fewer rows is not boosted on, unless it is the first: there are no more then."""
ROUNDS_UNWATCHED = 3
"""How much of a sample would still be kept is looked at every so many rounds."""
LEAST_EFFECTIVE = 0.5
"""A sample is drawn anew when its effective size has fallen to this part of the first."""

Event = Refill | Round
Floats = NDArray[np.float64]
MOST_LOOKING = 12
"""So many threads look at candidates at most: with 16, drawing took a tenth longer on 16 cores."""


class Filtering:
    """A run of boosting by filtering: iterate over it to advance, by a refill or a round."""

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
        """An estimate of the share of all candidates' weight: μ, as the last sample tells."""
        self.stopped: StopReason | None = None
        self.certified = False
        """Whether the run stopped because the error is surely below ε."""
        self._carried: MarginRows | None = None
        self.threads = min(threads(), usable_cores(), MOST_LOOKING)
        """So many look at candidates; the model does not depend on it."""
        self.before_refill: Callable[[], object] = bool
        """Called when all that was drawn is used up: the moment to write a checkpoint."""
        self.over: Callable[[], bool] = bool
        """Asked between groups of candidates whether the time is up."""

    def __iter__(self) -> Iterator[Event]:
        """Advance until something is reached: ε, the rounds, the end of rows or of the edge."""
        while not self.stopped:
            self.before_refill()
            kept = self.fill()
            yield self.refills[-1]
            yield from self._rounds(kept)
            if len(self.vote_so_far) >= self.plan.rounds:
                self.stopped = self.stopped or StopReason(
                    Stop.ALL_ROUNDS, {"rounds": self.plan.rounds}
                )

    # -- drawing

    def fill(self, *, all_of_it: bool = False) -> MarginRows | None:
        """Draw a sample, and test by the way whether the vote is good enough.

        ``all_of_it``: look at every row there is, and do not wait for more.
        """
        number = len(self.refills)
        delta = share_of(self.plan.delta / 2, number)
        wanted = self._wanted(delta)
        most = self._most_draws(wanted)
        key, scale = key_of(self.plan.seed, 2, number), self._scale(wanted)
        refilling = self._refilling(key, scale, delta)
        refilling.expect(wanted * scale / self._mean_weight())
        refilling.score_testing_rows()
        tested = refilling.test.count
        for _ in () if self._good_enough(refilling) else refilling.groups():
            if self.over():
                self.stopped = StopReason(Stop.TIME_IS_UP)
                break
            if self.candidates.whole or all_of_it:
                continue  # all rows there are have the same right to be looked at
            full = refilling.accepted >= wanted
            if full and refilling.test.count == tested:
                break  # nothing fresh comes any more, so nothing more is learned of μ
            tested = refilling.test.count
            starved = refilling.draws >= most
            if self._enough(refilling, full=full, starved=starved) or self._good_enough(refilling):
                break
        refilling.finish()
        self.refills.append(refilling.record(number))
        kept = refilling.kept()
        if self.stopped:
            return None
        if self._good_enough(refilling):
            self.certified = True
            self.stopped = StopReason(Stop.ERROR_REACHED, {"epsilon": self.plan.epsilon or 0.0})
        elif kept is None or (len(self.vote_so_far) and kept.n_rows < min(self._least(), wanted)):
            self._starve(refilling)
            return None
        return None if kept is None else self._thinned(kept, wanted)

    def _refilling(self, key: np.uint64, scale: float, delta: float) -> Refilling:
        candidates, given = self.candidates, (self.encoder, self.vote_so_far, key, scale, delta)
        if isinstance(candidates, BlockRows) and isinstance(candidates.oracle, RemoteOracle):
            return RemoteRefilling(candidates, candidates.oracle, *given)
        return Refilling(candidates, *given, self.threads)

    def _wanted(self, delta: float) -> int:
        return self.plan.rows_of(len(self.refills))

    def _scale(self, wanted: int) -> float:
        """What weights are divided by to be chances.

        A refill that sees all n rows keeps n·μ/scale of them; one that reads rows one after the
        other does not read more than ``offered`` times as many as it may keep.
        """
        mean = self._mean_weight()
        if self.candidates.whole:
            rows = self.candidates.oracle.n_rows or 1
            return max(rows * mean / wanted, 1e-12)
        return min(1.0, max(self.plan.offered * mean, 1e-12))

    def _mean_weight(self) -> float:
        """Estimate the mean weight of candidates: the share of them that would be kept."""
        return self.mass or self._booster.first_chance(self.vote_so_far.outputs)

    def _most_draws(self, wanted: int) -> int:
        """After so many draws the filter starves."""
        return self.plan.offered * wanted

    def _least(self) -> int:
        """With fewer rows than that it starves."""
        return LEAST_ROWS

    def _enough(self, refilling: Refilling, *, full: bool, starved: bool) -> bool:
        return full or starved

    def _good_enough(self, refilling: Refilling) -> bool:
        """Whether the error is surely below ε; only draws that are fresh can tell."""
        epsilon = self.plan.epsilon
        if epsilon is None or refilling.test.count == 0 or len(self.vote_so_far) == 0:
            return False
        return refilling.error_upper <= epsilon

    def _starve(self, refilling: Refilling) -> None:
        last = self.refills[-1]
        if self.candidates.ended:
            self.stopped = StopReason(Stop.STREAM_ENDED)
        else:
            where = "" if last.fresh or last.again < last.draws else " on these very rows"
            counts = {"draws": refilling.draws, "accepted": refilling.accepted}
            self.stopped = StopReason(
                Stop.STARVED, {**counts, "where": where, "error": last.error_upper}
            )

    def _thinned(self, kept: MarginRows, wanted: int) -> MarginRows:
        """Hold a sample to its size: keep each row with the same part of its chance."""
        self.mass = kept.mass / self._candidates_seen()
        excess = kept.n_rows / wanted
        if excess <= 1.25:
            return kept
        key = key_of(self.plan.seed, 3, len(self.refills))
        chosen = np.flatnonzero(numbers(np.arange(kept.n_rows, dtype=np.uint64), key) < 1 / excess)
        thin = kept.take(chosen)
        return dataclasses.replace(thin, odds=thin.odds / excess)

    def _candidates_seen(self) -> int:
        whole = self.candidates.oracle.n_rows if self.candidates.whole else None
        return whole or self.refills[-1].draws

    # -- boosting

    def _run(self, kept: MarginRows) -> Run:
        """Set up the boosting loop on a sample, from where its rows stand with the vote."""
        base = 1 / kept.odds
        base /= mean(base)
        bins = self.encoder.bins
        sample = Sample(kept.table, kept.signs, base, bins, self._answers, kept.labels)
        booster = self._booster
        if len(self.vote_so_far) and booster.prior:
            booster = dataclasses.replace(booster, prior=False)  # type: ignore[type-var]
        penalty = getattr(booster, "l2", 0.0)
        if penalty:  # in rows of mean weight, not of the largest
            booster = dataclasses.replace(booster, l2=penalty / float(base.max()))  # type: ignore[type-var]
        seed = int(key_of(self.plan.seed, 4, len(self.refills)) >> np.uint64(33))
        run = Run(sample, self._learner, booster, seed=seed)
        self.vote_so_far.cells = run.cells
        run.continue_on_other_rows(kept.margins, self.vote_so_far.votes, kept.path)
        return run

    def rounds_on(self, kept: MarginRows) -> Iterator[Event]:
        return self.boost(kept)

    def _rounds(self, kept: MarginRows | None) -> Iterator[Event]:
        """Go on, unless there was a reason to stop."""
        if not self.stopped:
            yield from self.rounds_without() if kept is None else self.rounds_on(kept)

    def rounds_without(self) -> Iterator[Event]:
        """Go on although next to nothing was kept; only coins can."""
        return iter(())

    def boost(self, kept: MarginRows) -> Iterator[Round]:
        """Boost on a sample as long as enough of it would still be kept."""
        run = self._run(kept)
        first = 0.0
        left = max(1, self.plan.rounds - len(self.vote_so_far))
        for done in run.up_to(left, ROUNDS_UNWATCHED):
            self._take(done, 1.0 if run.cells else done.entry.vote)
            yield self.rounds[-1]
            first = first or done.entry.effective_size
            if done.entry.number % ROUNDS_UNWATCHED or done.entry.number == left:
                continue
            weights, stay = self._still_kept(run, kept)
            self.mass = total(weights) / self._candidates_seen()
            used_up = mean(stay) < self.plan.keep
            if used_up or done.entry.effective_size < LEAST_EFFECTIVE * first:
                break
        if run.stopped == StopReason(Stop.NO_EDGE) and not run.done:
            self.stopped = run.stopped

    def carry_over(self, kept: MarginRows) -> MarginRows:
        """Add what of the last such sample would still be kept, up to the size of a sample."""
        if self._carried is not None:
            key = key_of(self.plan.seed, 7, len(self.refills))
            room = max(0, self.plan.rows - kept.n_rows)
            rows = self.vote_so_far.score(self._carried)
            share = np.minimum(1.0, rows.chances / self._carried.chances)
            stay = np.flatnonzero(numbers(np.arange(rows.n_rows, dtype=np.uint64), key) < share)
            stay = stay[-room:] if room else stay[:0]
            odds = (self._carried.odds * share)[stay]
            if stay.size:
                part = dataclasses.replace(rows.take(stay), odds=odds)
                kept = MarginRows.join([part, kept])
        self._carried = kept
        return kept

    def _still_kept(self, run: Run, kept: MarginRows) -> tuple[Floats, Floats]:
        """Return each row's part of all rows' weight, and the chance that it would stay."""
        path, margins = getattr(run.state, "log_weights", None), run.margins
        weights, stay = np.empty(kept.n_rows), np.empty(kept.n_rows)

        def task(start: int, stop: int) -> None:
            own, signs = slice(start, stop), kept.signs[start:stop]
            if path is None:
                chances = self._booster.chances(margins[own], len(self.vote_so_far), signs)
            else:
                chances = np.asarray(exp(path[own]).max(axis=1))
            np.divide(chances, kept.odds[own], out=weights[own])
            np.minimum(1.0, chances / kept.chances[own], out=stay[own])

        two = path is None and margins.shape[1] == 1
        each_rows(task, kept.n_rows, at_least=self._booster.rows_worth_a_thread if two else 1)
        return weights, stay

    def _take(self, done: FinishedRound, vote: float) -> None:
        self.vote_so_far.add(done.hypothesis, vote, done.entry.memory)
        vote = done.entry.vote if self.vote_so_far.cells else vote
        self.rounds.append(dataclasses.replace(done.entry, number=len(self.vote_so_far), vote=vote))

    def ledger(self) -> Ledger:
        outputs = self.vote_so_far.outputs
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
        )
