"""The boosting loop: the only one.

A run asks the booster what to learn, asks the learner for a rule, measures it on all rows, lets the
booster step, and records the round. Neither learner nor booster reports its own success.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import Any

import numpy as np

from pacboost.boosters.booster import Booster, RevisingBooster
from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.errors import LearnerError, ParameterError
from pacboost.hypotheses.hypothesis import Hypothesis, Names
from pacboost.hypotheses.vote import Vote
from pacboost.learners.learner import Capacity, Learner
from pacboost.ledgers.counterexample import Counterexample, counterexample
from pacboost.ledgers.ledger import HardRow, Ledger, Round
from pacboost.numerics.memory import in_host_memory
from pacboost.samples.fingerprint import Fingerprint
from pacboost.samples.sample import Sample, Wholes
from pacboost.training.run.early_stopping import EarlyStopping
from pacboost.training.run.margins import Floats, hardest, margin_and_gap, norm
from pacboost.training.run.openings import EarlierRules, Opening
from pacboost.training.run.quick import MAX_ROUNDS_PER_CALL, QuickRounds
from pacboost.training.run.rounds import FinishedRound, MeasuredRule, RowsShown, Step, rounds_of
from pacboost.training.run.so_far import RunSoFar
from pacboost.training.run.stop_reason import Stop, StopReason, sentence_of

TOLERANCE = 1e-9
"""Relative tolerance of promised edges, since weights are rounded to whole units."""


class Run(RunSoFar):
    """A boosting run on one sample: iterate over it to advance, one round at a time.

    ``resample`` is the number of rows to draw from D_t for the learner (-1: the sample's size), or
    0 to give it D_t itself; ``subsample`` is the share of rows, drawn for each round, that it
    may use. A rule is measured on the full weighted sample either way. ``openings`` make rules
    that come before the learner is asked.
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
        openings: Sequence[Opening] = (),
    ) -> None:
        self.sample = sample
        self.stopped: StopReason | None = None
        self.done: list[FinishedRound] = []
        self.learner, self.booster, self.watch = learner, booster, watch
        self.plain_votes = booster.plain_votes
        shown = RowsShown(sample.n_rows, seed, resample, subsample)
        self.rounds = rounds_of(sample, learner, booster, shown)
        self.names = Names(sample.table.names, sample.answers)
        self.state = self.rounds.start()
        # Openings see the first state: their values are multiples of the booster's unit.
        self.opening = self.rounds.opened(self.state, openings)
        self.cells, self.outputs = self.rounds.cells, int(sample.signs.shape[1])

    def __iter__(self) -> Iterator[FinishedRound]:
        """Advance until the booster stops or the learner finds no rule."""
        while not self.stopped:
            started = time.perf_counter()
            rule = self._next_rule()
            if rule is None:
                self.stopped = StopReason(Stop.NO_EDGE)
                return
            # The first rule may stand alone, too, but then there is nothing to drop.
            if self.done and self.rounds.stands_alone(rule):
                rule = self._restart(rule)
            step = self.rounds.step(self.state, rule, len(self.done) + 1)
            self.state = step.state
            self.done.append(self._record(step, rule, started))
            self.stopped = self._reason()
            yield self.done[-1]

    def _next_rule(self) -> MeasuredRule | None:
        """Measure the next rule of the opening, or ask the learner; None if it has no rule."""
        while len(self.done) < len(self.opening):
            rule: MeasuredRule | None = self.rounds.measure(
                self.state, self.opening[len(self.done)]
            )
            if rule is not None:
                return rule
            # A rule without an edge would get no vote. Dropping it keeps round numbers and places
            # in the opening equal.
            del self.opening[len(self.done)]
        try:
            return self.rounds.find(self.state, len(self.done) + 1)
        except LearnerError as problem:
            raise problem.in_round(len(self.done) + 1) from problem.__cause__

    def up_to(self, rounds: int, at_once: int = MAX_ROUNDS_PER_CALL) -> Iterator[FinishedRound]:
        """Advance to this number of rounds in all.

        On small samples rounds come in batches, which end at multiples of ``at_once``.
        """
        quick = QuickRounds.of(self, at_once)
        while len(self.done) < rounds and not self.stopped:
            batch: list[FinishedRound] = []
            # A batch has neither the rules of an opening nor the constant of the first round.
            if quick is not None and len(self.done) >= max(1, len(self.opening)):
                batch = quick.advance(rounds)
                self.done += batch
                self.stopped = self._reason() if batch else None
                yield from batch
            # An empty batch means that a rule had no edge: an ordinary round asks the learner again
            # with other seeds, and stops the run if that fails.
            if not batch:
                yield from islice(self, 1)

    def _restart(self, rule: MeasuredRule) -> MeasuredRule:
        """Drop all rounds: a rule without mistakes needs no others, since its vote is infinite."""
        self.state, self.done = self.rounds.start(), []
        if self.watch is not None:
            self.watch.start_again()
        return self.rounds.measured_again(self.state, rule)

    def _reason(self) -> StopReason | None:
        watched = None if self.watch is None else self.watch.reason()
        return self.rounds.finished(self.done[-1].entry) or watched or self._reason_of_booster()

    def _reason_of_booster(self) -> StopReason | None:
        sentence = self.booster.stop(self.state)
        if sentence is None:
            return self._past_bound()
        broken = self.booster.is_promise_broken(self.state)
        kind = Stop.BROKEN_PROMISE if broken else Stop.BOOSTER
        late = len(self.done) > self.booster.promised_rounds
        return StopReason(kind, {"sentence": sentence}, broken=self._least_edge() if late else {})

    def _past_bound(self) -> StopReason | None:
        """Return the contradiction of the proof: more rounds than the promised edge allows."""
        bound, rounds = self.booster.promised_rounds, len(self.done)
        if rounds <= bound * (1 + TOLERANCE) or rounds < len(self.booster.votes(self.state)):
            return None  # votes of earlier rounds were learned on other rows
        least = self.booster.promise * (1 - TOLERANCE)
        below = sum(done.entry.edge < least for done in self.done)
        values = {"bound": math.floor(bound), "rounds": rounds, "below": below}
        return StopReason(Stop.PAST_BOUND, {**values, **self._least_edge()})

    def _least_edge(self) -> dict[str, float]:
        """Return the promise and the rule that broke it most; empty if every rule kept it."""
        promised = self.booster.promise
        if not (promised and self.done):
            return {}
        worst = min((done.entry for done in self.done), key=attrgetter("edge"))
        if worst.edge >= promised * (1 - TOLERANCE):
            return {}
        return {"promised": promised, "worst": worst.number, "edge": worst.edge}

    def _record(self, step: Step, rule: MeasuredRule, started: float) -> FinishedRound:
        error, seconds = self.rounds.training_error(self.state), time.perf_counter() - started
        entry = self.entry_of(len(self.done) + 1, rule, step, error, seconds)
        finished = FinishedRound(rule.hypothesis, self._with_margin(entry))
        if self.watch is None:
            return finished
        value = self._validate(self.watch, self.done, finished, step.vote)
        return replace(finished, entry=replace(finished.entry, validation=value))

    def _with_margin(self, entry: Round) -> Round:
        share = self.booster.share_of(self.state)
        if share is None:
            return entry
        entries = [*(done.entry for done in self.done), entry]
        # Entries hold the largest vote of each round, which is what normalises margins of cells;
        # a booster that revises has changed them since.
        cast = [each.vote for each in entries]
        votes = self.booster.votes(self.state) if self.booster.revises else np.array(cast)
        total, edges = float(np.abs(votes).sum()), [each.edge for each in entries]
        margin, gap = margin_and_gap(self.state.margins, self.sample.base, share, total, edges)
        return replace(entry, margin=margin, gap=gap)

    def _validate(
        self, watch: EarlyStopping, done: list[FinishedRound], finished: FinishedRound, vote: float
    ) -> float:
        """Measure validation rows after a round that follows ``done``."""
        # Old votes may have changed, so that adding the new rule to the scores is not enough.
        if self.booster.revises:
            return watch.see_all(self._vote_of([*done, finished]))
        return watch.see(finished.hypothesis, vote)

    def watch_also(self, name: str, sample: Sample) -> None:
        """Measure further validation rows after every round; they never stop the run."""
        assert self.watch is not None
        other = self.watch.beside(sample)
        for number, finished in enumerate(self.done):
            vote = 1.0 if self.cells else finished.entry.vote
            # Rounds may be done already if the run continues an earlier one.
            self._validate(other, self.done[:number], finished, vote)
        self.watch.others[name] = other

    def resume(
        self, hypotheses: Sequence[Hypothesis], votes: Sequence[float], entries: Sequence[Round]
    ) -> None:
        """Continue after the rounds of an earlier run on the same sample, by the same methods."""
        if not entries:
            return
        self._follow(hypotheses, votes, entries)
        self.rounds.potential.resume(entries, self.state)
        self._replay(hypotheses, votes, entries)
        self.stopped = self.rounds.finished(entries[-1]) or self._reason_of_booster()

    def first_rules(self, rounds: int) -> EarlierRules:
        """Return the rules of the first rounds as an opening."""
        rules = tuple(finished.hypothesis for finished in self.done[:rounds])
        # Every run fits its constant to its rows, so that of this run is left out.
        return EarlierRules(rules[1:] if len(rules[0].values) == 1 else rules)

    def continue_on_other_rows(
        self, margins: Floats, votes: Sequence[float], path: Floats | None = None
    ) -> None:
        """Continue from a vote that was trained on other rows; ``margins`` are of this sample."""
        self.rounds.continue_on_other_rows()
        if not isinstance(self.booster, FilteringBooster):
            raise ParameterError(
                f"{self.booster.name} cannot continue on other rows: margins do not determine its "
                "weights. Use a booster that can filter, such as logit",
                parameter="booster",
            )
        if len(votes):
            self.state = self.booster.continue_on_other_rows(self.state, margins, votes, path)

    def _follow(
        self, hypotheses: Sequence[Hypothesis], votes: Sequence[float], entries: Sequence[Round]
    ) -> None:
        """Turn a fresh state, and the scores, into those after earlier rounds."""
        booster, sample, scores = self.booster, self.sample, self.rounds.scores
        margins = scores.recomputed(hypotheses, votes)
        memories = [entry.memory for entry in entries]
        # Margins alone determine neither the weights of a booster that goes by the path, nor the
        # votes of one that revises: both replay every round.
        if isinstance(booster, FilteringBooster) and booster.by_path:
            path = booster.path(sample, hypotheses, memories, cells=self.cells)
            self.state = booster.continue_on_other_rows(self.state, margins, votes, path)
            return
        if isinstance(booster, RevisingBooster):
            for rule, memory in zip(hypotheses, memories, strict=True):
                agree = np.sign(rule.values).astype(np.int8)[rule.cells(sample)] * sample.signs
                self.state = booster.recall(self.state, agree, memory)
        self.state = booster.resume(self.state, margins, votes, memories[-1])
        scores.look(booster, self.state, None)

    def _replay(
        self, hypotheses: Sequence[Hypothesis], votes: Sequence[float], entries: Sequence[Round]
    ) -> None:
        self.done = []
        for rule, vote, entry in zip(hypotheses, votes, entries, strict=True):
            finished = FinishedRound(rule, entry)
            if self.watch is not None:
                self._validate(self.watch, self.done, finished, vote)
            self.done.append(finished)

    def validation_curves(self, name: str) -> dict[str, list[float]]:
        """Return the metric after every round on each validation set; ``name`` is the first."""
        if self.watch is None:
            return {}
        others = {other: watch.curve for other, watch in self.watch.others.items()}
        return {name: self.watch.curve} | others

    def vote(self) -> Vote:
        return self._vote_of(self.done)

    def _vote_of(self, done: list[FinishedRound]) -> Vote:
        rules = [finished.hypothesis for finished in done]
        return self.booster.final(self.state, rules, self.outputs)

    def ledger(self) -> Ledger:
        """Return the record of the run, with the votes that the rules have now."""
        capacity = self.learner.capacity(self.sample) or Capacity()
        entries = [finished.entry for finished in self.done]
        # The votes of the rounds that are kept, as they were after the last of these.
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
            stopped=sentence_of(self.stopped),
            rounds=entries,
            link=str(self.booster.link),
            several_labels=self.outputs > 1 and self.sample.labels is None,
            revised=self.booster.revises,
            hard=self._hard(),
            counterexample=self._counterexample(),
        )

    def _counterexample(self) -> Counterexample | None:
        found = self.stopped is None or self.stopped.kind is not Stop.NO_EDGE
        witness = self.booster.witness(self.state, found=found)
        if witness is None:
            return None
        promised, numbers = self.booster.promise, self.sample.numbers
        return counterexample(promised, witness.weights, witness.kinds, witness.columns, numbers)

    def _hard(self) -> list[HardRow]:
        if self.sample.targets is not None or not self.done:
            return []
        margins = self._final_margins()
        # One column may stay on a GPU: the few lowest are found there faster than it is copied.
        margins = margins if margins.shape[1] == 1 else in_host_memory(margins)
        return hardest(self.sample, margins, norm(self.vote()), self.rounds.scores.class_scores)

    def _final_margins(self) -> Any:
        """Return the margins of the vote; ``keep_best`` may have dropped the last rounds."""
        if len(self.booster.votes(self.state)) == len(self.done):
            return self.state.margins
        vote = self.vote()
        return self.rounds.scores.recomputed(vote.hypotheses, vote.votes.tolist())

    def scores(self) -> Floats:
        if self.rounds.scores.class_scores is not None:
            return self.rounds.scores.class_scores
        return in_host_memory(self._final_margins()) * self.sample.signs  # type: ignore[no-any-return]

    def keep_best(self) -> None:
        """End the run, and drop the rounds after the one that was best on the validation rows."""
        if self.stopped is None:
            values, broken = {"rounds": len(self.done)}, self._least_edge()
            self.stopped = StopReason(Stop.ALL_ROUNDS, values, broken=broken)
        if self.watch is not None and 0 < self.watch.rounds_to_keep < len(self.done):
            rounds = self.watch.rounds_to_keep
            del self.done[rounds:]
            # With few validation rows the best round is mostly chance, so a minimum is kept.
            best = rounds == self.watch.best_round
            self.stopped = replace(self.stopped, kept=rounds, kept_is_best=best)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of the training rows, which may be computed while the run goes on."""
        return Fingerprint(self.sample, self.rounds.search.stored_codes)

    @property
    def margins(self) -> Floats:
        """y·F(x) of every row, (rows, outputs)."""
        return in_host_memory(self.state.margins)  # type: ignore[no-any-return]

    @property
    def weights(self) -> Wholes:
        return self.booster.request(self.state).rows()
