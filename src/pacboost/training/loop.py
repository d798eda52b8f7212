"""The boosting loop: the only one.

It asks the booster what to learn, the learner for a rule, measures what the rule really does on the
whole weighted sample, and writes that down. Neither learner nor booster reports its own success.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from pacboost.boosters.accepting import Accepting
from pacboost.boosters.booster import Booster, Measured, Moved
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Answers, Cells, Hypothesis, Names, Rule
from pacboost.hypotheses.vote import Vote
from pacboost.learners.learner import Learner, Weights
from pacboost.ledgers.ledger import Ledger, Round
from pacboost.numerics.draw import draw
from pacboost.samples.request import Request
from pacboost.samples.sample import Sample
from pacboost.training import judge
from pacboost.training.watch import Watch

RETRIES = 10
"""How often a learner that found no edge is asked again with another seed."""

LEAST_NORMALISER = 1e-300
"""Regression may meet all targets, but a mean loss of 0 has no logarithm."""

NO_MISTAKES = "a rule without mistakes was found; it stands alone"
FOUND_IT = "a rule without mistakes was found"
NO_EDGE = "the learner found no rule better than guessing"


@dataclass(frozen=True)
class Finding:
    """A rule as the loop saw it: right or wrong on every row, and what that weighs."""

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

    ``resample`` says how many rows to draw from D_t for the learner (-1: as many as there are), 0
    to give it D_t itself; ``subsample`` is the share of rows, chosen anew each round, that it may
    look at. What a rule is worth is measured on the full weighted sample either way.
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
        watch: Watch | None = None,
    ) -> None:
        self.sample = sample
        self.done: list[Done] = []
        self.stopped = ""
        self._learner = learner
        self._booster = booster
        self._plain_votes = booster.plain_votes
        self._seed = seed
        self._resample = sample.n_rows if resample < 0 else resample
        self._subsample = subsample
        self._watch = watch
        self._names = Names(sample.table.name, sample.answers)
        self._by_row = sample.labels is not None and booster.multiclass in ("m1", "samme")
        """Whether a rule names one of many classes, and is right or wrong on a row."""
        self._cells = not self._by_row and not (
            booster.plain and sample.signs.shape[1] == 1 and learner.finds_rules(sample)
        )
        """Whether cells get values; else rules get votes."""
        self._entered = False
        self._search = learner.on(sample)
        self._start()
        request = booster.request(self._state)
        self._first_total = request.weight
        first = request.weights[:, 0]
        self._first_weights = first.copy() if self._weighted else np.ones(1, dtype=np.int64)

    def _start(self) -> None:
        signs = self.sample.signs
        if self._by_row:
            signs = np.ones((signs.shape[0], 1), dtype=np.int8)
            self._class_scores = np.zeros(self.sample.signs.shape)
        self._state = self._booster.init(signs, self.sample.base, self.sample.targets)
        self._potential = self._start_potential

    @property
    def cells(self) -> bool:
        """Whether cells get values of their own; else rules get votes."""
        return self._cells

    @property
    def margins(self) -> NDArray[np.float64]:
        """y·F(x) of every row, (rows, outputs)."""
        margins: NDArray[np.float64] = self._state.margins
        return margins

    @property
    def path(self) -> NDArray[np.float64] | None:
        """The log weights of boosters that go by the path of a margin."""
        path: NDArray[np.float64] | None = getattr(self._state, "standing", None)
        return path

    def enter(
        self,
        margins: NDArray[np.float64],
        votes: Sequence[float],
        path: NDArray[np.float64] | None = None,
    ) -> None:
        """Go on from a vote that was trained on other rows."""
        if not isinstance(self._booster, Accepting):
            raise ParameterError(f"{self._booster.name} does not go on from other rows")
        self._entered = True
        if len(votes):
            self._state = self._booster.enter(self._state, margins, votes, path)

    @property
    def _weighted(self) -> bool:
        return self.sample.base.size > 1

    @property
    def outputs(self) -> int:
        """How many scores a row has."""
        return int(self.sample.signs.shape[1])

    @property
    def _start_potential(self) -> float:
        """The mean potential of scores that are all 0: what ∏ Z_t has to be multiplied with."""
        if self.sample.targets is not None:
            nothing = np.zeros((self.sample.n_rows, 1))
            return judge.mean_potential(self._booster.potential, nothing, self.sample)
        softmax = self._booster.multiclass == "softmax" and self.outputs > 1
        return math.log2(self.outputs) if softmax else 1.0

    @property
    def _pair_factor(self) -> float:
        """By what the error of the class that is named may exceed that of pairs."""
        convex = self._booster.potential not in judge.BY_WEIGHT
        return self.outputs / 2 if convex else self.outputs

    @property
    def _floor(self) -> float:
        """What the product of normalisers bounds is the error where that is above this."""
        return self._booster.floor if isinstance(self._booster, Accepting) else 0.0

    def resume(
        self, hypotheses: Sequence[Hypothesis], votes: Sequence[float], ledger: Ledger
    ) -> None:
        """Take over the rounds of an earlier run on the same sample, by the same means."""
        if not ledger.rounds:
            return
        mine = (self._booster.name, self._learner.name)
        if mine != (ledger.booster, ledger.learner):
            raise ParameterError(
                f"the earlier rounds are of {ledger.booster} with {ledger.learner}, these would be "
                f"of {mine[0]} with {mine[1]}; one record cannot hold both. Start afresh with "
                "warm_start=False"
            )
        scores = Vote(hypotheses, np.array(votes), self.outputs).scores(self.sample.table)
        scores = scores.reshape(self.sample.n_rows, -1)
        margins = self._margins_again(hypotheses, votes, scores)
        if isinstance(self._booster, Accepting) and self._booster.by_path:
            standing = self._followed(self._booster, hypotheses, ledger)
            self._state = self._booster.enter(self._state, margins, votes, standing)
        else:
            memory = ledger.rounds[-1].memory
            self._state = self._booster.resume(self._state, margins, votes, memory)
        self._refuse_other_rows(margins, ledger)
        self._plain_votes = self._plain_votes and ledger.plain_votes
        self.done = [Done(h, e) for h, e in zip(hypotheses, ledger.rounds, strict=True)]
        if ledger.potential not in judge.BY_NORMALISER:  # products are off in their last bit
            self._potential = self._mean_potential(margins)
        for entry in ledger.rounds if self._floor else ():
            self._potential *= entry.normaliser
        last = ledger.rounds[-1]
        if self._cells and self._booster.plain and last.error == 0 and last.training_error == 0:
            self.stopped = FOUND_IT
        if self._watch is not None:
            for past, vote in zip(self.done, votes, strict=True):
                self._watch.see(past.hypothesis, vote)

    def _followed(
        self, booster: Accepting[Any], hypotheses: Sequence[Hypothesis], ledger: Ledger
    ) -> NDArray[np.float64]:
        """Take every row along its path once more."""
        signs = self.sample.signs
        standing = booster.start(signs.shape)
        for hypothesis, entry in zip(hypotheses, ledger.rounds, strict=True):
            said = Vote([hypothesis], np.ones(1), self.outputs).scores(self.sample.table)
            agree = said.reshape(signs.shape) * signs / (booster.rate if self._cells else 1.0)
            standing = booster.follow(standing, agree, entry.memory)
        return standing

    def _margins_again(
        self,
        hypotheses: Sequence[Hypothesis],
        votes: Sequence[float],
        scores: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Give the margins that the earlier rounds left."""
        if not self._by_row:
            return scores * self.sample.signs
        self._class_scores[:] = scores
        margins = np.zeros((self.sample.n_rows, 1))
        for hypothesis, vote in zip(hypotheses, votes, strict=True):
            margins[:, 0] += vote * self._agree(hypothesis)
        return margins

    def _refuse_other_rows(self, margins: NDArray[np.float64], ledger: Ledger) -> None:
        """Raise unless the mean potential = ∏ Z_t on these rows, up to the rounding of weights.

        The equation is all that the bound rests on, so it decides whether old rounds still count.
        Where votes are so large that rounding would excuse anything, the number of rows and the
        training error, which is exact, have to be the recorded ones too.
        """
        entries = ledger.rounds
        same = ledger.rows == self.sample.n_rows
        if self.sample.targets is None:
            shown = self._class_scores * self.sample.signs if self._by_row else margins
            same = same and self._error(shown) == entries[-1].training_error
        expected = math.fsum(math.log(e.normaliser) for e in entries)
        if ledger.potential == "exponential":
            first = np.broadcast_to(self._first_weights[:, None], margins.shape)
            found = float(logsumexp(-margins, b=first / first.sum()))
            allowed = 1e-9 + sum(
                4 * margins.size / e.weight * math.exp(e.vote) / e.normaliser for e in entries
            )
        else:
            mean = self._mean_potential(margins)
            if self._floor:  # the mean weight never changes
                found, expected, allowed = math.log(mean), 0.0, 1e-9
            elif self.sample.targets is not None:  # the record holds the mean loss itself
                found, expected = mean, entries[-1].training_error
                allowed = 1e-9 * expected
            else:
                found, allowed = math.log(mean / self._start_potential), 1e-9
        if not same or abs(found - expected) > allowed:
            raise ParameterError(
                "the earlier rounds were not trained on these rows, labels and weights, so their "
                "record does not hold here. Go on with the same data (and an integer random_state "
                "if rows are held back), or start afresh with warm_start=False"
            )

    def __iter__(self) -> Iterator[Done]:
        """Advance until the booster or the learner has nothing more to give."""
        while not self.stopped:
            started = time.perf_counter()
            done = self._cell_round(started) if self._cells else self._rule_round(started)
            if done is None:
                self.stopped = NO_EDGE
                return
            self.done.append(done)
            self.stopped = self.stopped or self._reason()
            yield done

    def vote(self) -> Vote:
        """Give the vote of all finished rounds."""
        votes = self._booster.votes(self._state)[: len(self.done)]
        return Vote([d.hypothesis for d in self.done], votes, self.outputs)

    def ledger(self) -> Ledger:
        """Give the record of all finished rounds."""
        capacity = self._learner.capacity(self.sample)
        single = self.outputs > 1 and self.sample.labels is not None
        pairs = single and not self._by_row and self._start_potential == 1
        return Ledger(
            booster=self._booster.name,
            potential=self._booster.potential,
            learner=self._learner.name,
            rows=self.sample.n_rows,
            classes=self.outputs,
            weighted=self._weighted,
            plain_votes=self._plain_votes and not self._cells,
            factor=self._pair_factor if pairs else self._start_potential,
            multiclass=self._booster.multiclass if self.outputs > 1 else "",
            cells=self._cells,
            metric=self._watch.metric if self._watch else "",
            vc_dimension=capacity.vc_dimension if capacity else None,
            log_size=capacity.log_size if capacity else None,
            stopped=self.stopped,
            rounds=[d.entry for d in self.done],
            several_labels=self.outputs > 1 and not single,
        )

    def keep_best(self) -> None:
        """Drop the rounds after the one that was best on the validation rows."""
        if self._watch is not None and 0 < self._watch.best_round < len(self.done):
            del self.done[self._watch.best_round :]
            self.stopped += f"; the first {len(self.done)}, best on the validation rows, are kept"

    def _reason(self) -> str:
        if self._watch is not None and self._watch.reason():
            return self._watch.reason()
        return self._booster.stop(self._state) or ""

    # -- rounds whose rule gets one vote

    def _rule_round(self, started: float) -> Done | None:
        finding = self._find(len(self.done) + 1)
        if finding is None:
            return None
        if finding.measured.wrong == 0:
            if self.done and not self._entered:
                self._start_again()
                weights = self._booster.request(self._state).weights[:, 0]
                finding = self._look(finding.hypothesis, weights)
            self.stopped = NO_MISTAKES
        agree = finding.agree[:, None]
        self._state = self._booster.step(self._state, agree, finding.measured)
        vote = self._booster.last_vote(self._state)
        if self._by_row:
            named = finding.hypothesis.values[finding.hypothesis.cells(self.sample)]
            self._class_scores += vote * named
        error = finding.measured.error
        if self._booster.potential in judge.BY_NORMALISER:
            normaliser = error * math.exp(vote) + (1 - error) * math.exp(-vote)
            normaliser = self._floored(normaliser)
        else:
            normaliser = self._normaliser()
        return self._record(
            finding.hypothesis, finding.measured, vote, vote, normaliser,
            finding.effective_size, started,
        )  # fmt: skip

    def _start_again(self) -> None:
        """Forget all rounds: a rule without mistakes needs no company (its vote is infinite)."""
        self._start()
        self.done = []
        if self._watch is not None:
            self._watch.start_again()

    def _find(self, number: int) -> Finding | None:
        """Ask the learner until it has an edge; None if it never does."""
        weights = self._booster.request(self._state).weights[:, 0]
        guessing = 1 - 1 / self.outputs if self._booster.multiclass == "samme" else 0.5
        for attempt in range(self._attempts):
            seed = self._seed_of(number, attempt)
            shown, answers = self._shown(weights, seed), self._answers
            finding = self._look(self._search.find(shown, answers, seed), weights)
            if finding.measured.edge < 0 and isinstance(finding.hypothesis, Rule):
                finding = self._look(finding.hypothesis.negated(), weights)
            rounding = 4 * weights.size / finding.measured.total + 1e-12
            better = guessing if self._by_row else 0.5
            if finding.measured.error < better - rounding / 2:
                return finding
        return None

    @property
    def _answers(self) -> NDArray[Any]:
        """What a rule should answer: signs, or numbers of classes."""
        return self.sample.signs[:, 0] if self.sample.labels is None else self.sample.labels

    @property
    def _attempts(self) -> int:
        chance = self._resample or self._subsample < 1
        return 1 if self._learner.deterministic and not chance else RETRIES

    def _seed_of(self, number: int, attempt: int) -> int:
        """A seed for each call, from the run's seed, the round and the attempt alone."""
        return int(np.random.SeedSequence((self._seed, number, attempt)).generate_state(1)[0])

    def _shown(self, weights: Weights, seed: int) -> Weights:
        """What the learner sees: D_t, or how often a draw from D_t took each row."""
        if self._resample:
            drawn = draw(weights, self._resample, np.random.default_rng(seed))
            return np.bincount(drawn, minlength=weights.size).astype(np.int64)
        if self._subsample < 1:
            left_out = np.ones(weights.size, dtype=np.bool_)
            left_out[self._chosen(seed)] = False
            return np.where(left_out, 0, weights)
        return weights

    def _chosen(self, seed: int) -> NDArray[np.intp] | None:
        """The rows that the learner may look at; None for all."""
        if self._subsample >= 1:
            return None
        rows = self.sample.n_rows
        count = max(1, round(rows * self._subsample))
        chosen = np.random.default_rng(seed).permutation(rows)[:count]
        return np.sort(chosen)

    def _agree(self, hypothesis: Hypothesis) -> Answers:
        """Tell for every row whether the rule is right (+1) or wrong (-1)."""
        if isinstance(hypothesis, Rule):
            return hypothesis.answers(self.sample) * self.sample.signs[:, 0]
        named = hypothesis.values.argmax(axis=1)[hypothesis.cells(self.sample)]
        return np.where(named == self.sample.labels, np.int8(1), np.int8(-1))

    def _look(self, hypothesis: Hypothesis, weights: Weights) -> Finding:
        """Measure a rule on the full weighted sample."""
        agree = self._agree(hypothesis)
        found = judge.masses(weights, agree)
        return Finding(hypothesis, agree, Measured(found.total, found.wrong), found.effective_size)

    # -- rounds whose cells get values

    def _cell_round(self, started: float) -> Done | None:
        request = self._booster.request(self._state)
        prior = self._booster.prior and not self.done
        for attempt in range(-1 if prior else 0, self._attempts):
            rule, cells = self._partition(request, attempt)
            sums, effective_size = judge.cell_sums(request, cells, len(rule.values))
            values = self._booster.values(self._state, sums, cells)
            values = rule.allowed(values, self._booster.unit(self._state))
            edge = judge.edge_of(sums, values)
            if edge > 1e-12 and np.any(values):
                break
        else:
            return None
        exponential = self._booster.potential in judge.BY_NORMALISER
        normaliser = judge.exponential_normaliser(sums, values) if exponential else 1.0
        self._state = self._booster.move(self._state, Moved(cells, values, normaliser))
        normaliser = self._floored(normaliser) if exponential else self._normaliser()
        hypothesis = rule.valued(values, sums.weights.sum(axis=1).astype(np.float64))
        wrong = round(sums.pull * (1 - edge) / 2)
        most = float(np.abs(values).max())
        done = self._record(
            hypothesis, Measured(sums.pull, wrong), 1.0, most, normaliser, effective_size, started
        )
        if wrong == 0 and self._booster.plain and done.entry.training_error == 0:
            self.stopped = FOUND_IT  # the next would be the same again
        return done

    def _partition(self, request: Request, attempt: int) -> tuple[Hypothesis, Cells]:
        """Ask the learner for cells; attempt -1 is for the constant some boosters start with."""
        if attempt < 0:
            rule = self._search.constant()
            return rule, rule.cells(self.sample)
        seed = self._seed_of(len(self.done) + 1, attempt)
        if self._resample:
            request = self._drawn(request, seed)
        return self._search.partition(request, seed, self._chosen(seed))

    def _drawn(self, request: Request, seed: int) -> Request:
        """Tell how often a draw from D_t took each pair of row and output."""
        if not request.signed:
            raise ParameterError(
                f"resample draws rows by their weight, and {self._booster.name} has pulls that "
                "differ from it; set subsample instead"
            )
        size = self._resample * self.outputs
        drawn = draw(request.weights.reshape(-1), size, np.random.default_rng(seed))
        counts = np.bincount(drawn, minlength=request.weights.size).astype(np.int64)
        own = counts.reshape(request.weights.shape)
        return replace(request, weights=own, weight=size, pull=size)

    def _normaliser(self) -> float:
        """By how much this round has multiplied the mean potential.

        On a sample that was drawn for a while (``enter``) the product would bound nothing: 1.
        """
        if self._entered:
            return 1.0
        before = self._potential
        self._potential = self._mean_potential(self._state.margins)
        ratio = self._potential / before if before > 0 else 1.0
        return max(ratio, LEAST_NORMALISER)

    def _floored(self, normaliser: float) -> float:
        """Raise Z_t where ∏ Z_t would fall below the floor of what it bounds."""
        if not self._floor:
            return normaliser
        normaliser = max(normaliser, self._floor / self._potential)
        self._potential *= normaliser
        return normaliser

    def _mean_potential(self, margins: NDArray[np.float64]) -> float:
        """What the margins cost; or the mean weight in units of the first, where that bounds."""
        if self._booster.potential in judge.BY_WEIGHT:
            return judge.total(self._booster.request(self._state)) / self._first_total
        return judge.mean_potential(self._booster.potential, margins, self.sample)

    def _record(
        self,
        hypothesis: Hypothesis,
        measured: Measured,
        vote: float,
        most: float,
        normaliser: float,
        effective_size: float,
        started: float,
    ) -> Done:
        margins = self._class_scores * self.sample.signs if self._by_row else self._state.margins
        entry = Round(
            number=len(self.done) + 1,
            error=measured.error,
            edge=measured.edge,
            vote=most,
            normaliser=normaliser,
            training_error=self._error(margins),
            effective_size=effective_size,
            weight=measured.total,
            memory=self._booster.memory(self._state),
            rule=hypothesis.words(self._names),
            seconds=time.perf_counter() - started,
            validation=self._watch.see(hypothesis, vote) if self._watch else None,
        )
        return Done(hypothesis, entry)

    def _error(self, margins: NDArray[np.float64]) -> float:
        """The training error; in regression the mean loss, which was just measured."""
        if self.sample.targets is not None:
            return self._potential
        return judge.training_error(margins, self.sample, self._first_weights)
