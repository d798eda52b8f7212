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

from pacboost.boosters.base.booster import Booster, Measured, Moved
from pacboost.boosters.base.capabilities import RevisingBooster
from pacboost.boosters.base.filtering_booster import FilteringBooster
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Answers, Cells, Hypothesis, Names, Rule
from pacboost.hypotheses.vote import Vote
from pacboost.learners.learner import Learner, Weights
from pacboost.ledgers.hard import HardRow
from pacboost.ledgers.ledger import Ledger, Round
from pacboost.numerics.soft_margin import soft_margin
from pacboost.samples.request import Request, Sums
from pacboost.samples.sample import Sample
from pacboost.training import judge, resuming
from pacboost.training.choice import Choice
from pacboost.training.each_row import EachRow
from pacboost.training.hardest import hardest
from pacboost.training.margins import norm
from pacboost.training.potential import Potential
from pacboost.training.watch import Watch

RETRIES = 10
"""How often a learner that found no edge is asked again with another seed."""

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
        self._choice = Choice(sample.n_rows, seed, resample, subsample)
        self._watch = watch
        self._names = Names(sample.table.name, sample.answers)
        self._by_row = sample.labels is not None and booster.multiclass in ("m1", "samme")
        """Whether a rule names one of many classes, and is right or wrong on a row."""
        self._cells = not self._by_row and not (
            booster.plain and sample.signs.shape[1] == 1 and learner.finds_rules(sample)
        )
        """Whether cells get values; else rules get votes."""
        self._entered = self._shortened = False
        self._search = learner.on(sample)
        self._start()
        request = booster.request(self._state)
        own = booster.potential in judge.OWN
        first = judge.base_weights(sample) if own else request.weights[:, 0]
        self._first_weights = first.copy() if self._weighted else np.ones(1, dtype=np.int64)

    def _start(self) -> None:
        signs = self.sample.signs
        if self._by_row:
            signs = np.ones((signs.shape[0], 1), dtype=np.int8)
            self._class_scores = np.zeros(self.sample.signs.shape)
        self._state = self._booster.init(signs, self.sample.base, self.sample.targets)
        total = self._booster.request(self._state).weight
        self._potential = Potential(self._booster, self.sample, total)
        self._each: EachRow | None = None
        if self._booster.multiclass == "softmax" and self.outputs > 1:
            self._each = EachRow(self.sample)
            self._each.see(self._state.margins, self._booster.request(self._state), None)

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
        if not isinstance(self._booster, FilteringBooster):
            raise ParameterError(f"{self._booster.name} does not go on from other rows")
        self._entered, self._each = True, None
        if len(votes):
            self._state = self._booster.enter(self._state, margins, votes, path)

    @property
    def _weighted(self) -> bool:
        return self.sample.base.size > 1

    @property
    def outputs(self) -> int:
        """How many scores a row has."""
        return int(self.sample.signs.shape[1])

    def resume(
        self, hypotheses: Sequence[Hypothesis], votes: Sequence[float], ledger: Ledger
    ) -> None:
        """Take over the rounds of an earlier run on the same sample, by the same means."""
        if not ledger.rounds:
            return
        resuming.refuse_other_means(self._booster.name, self._learner.name, ledger)
        margins = self._margins_again(hypotheses, votes)
        self._state = self._resumed(hypotheses, votes, margins, ledger)
        if self._booster.revises:
            margins = self._state.margins
        if self._each is not None:
            self._each.see(margins, self._booster.request(self._state), None)
        known = ledger.potential == "exponential"  # from margins, whatever their size
        mean = 1.0 if known else self._mean_potential(margins, len(ledger))
        shown = self._class_scores * self.sample.signs if self._by_row else margins
        resuming.refuse_other_rows(
            ledger,
            self.sample,
            margins,
            self._first_weights,
            None if self.sample.targets is not None else self._error(shown),
            mean,
            self._potential.start,
            by_weight=bool(self._potential.floor),
        )
        self._plain_votes = self._plain_votes and ledger.plain_votes
        self.done = [Done(h, e) for h, e in zip(hypotheses, ledger.rounds, strict=True)]
        if not self._potential.by_normaliser:  # products are off in their last bit
            self._potential.now = mean
        for entry in ledger.rounds if self._potential.floor else ():
            self._potential.now *= entry.normaliser
        last = ledger.rounds[-1]
        if self._cells and self._booster.plain and last.error == 0 and last.training_error == 0:
            self.stopped = FOUND_IT
        past, self.done = self.done, []
        for done, vote in zip(past, votes, strict=True):
            self._see(done, vote)
            self.done.append(done)
        self.stopped = self.stopped or self._booster.stop(self._state) or ""

    def _resumed(
        self,
        hypotheses: Sequence[Hypothesis],
        votes: Sequence[float],
        margins: NDArray[np.float64],
        ledger: Ledger,
    ) -> Any:
        """Give the state that the earlier rounds left."""
        booster, state = self._booster, self._state
        memories = [entry.memory for entry in ledger.rounds]
        if isinstance(booster, FilteringBooster) and booster.by_path:
            path = resuming.followed(booster, self.sample, hypotheses, memories, cells=self._cells)
            return booster.enter(state, margins, votes, path)
        if isinstance(booster, RevisingBooster):
            for rule, memory in zip(hypotheses, memories, strict=True):
                state = booster.recall(state, self._agreement(rule), memory)
        return booster.resume(state, margins, votes, memories[-1])

    def _agreement(self, rule: Hypothesis) -> Answers:
        """Tell for every row and output whether what a rule says has the sign that is wanted."""
        said = np.sign(rule.values).astype(np.int8)[rule.cells(self.sample)]
        return said * self.sample.signs

    def _margins_again(
        self, hypotheses: Sequence[Hypothesis], votes: Sequence[float]
    ) -> NDArray[np.float64]:
        """Give the margins that the earlier rounds left."""
        scores = Vote(hypotheses, np.array(votes), self.outputs).scores(self.sample.table)
        scores = scores.reshape(self.sample.n_rows, -1)
        if not self._by_row:
            return scores * self.sample.signs
        self._class_scores[:] = scores
        margins = np.zeros((self.sample.n_rows, 1))
        for hypothesis, vote in zip(hypotheses, votes, strict=True):
            margins[:, 0] += vote * self._agree(hypothesis)
        return margins

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
        return self._vote_of(self.done)

    def _vote_of(self, done: Sequence[Done]) -> Vote:
        votes = self._booster.votes_after(self._state, len(done))
        vote = Vote([d.hypothesis for d in done], votes, self.outputs)
        return self._booster.joined(self._state, vote, self.sample)

    def ledger(self) -> Ledger:
        """Give the record of all finished rounds."""
        capacity = self._learner.capacity(self.sample)
        single = self.outputs > 1 and self.sample.labels is not None
        return Ledger(
            booster=self._booster.name,
            potential=self._booster.potential,
            learner=self._learner.name,
            rows=self.sample.n_rows,
            classes=self.outputs,
            weighted=self._weighted,
            plain_votes=self._plain_votes and not self._cells,
            factor=self._potential.factor(by_row=self._by_row),
            multiclass=self._booster.multiclass if self.outputs > 1 else "",
            cells=self._cells,
            metric=self._watch.metric if self._watch else "",
            vc_dimension=capacity.vc_dimension if capacity else None,
            log_size=capacity.log_size if capacity else None,
            stopped=self.stopped,
            rounds=self._entries(),
            several_labels=self.outputs > 1 and not single,
            revised=self._booster.revises,
            hard=self._hard(),
        )

    def _hard(self) -> list[HardRow]:
        """The rows that the vote of all finished rounds finds hardest."""
        if self.sample.targets is not None or not self.done:
            return []
        vote, margins = self.vote(), self._state.margins
        if self._shortened:
            margins = self._margins_again(vote.hypotheses, vote.votes.tolist())
        class_scores = self._class_scores if self._by_row else None
        return hardest(self.sample, margins, norm(vote), class_scores)

    def _entries(self) -> list[Round]:
        """The records of all rounds, with the votes that their rules have now."""
        entries = [done.entry for done in self.done]
        if not self._booster.revises:
            return entries
        votes = self._booster.votes_after(self._state, len(entries))
        return [replace(e, vote=float(v)) for e, v in zip(entries, votes, strict=True)]

    def keep_best(self) -> None:
        """Drop the rounds after the one that was best on the validation rows."""
        if self._watch is not None and 0 < self._watch.best_round < len(self.done):
            del self.done[self._watch.best_round :]
            self._shortened = True
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
        normaliser = self._normaliser(error * math.exp(vote) + (1 - error) * math.exp(-vote))
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
            seed = self._choice.seed_of(number, attempt)
            shown, answers = self._choice.shown(weights, seed), self._answers
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
        return 1 if self._learner.deterministic and self._choice.all_rows else RETRIES

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
            rows, sums, effective_size = self._sums(request, rule, cells)
            values = self._booster.values(self._state, sums, cells)
            values = rule.allowed(values, self._booster.unit(self._state))
            edge = judge.edge_of(sums, values)
            if edge > 1e-12 and np.any(values):
                break
        else:
            return None
        by_sums = self._potential.by_normaliser
        told = judge.exponential_normaliser(sums, values) if by_sums else 1.0
        self._state = self._booster.move(self._state, Moved(cells, values, told, rows))
        if self._each is not None:
            self._each.see(self._state.margins, self._booster.request(self._state), rows)
        normaliser = self._normaliser(told)
        hypothesis = rule.valued(values, sums.weights.sum(axis=1).astype(np.float64))
        wrong = round(sums.pull * (1 - edge) / 2)
        most = float(np.abs(values).max())
        done = self._record(
            hypothesis, Measured(sums.pull, wrong), 1.0, most, normaliser, effective_size, started
        )
        if wrong == 0 and self._booster.plain and done.entry.training_error == 0:
            self.stopped = FOUND_IT  # the next would be the same again
        return done

    def _sums(
        self, request: Request, rule: Hypothesis, cells: Cells
    ) -> tuple[NDArray[np.intp] | None, Sums, float]:
        """Give the rows that the rule may move (None: all), the sums over its cells, and worth."""
        if self._each is None:
            return None, *judge.cell_sums(request, cells, len(rule.values))
        rows = None if rule.silent is None else np.flatnonzero(cells != rule.silent)
        return rows, *self._each.cell_sums(request, cells, len(rule.values), rows)

    def _partition(self, request: Request, attempt: int) -> tuple[Hypothesis, Cells]:
        """Ask the learner for cells; attempt -1 is for the constant some boosters start with."""
        if attempt < 0:
            rule = self._search.constant()
            return rule, rule.cells(self.sample)
        seed = self._choice.seed_of(len(self.done) + 1, attempt)
        request = self._choice.drawn(request, seed, self._booster.name)
        return self._search.partition(request, seed, self._choice.chosen(seed))

    def _normaliser(self, told: float) -> float:
        """By how much this round has multiplied the mean potential; ``told`` by sums, if they do.

        On a sample that was drawn for a while (``enter``) the product would bound nothing: 1.
        """
        if self._potential.by_normaliser:
            return self._potential.known(told)
        if self._entered:
            return 1.0
        return self._potential.measured(
            self._mean_potential(self._state.margins, len(self.done) + 1)
        )

    def _mean_potential(self, margins: NDArray[np.float64], rounds: int) -> float:
        if self._each is not None:
            return self._each.mean_cost()
        return self._potential.mean(self._state, margins, rounds)

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
        )
        done = Done(hypothesis, self._with_margin(entry))
        value = self._see(done, vote)
        return done if value is None else replace(done, entry=replace(done.entry, validation=value))

    def _see(self, done: Done, vote: float) -> float | None:
        """Measure a new round on the validation rows, if there are some."""
        if self._watch is None:
            return None
        if not self._booster.revises:
            return self._watch.see(done.hypothesis, vote)
        return self._watch.see_all(self._vote_of([*self.done, done]))

    def _with_margin(self, entry: Round) -> Round:
        """Add the margin that is maximised, and how much more any vote could have at most.

        Under whatever weights a row may have, no vote's margin exceeds the largest edge of a rule.
        So the least edge of all rounds is a bound, if the learner found the best rule in each.
        """
        share = self._booster.share_of(self._state)
        if share is None:
            return entry
        entries = [*(done.entry for done in self.done), entry]
        cast = [e.vote for e in entries]  # the largest of each, where cells hold votes
        votes = self._booster.votes(self._state) if self._booster.revises else np.array(cast)
        norm = float(np.abs(votes).sum())
        margin = soft_margin(self._state.margins, self.sample.base, share) / norm
        least = min(e.edge for e in entries)
        return replace(entry, margin=margin, gap=least - margin)

    def _error(self, margins: NDArray[np.float64]) -> float:
        """The training error; in regression the mean loss, which was just measured."""
        if self.sample.targets is not None:
            return self._potential.now
        if self._each is not None:
            return self._each.error(self._first_weights)
        return judge.training_error(margins, self.sample, self._first_weights)
