"""The boosting loop: the only one.

A run asks the booster what to learn, asks the learner for a rule, measures it on all rows, lets the
booster step, and records the round. Neither learner nor booster reports its own success.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice
from typing import Any

from pacboost.boosters.booster import Booster
from pacboost.hypotheses.vote import Vote
from pacboost.kernels.cuda.device import to_host
from pacboost.learners.learner import Capacity, Learner
from pacboost.ledgers.ledger import Ledger, Round
from pacboost.samples.sample import Sample, Wholes
from pacboost.training.run.early_stopping import EarlyStopping
from pacboost.training.run.quick import QuickRounds
from pacboost.training.run.record import FinishedRound, Recorder
from pacboost.training.run.rehearsal import finish_compiling
from pacboost.training.run.rounds import MeasuredRule, RowsShown, rounds_of
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
        self.learner, self.booster, self._watch = learner, booster, watch
        self.plain_votes = booster.plain_votes
        finish_compiling(sample, learner, booster)
        shown = RowsShown(sample.n_rows, seed, resample, subsample)
        self.rounds = rounds_of(sample, learner, booster, shown)
        self.recorder = Recorder(self.rounds, watch)
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
            self.done.append(self.recorder.round(self.done, step, rule, started))
            self.stopped = self.stopped or self._reason(self.done[-1].entry)
            yield self.done[-1]

    def up_to(self, rounds: int) -> Iterator[FinishedRound]:
        """Advance until so many rounds are done.

        On small samples many rounds are done before the first of them is handed out.
        """
        quick = QuickRounds.of(self.rounds, self.recorder, self._watch, self.state, rounds)
        while len(self.done) < rounds and not self.stopped:
            found: list[FinishedRound] = []
            if quick is not None and self.done:
                self.state, found = quick.advance(self.state, len(self.done), rounds)
                self.done += found
                self.stopped = self._reason(found[-1].entry) if found else ""
                yield from found
            if not found:
                yield from islice(self, 1)

    def _start_again(self, rule: MeasuredRule) -> MeasuredRule:
        """Drop all rounds: a rule without mistakes needs no others, since its vote is infinite."""
        self.state, self.done = self.rounds.start(), []
        if self._watch is not None:
            self._watch.start_again()
        return self.rounds.measured_again(self.state, rule)

    def _reason(self, entry: Round) -> str:
        """Return why the run ends after a round, or nothing."""
        watched = "" if self._watch is None else self._watch.reason()
        return self.rounds.finished(entry) or watched or self.booster.stop(self.state) or ""

    def watch_also(self, name: str, sample: Sample) -> None:
        """Measure further validation rows after every round; they never stop the run."""
        assert self._watch is not None  # the first set, which may
        other = self._watch.beside(sample)
        self.recorder.catch_up(other, self.done, self.state)
        self._watch.others[name] = other

    def validation_curves(self, name: str) -> dict[str, list[float]]:
        """Return metric after every round on all validation rows; ``name`` is the first set's."""
        if self._watch is None:
            return {}
        others = {other: watch.curve for other, watch in self._watch.others.items()}
        return {name: self._watch.curve} | others

    def vote(self) -> Vote:
        """Return the vote of all finished rounds."""
        return self.recorder.vote(self.done, self.state)

    def ledger(self) -> Ledger:
        """Return the record of the run."""
        capacity = self.learner.capacity(self.sample) or Capacity()
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
            metric=self._watch.metric if self._watch else "",
            vc_dimension=capacity.vc_dimension,
            log_size=capacity.log_size,
            stopped=self.stopped,
            rounds=self.recorder.entries(self.done, self.state),
            several_labels=self.outputs > 1 and self.sample.labels is None,
            revised=self.booster.revises,
            hard=self.recorder.hard(self.done, self.state),
        )

    def keep_best(self) -> None:
        """Drop the rounds after the one that was best on the validation rows."""
        if self._watch is not None and 0 < self._watch.rounds_to_keep < len(self.done):
            del self.done[self._watch.rounds_to_keep :]
            best = len(self.done) == self._watch.best_round
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
