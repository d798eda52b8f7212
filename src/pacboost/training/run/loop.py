"""The boosting loop: the only one.

A run asks the booster what to learn, asks the learner for a rule, measures it on all rows, lets the
booster step, and records the round. Neither learner nor booster reports its own success.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from pacboost.boosters.booster import Booster
from pacboost.hypotheses.hypothesis import Hypothesis, Names
from pacboost.hypotheses.vote import Vote
from pacboost.kernels.cuda.device import to_host
from pacboost.learners.learner import Capacity, Learner
from pacboost.ledgers.ledger import HardRow, Ledger, Round
from pacboost.samples.sample import Sample, Wholes
from pacboost.training.run.early_stopping import EarlyStopping
from pacboost.training.run.margins import Floats, hardest, margin_and_gap, norm
from pacboost.training.run.quick import QuickRounds
from pacboost.training.run.rehearsal import finish_compiling
from pacboost.training.run.rounds import FinishedRound, MeasuredRule, RowsShown, Step, rounds_of

NO_EDGE = "the learner found no rule better than guessing"


class Run:
    """A boosting run on one sample: iterate over it to advance, one round at a time.

    ``resample`` is the number of rows to draw from D_t for the learner (-1: as many as there are),
    or 0 to give it D_t itself; ``subsample`` is the share of rows, chosen anew each round, that it
    may use. A rule is measured on the full weighted sample either way.
    """

    def __init__(
        self,
        sample: Sample,
        learner: Learner,
        booster: Booster[Any],
        *,
        seed: int = 0,
        resample: int = 0,
        subsample: float = 1.0,
        watch: EarlyStopping | None = None,
    ) -> None:
        self.sample, self.stopped = sample, ""
        self.done: list[FinishedRound] = []
        self.learner, self.booster, self.watch = learner, booster, watch
        self.plain_votes = booster.plain_votes
        finish_compiling(sample, learner, booster)
        shown = RowsShown(sample.n_rows, seed, resample, subsample)
        self.rounds = rounds_of(sample, learner, booster, shown)
        self.names = Names(sample.table.name, sample.answers)
        self.state = self.rounds.start()
        self.cells, self.outputs = self.rounds.cells, int(sample.signs.shape[1])

    def __iter__(self) -> Iterator[FinishedRound]:
        """Advance until the booster or the learner has nothing more to give."""
        while not self.stopped:
            started = time.perf_counter()
            rule = self.rounds.find(self.state, len(self.done) + 1)
            if rule is None:
                self.stopped = NO_EDGE
                return
            if self.done and self.rounds.stands_alone(rule):
                rule = self._start_again(rule)
            step = self.rounds.step(self.state, rule, len(self.done) + 1)
            self.state = step.state
            self.done.append(self._recorded(step, rule, started))
            self.stopped = self.stopped or self._reason()
            yield self.done[-1]

    def up_to(self, rounds: int) -> Iterator[FinishedRound]:
        """Advance until so many rounds are done.

        On small samples many rounds are done before the first of them is handed out.
        """
        quick = QuickRounds.of(self, rounds)
        while len(self.done) < rounds and not self.stopped:
            more: list[FinishedRound] = []
            if quick is not None and self.done:
                more = quick.advance(rounds)
                self.done += more
                self.stopped = self._reason() if more else ""
                yield from more
            if not more:
                yield from islice(self, 1)

    def _start_again(self, rule: MeasuredRule) -> MeasuredRule:
        """Drop all rounds: a rule without mistakes needs no others, since its vote is infinite."""
        self.state, self.done = self.rounds.start(), []
        if self.watch is not None:
            self.watch.start_again()
        return self.rounds.measured_again(self.state, rule)

    def _reason(self) -> str:
        """Return why the run ends after its last round, or nothing."""
        watched = "" if self.watch is None else self.watch.reason()
        last = self.rounds.finished(self.done[-1].entry)
        return last or watched or self.booster.stop(self.state) or ""

    def _recorded(self, step: Step, rule: MeasuredRule, started: float) -> FinishedRound:
        """Record what was measured of a rule, and what the step changed."""
        entry = Round(
            number=len(self.done) + 1,
            error=rule.measured.error,
            edge=rule.measured.edge,
            vote=step.largest,
            normaliser=step.normaliser,
            training_error=self.rounds.training_error(self.state),
            effective_size=rule.effective_size,
            weight=rule.measured.total,
            memory=self.booster.memory(self.state),
            rule=rule.hypothesis.words(self.names),
            seconds=time.perf_counter() - started,
        )
        finished = FinishedRound(rule.hypothesis, self._with_margin(entry))
        if self.watch is None:
            return finished
        value = self._validate(self.watch, self.done, finished, step.vote)
        return replace(finished, entry=replace(finished.entry, validation=value))

    def _with_margin(self, entry: Round) -> Round:
        """Add the margin, where the booster maximises it."""
        share = self.booster.share_of(self.state)
        if share is None:
            return entry
        entries = [*(done.entry for done in self.done), entry]
        cast = [each.vote for each in entries]  # the largest of each, where cells hold votes
        votes = self.booster.votes(self.state) if self.booster.revises else np.array(cast)
        total, edges = float(np.abs(votes).sum()), [each.edge for each in entries]
        margin, gap = margin_and_gap(self.state.margins, self.sample.base, share, total, edges)
        return replace(entry, margin=margin, gap=gap)

    def _validate(
        self, watch: EarlyStopping, done: list[FinishedRound], finished: FinishedRound, vote: float
    ) -> float:
        """Measure validation rows after a round that follows those done."""
        if self.booster.revises:
            return watch.see_all(self._vote_of([*done, finished]))
        return watch.see(finished.hypothesis, vote)

    def watch_also(self, name: str, sample: Sample) -> None:
        """Measure further validation rows after every round; they never stop the run."""
        assert self.watch is not None  # the first set, which may
        other = self.watch.beside(sample)
        for number, finished in enumerate(self.done):
            vote = 1.0 if self.cells else finished.entry.vote
            self._validate(other, self.done[:number], finished, vote)
        self.watch.others[name] = other

    def replay(
        self, hypotheses: Sequence[Hypothesis], votes: Sequence[float], entries: Sequence[Round]
    ) -> None:
        """Take over the rounds of an earlier run, and measure the validation rows in each."""
        self.done = []
        for rule, vote, entry in zip(hypotheses, votes, entries, strict=True):
            finished = FinishedRound(rule, entry)
            if self.watch is not None:
                self._validate(self.watch, self.done, finished, vote)
            self.done.append(finished)

    def validation_curves(self, name: str) -> dict[str, list[float]]:
        """Return metric after every round on all validation rows; ``name`` is the first set's."""
        if self.watch is None:
            return {}
        others = {other: watch.curve for other, watch in self.watch.others.items()}
        return {name: self.watch.curve} | others

    def vote(self) -> Vote:
        """Return the vote of all finished rounds."""
        return self._vote_of(self.done)

    def _vote_of(self, done: list[FinishedRound]) -> Vote:
        votes = self.booster.votes_after(self.state, len(done))
        vote = Vote([finished.hypothesis for finished in done], votes, self.outputs)
        return self.booster.joined(self.state, vote, self.sample)

    def ledger(self) -> Ledger:
        """Return the record of the run, with the votes that the rules have now."""
        capacity = self.learner.capacity(self.sample) or Capacity()
        entries = [finished.entry for finished in self.done]
        if self.booster.revises:
            votes = self.booster.votes_after(self.state, len(entries)).tolist()
            entries = [replace(e, vote=vote) for e, vote in zip(entries, votes, strict=True)]
        return Ledger(
            booster=self.booster.name,
            potential=self.booster.potential,
            learner=self.learner.name,
            rows=self.sample.n_rows,
            classes=self.outputs,
            weighted=self.sample.base.size > 1,
            plain_votes=self.plain_votes and not self.cells,
            factor=self.rounds.potential.factor(self.rounds.scores.paired_classes),
            multiclass=self.booster.multiclass if self.outputs > 1 else "",
            cells=self.cells,
            metric=self.watch.metric if self.watch else "",
            vc_dimension=capacity.vc_dimension,
            log_size=capacity.log_size,
            stopped=self.stopped,
            rounds=entries,
            several_labels=self.outputs > 1 and self.sample.labels is None,
            revised=self.booster.revises,
            hard=self._hard(),
        )

    def _hard(self) -> list[HardRow]:
        """Return the rows that are hardest for the vote of the rounds done."""
        if self.sample.targets is not None or not self.done:
            return []
        vote, scores, margins = self.vote(), self.rounds.scores, self.margins
        if len(self.booster.votes(self.state)) > len(self.done):  # the last rounds were dropped
            margins = scores.recomputed(vote.hypotheses, vote.votes.tolist())
        return hardest(self.sample, margins, norm(vote), scores.class_scores)

    def keep_best(self) -> None:
        """Drop the rounds after the one that was best on the validation rows."""
        if self.watch is not None and 0 < self.watch.rounds_to_keep < len(self.done):
            del self.done[self.watch.rounds_to_keep :]
            best = len(self.done) == self.watch.best_round
            why = "best on the validation rows" if best else "the least number for so few rows"
            self.stopped += f"; the first {len(self.done)}, {why}, are kept"

    @property
    def margins(self) -> Floats:
        """y·F(x) of every row, (rows, outputs)."""
        return to_host(self.state.margins)  # type: ignore[no-any-return]

    @property
    def weights(self) -> Wholes:
        """How much every row weighs for the next rule, in whole units, (rows,)."""
        return self.booster.request(self.state).rows()
