"""The record of a run: what was measured in each round, and which rows are hardest in the end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pacboost.hypotheses.hypothesis import Hypothesis, Names
from pacboost.hypotheses.vote import Vote
from pacboost.kernels.cuda.device import to_host
from pacboost.ledgers.hard import HardRow
from pacboost.ledgers.ledger import Round
from pacboost.training.run.early_stopping import EarlyStopping
from pacboost.training.run.records.hardest import hardest
from pacboost.training.run.records.margins import margin_and_gap, norm
from pacboost.training.run.rounds import MeasuredRule, Rounds, Step


@dataclass(frozen=True)
class FinishedRound:
    """One finished round: the rule and its record."""

    hypothesis: Hypothesis
    entry: Round


Done = Sequence[FinishedRound]


class Recorder:
    """Writes down the rounds of a run, given the rounds done so far and the booster's state."""

    def __init__(self, rounds: Rounds, watch: EarlyStopping | None) -> None:
        self._rounds, self._watch = rounds, watch
        self._sample, self._booster = rounds.sample, rounds.booster
        self.names = Names(self._sample.table.name, self._sample.answers)

    def vote(self, done: Done, state: Any) -> Vote:
        """Give the vote of the rounds done."""
        votes = self._booster.votes_after(state, len(done))
        vote = Vote([d.hypothesis for d in done], votes, self._sample.signs.shape[1])
        return self._booster.joined(state, vote, self._sample)

    def round(self, done: Done, step: Step, rule: MeasuredRule, started: float) -> FinishedRound:
        """Record what was measured of a rule, and what the step changed."""
        state = step.state
        entry = Round(
            number=len(done) + 1,
            error=rule.measured.error,
            edge=rule.measured.edge,
            vote=step.largest,
            normaliser=step.normaliser,
            training_error=self._rounds.training_error(state),
            effective_size=rule.effective_size,
            weight=rule.measured.total,
            memory=self._booster.memory(state),
            rule=rule.hypothesis.words(self.names),
            seconds=time.perf_counter() - started,
        )
        finished = FinishedRound(rule.hypothesis, self._with_margin(done, state, entry))
        value = self._validate(self._watch, done, state, finished, step.vote)
        if value is None:
            return finished
        return replace(finished, entry=replace(finished.entry, validation=value))

    def _with_margin(self, done: Done, state: Any, entry: Round) -> Round:
        """Add the margin, where the booster maximises it."""
        share = self._booster.share_of(state)
        if share is None:
            return entry
        entries = [*(d.entry for d in done), entry]
        cast = [e.vote for e in entries]  # the largest of each, where cells hold votes
        votes = self._booster.votes(state) if self._booster.revises else np.array(cast)
        total, edges = float(np.abs(votes).sum()), [e.edge for e in entries]
        margin, gap = margin_and_gap(state.margins, self._sample.base, share, total, edges)
        return replace(entry, margin=margin, gap=gap)

    def _validate(
        self,
        watch: EarlyStopping | None,
        done: Done,
        state: Any,
        finished: FinishedRound,
        vote: float,
    ) -> float | None:
        """Measure the validation rows after a round, if there are some."""
        if watch is None:
            return None
        if not self._booster.revises:
            return watch.see(finished.hypothesis, vote)
        return watch.see_all(self.vote([*done, finished], state))

    def catch_up(self, watch: EarlyStopping, done: Done, state: Any) -> None:
        """Measure validation rows after each of the rounds done."""
        for number, finished in enumerate(done):
            vote = 1.0 if self._rounds.cells else finished.entry.vote
            self._validate(watch, done[:number], state, finished, vote)

    def replayed(
        self,
        hypotheses: Sequence[Hypothesis],
        votes: Sequence[float],
        entries: Sequence[Round],
        state: Any,
    ) -> list[FinishedRound]:
        """Give the rounds of an earlier run, after measuring the validation rows in each."""
        done: list[FinishedRound] = []
        for rule, vote, entry in zip(hypotheses, votes, entries, strict=True):
            finished = FinishedRound(rule, entry)
            self._validate(self._watch, done, state, finished, vote)
            done.append(finished)
        return done

    def entries(self, done: Done, state: Any) -> list[Round]:
        """Give the records of all rounds, with the votes that their rules have now."""
        entries = [d.entry for d in done]
        if not self._booster.revises:
            return entries
        votes = self._booster.votes_after(state, len(entries))
        return [replace(e, vote=float(v)) for e, v in zip(entries, votes, strict=True)]

    def hard(self, done: Done, state: Any) -> list[HardRow]:
        """Give the rows that are hardest for the vote of the rounds done."""
        if self._sample.targets is not None or not done:
            return []
        vote, scores = self.vote(done, state), self._rounds.scores
        margins = to_host(state.margins)
        if len(self._booster.votes(state)) > len(done):  # the last rounds were dropped
            margins = scores.recomputed(vote.hypotheses, vote.votes.tolist())
        return hardest(self._sample, margins, norm(vote), scores.class_scores)
