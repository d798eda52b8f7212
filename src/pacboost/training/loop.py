"""The boosting loop: the only one.

It asks the booster for weights, the learner for a rule, measures what the rule really does on the
whole weighted sample, and writes that down. Neither learner nor booster reports its own success.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from pacboost.boosters.booster import Booster, Measured
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Answers, Hypothesis, Names
from pacboost.hypotheses.vote import Vote
from pacboost.kernels import measure
from pacboost.kernels.threads import (
    ROWS_FOR_CHEAP_KERNELS,
    ROWS_PER_SPAN,
    each_rows,
    span_count,
)
from pacboost.learners.learner import Learner, Weights
from pacboost.ledgers.ledger import Ledger, Round
from pacboost.numerics.draw import draw
from pacboost.samples.sample import Sample
from pacboost.training.watch import Watch

RETRIES = 10
"""How often a learner that found no edge is asked again with another seed."""

NO_MISTAKES = "a rule without mistakes was found; it stands alone"
NO_EDGE = "the learner found no rule better than guessing"


@dataclass(frozen=True)
class Finding:
    """A rule as the loop saw it: its agreement with every row, and what it weighs."""

    hypothesis: Hypothesis
    agree: Answers
    measured: Measured
    effective_size: float


@dataclass(frozen=True)
class Done:
    """One finished round: the rule and its record. Appended as one, so never half there."""

    hypothesis: Hypothesis
    entry: Round


class Run:
    """A boosting run on one sample: iterate over it to advance, one round at a time.

    ``resample`` says how many rows to draw from D_t for the learner, 0 to give it D_t itself; the
    edge is measured on the full weighted sample either way.
    """

    def __init__(
        self,
        sample: Sample,
        learner: Learner,
        booster: Booster[Any],
        *,
        seed: int = 0,
        resample: int = 0,
        watch: Watch | None = None,
    ) -> None:
        self.sample = sample
        self.done: list[Done] = []
        self.stopped = ""
        self._learner = learner
        self._search = learner.on(sample)
        self._booster = booster
        self._plain_votes = booster.plain_votes
        self._seed = seed
        self._resample = resample
        self._watch = watch
        self._names = Names(sample.table.name, *sample.answers)
        self._state = booster.init(sample.signs.shape, sample.base)
        first = booster.request(self._state)[0][:, 0]
        self._first_weights = first.copy() if self._weighted else np.ones(1, dtype=np.int64)

    @property
    def _weighted(self) -> bool:
        return self.sample.base.size > 1

    def resume(self, hypotheses: Sequence[Hypothesis], ledger: Ledger) -> None:
        """Take over the rounds of an earlier run on the same sample, by the same means."""
        if not ledger.rounds:
            return
        mine = (self._booster.name, type(self._learner).__name__)
        if mine != (ledger.booster, ledger.learner):
            raise ParameterError(
                f"the earlier rounds are of {ledger.booster} with {ledger.learner}, these would be "
                f"of {mine[0]} with {mine[1]}; one record cannot hold both. Start afresh with "
                "warm_start=False"
            )
        votes = [entry.vote for entry in ledger.rounds]
        scores = Vote(hypotheses, np.array(votes)).scores(self.sample.table)
        margins = scores[:, None] * self.sample.signs
        self._refuse_other_rows(margins[:, 0], ledger.rounds)
        memory = ledger.rounds[-1].memory
        self._state = self._booster.resume(self._state, margins, votes, memory)
        self._plain_votes = self._plain_votes and ledger.plain_votes
        self.done = [Done(h, e) for h, e in zip(hypotheses, ledger.rounds, strict=True)]
        if self._watch is not None:
            for past in self.done:
                self._watch.see(past.hypothesis, past.entry.vote)

    def _refuse_other_rows(self, margins: NDArray[np.float64], entries: Sequence[Round]) -> None:
        """Raise unless mean exp(-margin) = ∏ Z_t on these rows, up to the rounding of weights.

        The equation is all that the bound rests on, so it decides whether old rounds still count.
        """
        first = np.broadcast_to(self._first_weights, margins.shape)
        log_loss = logsumexp(-margins, b=first / first.sum())
        allowed = 1e-9 + sum(
            4 * margins.size / e.weight * math.exp(e.vote) / e.normaliser for e in entries
        )
        if abs(log_loss - math.fsum(math.log(e.normaliser) for e in entries)) > allowed:
            raise ParameterError(
                "the earlier rounds were not trained on these rows, labels and weights, so their "
                "record does not hold here. Go on with the same data (and an integer random_state "
                "if rows are held back), or start afresh with warm_start=False"
            )

    def __iter__(self) -> Iterator[Done]:
        """Advance until the booster or the learner has nothing more to give."""
        while not self.stopped:
            started = time.perf_counter()
            finding = self._find(len(self.done) + 1)
            if finding is None:
                self.stopped = NO_EDGE
                return
            if finding.measured.wrong == 0 and self.done:
                self._start_again()
                finding = self._look(finding.hypothesis, self._booster.request(self._state)[0])
            self._state = self._booster.step(self._state, finding.agree, finding.measured)
            self.done.append(self._record(finding, time.perf_counter() - started))
            self.stopped = self._reason(finding)
            yield self.done[-1]

    def vote(self) -> Vote:
        """Give the vote of all finished rounds."""
        votes = self._booster.votes(self._state)[: len(self.done)]
        return Vote([d.hypothesis for d in self.done], votes)

    def ledger(self) -> Ledger:
        """Give the record of all finished rounds."""
        capacity = self._learner.capacity(self.sample)
        return Ledger(
            booster=self._booster.name,
            potential=self._booster.potential,
            learner=type(self._learner).__name__,
            rows=self.sample.n_rows,
            classes=self.sample.signs.shape[1],
            weighted=self._weighted,
            plain_votes=self._plain_votes,
            vc_dimension=capacity.vc_dimension if capacity else None,
            log_size=capacity.log_size if capacity else None,
            stopped=self.stopped,
            rounds=[d.entry for d in self.done],
        )

    def keep_best(self) -> None:
        """Drop the rounds after the one that was best on the validation rows."""
        if self._watch is not None and 0 < self._watch.best_round < len(self.done):
            del self.done[self._watch.best_round :]
            self.stopped += f"; the first {len(self.done)}, best on the validation rows, are kept"

    def _reason(self, finding: Finding) -> str:
        if finding.measured.wrong == 0:
            return NO_MISTAKES
        if self._watch is not None and self._watch.reason():
            return self._watch.reason()
        return self._booster.stop(self._state) or ""

    def _start_again(self) -> None:
        """Forget all rounds: a rule without mistakes needs no company (its vote is infinite)."""
        self._state = self._booster.init(self.sample.signs.shape, self.sample.base)
        self.done = []
        if self._watch is not None:
            self._watch.start_again()

    def _find(self, number: int) -> Finding | None:
        """Ask the learner until it has an edge; None if it never does."""
        weights, _ = self._booster.request(self._state)
        flat = weights[:, 0]
        retries = 1 if self._learner.deterministic and not self._resample else RETRIES
        for attempt in range(retries):
            seed = self._seed_of(number, attempt)
            hypothesis = self._search.find(self._shown(flat, seed), self.sample.signs[:, 0], seed)
            finding = self._look(hypothesis, weights)
            if finding.measured.edge < 0:
                finding = self._look(hypothesis.negated(), weights)
            rounding = 4 * flat.size / finding.measured.total + 1e-12
            if finding.measured.edge > rounding:
                return finding
        return None

    def _seed_of(self, number: int, attempt: int) -> int:
        """A seed for each call, from the run's seed, the round and the attempt alone."""
        return int(np.random.SeedSequence((self._seed, number, attempt)).generate_state(1)[0])

    def _shown(self, weights: Weights, seed: int) -> Weights:
        """What the learner sees: D_t, or how often a draw from D_t took each row."""
        if not self._resample:
            return weights
        drawn = draw(weights, self._resample, np.random.default_rng(seed))
        return np.bincount(drawn, minlength=weights.size).astype(np.int64)

    def _look(self, hypothesis: Hypothesis, weights: Weights) -> Finding:
        """Measure a rule on the full weighted sample."""
        agree = hypothesis.answers(self.sample) * self.sample.signs[:, 0]
        flat = weights[:, 0]
        sums = np.zeros((span_count(flat.size), 2), dtype=np.int64)
        squares = np.zeros(sums.shape[0])

        def task(start: int, stop: int) -> None:
            a, b = start // ROWS_PER_SPAN, span_count(stop)
            measure.masses(
                flat[start:stop], agree[start:stop], ROWS_PER_SPAN, sums[a:b], squares[a:b]
            )

        each_rows(task, flat.size, at_least=ROWS_FOR_CHEAP_KERNELS)
        total, wrong = (int(number) for number in sums.sum(axis=0))
        size = total**2 / float(squares.sum())
        return Finding(hypothesis, agree[:, None], Measured(total, wrong), size)

    def _record(self, finding: Finding, seconds: float) -> Done:
        vote = self._booster.last_vote(self._state)
        error = finding.measured.error
        entry = Round(
            number=len(self.done) + 1,
            error=error,
            edge=finding.measured.edge,
            vote=vote,
            normaliser=error * math.exp(vote) + (1 - error) * math.exp(-vote),
            training_error=self._training_error(),
            effective_size=finding.effective_size,
            weight=finding.measured.total,
            memory=self._booster.memory(self._state),
            rule=finding.hypothesis.words(self._names),
            seconds=seconds,
            validation=self._watch.see(finding.hypothesis, vote) if self._watch else None,
        )
        return Done(finding.hypothesis, entry)

    def _training_error(self) -> float:
        """The share of the sample, under D_1, on which the vote errs or ties."""
        margins, first = self._state.margins[:, 0], self._first_weights
        total = int(first.sum()) if self._weighted else margins.size
        wrong: list[int] = []

        def task(start: int, stop: int) -> None:
            own = first[start:stop] if self._weighted else first
            wrong.append(int(measure.mistakes(margins[start:stop], own)))

        each_rows(task, margins.size, at_least=ROWS_FOR_CHEAP_KERNELS)
        return sum(wrong) / total
