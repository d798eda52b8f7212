"""The record of a run: what was measured in each round, and which rows are hardest in the end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Hypothesis, Names
from pacboost.hypotheses.vote import Vote
from pacboost.kernels.cuda.device import to_host
from pacboost.kernels.runtime.threads import span_size
from pacboost.ledgers.ledger import KEPT, HardRow, Round
from pacboost.samples.sample import Sample
from pacboost.training.run.early_stopping import EarlyStopping
from pacboost.training.run.margins import Floats, lead, margin_and_gap, norm, normalised
from pacboost.training.run.rounds import MeasuredRule, Rounds, Step

# The rows that a finished vote finds hardest.
#
# Boosting moves its weight to rows on which the rules are often wrong. The rows with the smallest
# margins in the end are outliers, or have wrong labels (Freund and Schapire 1999, A short
# introduction to boosting).

Rows = NDArray[np.intp]


def hardest(
    sample: Sample, margins: Floats, total: float, class_scores: Floats | None = None
) -> list[HardRow]:
    """Return rows of the smallest margins, the hardest first; of equal ones, earlier rows first.

    ``margins`` are y·F(x) of rows and outputs, and ``total`` is the most that all rounds can add.
    Where rules name one of many classes, ``class_scores`` are F(x) of every class.
    """
    decided = _decided(sample, margins, class_scores)
    rows = lowest(decided, KEPT)
    outputs = _outputs(sample, margins, rows)
    own = margins[rows, outputs if margins.shape[1] > 1 else 0]
    numbers = rows if sample.numbers is None else sample.numbers[rows]
    words = [_words(sample, row, output) for row, output in zip(rows, outputs, strict=True)]
    decided, against = (normalised(m, total) for m in (decided[rows], own))
    return [
        HardRow(int(number), label, float(margin), float(1 - right) / 2)
        for number, label, margin, right in zip(numbers, words, decided, against, strict=True)
    ]


def _decided(sample: Sample, margins: Floats, class_scores: Floats | None) -> Floats:
    """Return the margin of each row, not yet normalised; of several labels, the least."""
    if sample.labels is None:
        return margins[:, 0] if margins.shape[1] == 1 else margins.min(axis=1)
    decided, size = np.empty(sample.n_rows), span_size(margins.shape[1])
    for first in range(0, sample.n_rows, size):  # copies of all scores would be large
        own = slice(first, first + size)
        scores = margins[own] * sample.signs[own] if class_scores is None else class_scores[own]
        decided[own] = lead(scores, sample.labels[own])
    return decided / 2 if class_scores is None else decided


def lowest(values: Floats, count: int) -> Rows:
    """Return the places of the smallest values in order; of equal ones, the first.

    >>> lowest(np.array([0.5, -1.0, 0.5, 0.0]), 3).tolist()
    [1, 3, 0]
    """
    if values.size <= count:
        return np.argsort(values, kind="stable")
    # Sorting them all would cost more than the rest together.
    candidates = np.flatnonzero(values <= np.partition(values, count - 1)[count - 1])
    return candidates[np.argsort(values[candidates], kind="stable")][:count]


def _outputs(sample: Sample, margins: Floats, rows: Rows) -> Rows:
    """Return the output of each row's label; of several labels, the one with the least margin."""
    if sample.labels is not None:
        return sample.labels[rows].astype(np.intp)
    worst: Rows = margins[rows].argmin(axis=1)
    return worst


def _words(sample: Sample, row: int, output: int) -> str:
    if sample.labels is not None:
        return sample.answers[output]
    positive = bool(sample.signs[row, output] > 0)
    if sample.signs.shape[1] == 1:
        return sample.answers[-1 if positive else 0]
    return f"{'' if positive else 'not '}{sample.answers[output]}"


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
        """Return the vote of the rounds done."""
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
        """Return the rounds of an earlier run, after measuring the validation rows in each."""
        done: list[FinishedRound] = []
        for rule, vote, entry in zip(hypotheses, votes, entries, strict=True):
            finished = FinishedRound(rule, entry)
            self._validate(self._watch, done, state, finished, vote)
            done.append(finished)
        return done

    def entries(self, done: Done, state: Any) -> list[Round]:
        """Return the records of all rounds, with the votes that their rules have now."""
        entries = [d.entry for d in done]
        if not self._booster.revises:
            return entries
        votes = self._booster.votes_after(state, len(entries))
        return [replace(e, vote=float(v)) for e, v in zip(entries, votes, strict=True)]

    def hard(self, done: Done, state: Any) -> list[HardRow]:
        """Return the rows that are hardest for the vote of the rounds done."""
        if self._sample.targets is not None or not done:
            return []
        vote, scores = self.vote(done, state), self._rounds.scores
        margins = to_host(state.margins)
        if len(self._booster.votes(state)) > len(done):  # the last rounds were dropped
            margins = scores.recomputed(vote.hypotheses, vote.votes.tolist())
        return hardest(self._sample, margins, norm(vote), scores.class_scores)
