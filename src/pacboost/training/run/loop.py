"""The boosting loop: the only one.

A run asks the booster what to learn, asks the learner for a rule, measures it on all rows, lets the
booster step, and records the round. Neither learner nor booster reports its own success.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pacboost.boosters.base.booster import Booster
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.vote import Vote
from pacboost.kernels.cuda.device import to_host
from pacboost.learners.learner import Capacity, Learner
from pacboost.ledgers.ledger import Ledger, Round
from pacboost.samples.request import Wholes
from pacboost.samples.sample import Sample
from pacboost.training.run import resume
from pacboost.training.run.early_stopping import EarlyStopping
from pacboost.training.run.measured import MeasuredRule
from pacboost.training.run.record import FinishedRound, Recorder
from pacboost.training.run.rehearsal import finish_compiling
from pacboost.training.run.rounds import rounds_of
from pacboost.training.run.rows_shown import RowsShown
from pacboost.training.run.scores import Floats

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
        self._learner, self._booster, self._watch = learner, booster, watch
        self._plain_votes = booster.plain_votes
        finish_compiling(sample, learner, booster)
        shown = RowsShown(sample.n_rows, seed, resample, subsample)
        self._rounds = rounds_of(sample, learner, booster, shown)
        self._recorder = Recorder(self._rounds, watch)
        self._state = self._rounds.start()
        self.cells, self.outputs = self._rounds.cells, int(sample.signs.shape[1])

    def __iter__(self) -> Iterator[FinishedRound]:
        """Advance until the booster or the learner has nothing more to give."""
        while not self.stopped:
            started = time.perf_counter()
            rule = self._rounds.find(self._state, len(self.done) + 1)
            if rule is None:
                self.stopped = NO_EDGE
                return
            if self.done and self._rounds.stands_alone(rule):
                rule = self._start_again(rule)
            step = self._rounds.step(self._state, rule, len(self.done) + 1)
            self._state = step.state
            self.done.append(self._recorder.round(self.done, step, rule, started))
            self.stopped = self.stopped or self._reason(self.done[-1].entry)
            yield self.done[-1]

    def _start_again(self, rule: MeasuredRule) -> MeasuredRule:
        """Drop all rounds: a rule without mistakes needs no others, since its vote is infinite."""
        self._state, self.done = self._rounds.start(), []
        if self._watch is not None:
            self._watch.start_again()
        return self._rounds.measured_again(self._state, rule)

    def _reason(self, entry: Round) -> str:
        """Say why the run ends after a round, or nothing."""
        watched = "" if self._watch is None else self._watch.reason()
        return self._rounds.finished(entry) or watched or self._booster.stop(self._state) or ""

    def watch_also(self, name: str, sample: Sample) -> None:
        """Measure further validation rows after every round; they never stop the run."""
        assert self._watch is not None  # the first set, which may
        other = self._watch.beside(sample)
        self._recorder.catch_up(other, self.done, self._state)
        self._watch.others[name] = other

    def validation_curves(self, name: str) -> dict[str, list[float]]:
        """Give the metric after every round on all validation rows; ``name`` is the first set's."""
        if self._watch is None:
            return {}
        others = {other: watch.curve for other, watch in self._watch.others.items()}
        return {name: self._watch.curve} | others

    def vote(self) -> Vote:
        """Give the vote of all finished rounds."""
        return self._recorder.vote(self.done, self._state)

    def ledger(self) -> Ledger:
        """Give the record of the run."""
        capacity = self._learner.capacity(self.sample) or Capacity()
        return Ledger(
            booster=self._booster.name,
            potential=self._booster.potential,
            learner=self._learner.name,
            rows=self.sample.n_rows,
            classes=self.outputs,
            weighted=self.sample.base.size > 1,
            plain_votes=self._plain_votes and not self.cells,
            factor=self._rounds.potential.factor(self._rounds.scores.paired_classes),
            multiclass=self._booster.multiclass if self.outputs > 1 else "",
            cells=self.cells,
            metric=self._watch.metric if self._watch else "",
            vc_dimension=capacity.vc_dimension,
            log_size=capacity.log_size,
            stopped=self.stopped,
            rounds=self._recorder.entries(self.done, self._state),
            several_labels=self.outputs > 1 and self.sample.labels is None,
            revised=self._booster.revises,
            hard=self._recorder.hard(self.done, self._state),
        )

    def keep_best(self) -> None:
        """Drop the rounds after the one that was best on the validation rows."""
        if self._watch is not None and 0 < self._watch.rounds_to_keep < len(self.done):
            del self.done[self._watch.rounds_to_keep :]
            best = len(self.done) == self._watch.best_round
            why = "best on the validation rows" if best else "the least number for so few rows"
            self.stopped += f"; the first {len(self.done)}, {why}, are kept"

    def resume(
        self, hypotheses: Sequence[Hypothesis], votes: Sequence[float], ledger: Ledger
    ) -> None:
        """Continue after the rounds of an earlier run on the same sample, by the same methods."""
        if not ledger.rounds:
            return
        resume.refuse_other_methods(self._booster.name, self._learner.name, ledger)
        memories = [entry.memory for entry in ledger.rounds]
        self._state = resume.state_after(self._rounds, self._state, hypotheses, votes, memories)
        resume.refuse_other_rows(self._rounds, self._state, ledger)
        self._plain_votes = self._plain_votes and ledger.plain_votes
        self.done = self._recorder.replayed(hypotheses, votes, ledger.rounds, self._state)
        finished = self._rounds.finished(ledger.rounds[-1])
        self.stopped = finished or self._booster.stop(self._state) or ""

    def keep_first_rounds(self, earlier: Run, number: int) -> None:
        """Continue after the first rounds of a run on some of these rows, in the same bins.

        For regression, whose rounds bound nothing: the record of these rounds stays that of the
        rows they were trained on. Values are whole multiples of a unit; if the rows that are new
        change it, no round is kept.
        """
        units = {run._booster.unit(run._state) for run in (self, earlier)}
        done = earlier.done[:number]
        if len(units) > 1 or not done:
            return
        rules = resume.in_bins([finished.hypothesis for finished in done], self.sample)
        entries = [replace(finished.entry, validation=None) for finished in done]
        votes = [1.0] * len(done)
        memories = [entry.memory for entry in entries]
        self._state = resume.state_after(self._rounds, self._state, rules, votes, memories)
        self._rounds.potential.resume(entries, self._state, self._rounds.first_weights)
        self.done = self._recorder.replayed(rules, votes, entries, self._state)

    def continue_on_other_rows(
        self, margins: Floats, votes: Sequence[float], path: Floats | None = None
    ) -> None:
        """Continue from a vote that was trained on other rows, given the margins of these."""
        self._rounds.continue_on_other_rows()
        self._state = resume.state_on_other_rows(self._booster, self._state, margins, votes, path)

    @property
    def margins(self) -> Floats:
        """y·F(x) of every row, (rows, outputs)."""
        return to_host(self._state.margins)  # type: ignore[no-any-return]

    @property
    def weights(self) -> Wholes:
        """How much every row weighs for the next rule, in whole units, (rows,)."""
        return self._booster.request(self._state).rows()

    @property
    def path(self) -> Floats | None:
        """The log weights of all rows, where they depend on the path of the margins."""
        return getattr(self._state, "log_weights", None)
