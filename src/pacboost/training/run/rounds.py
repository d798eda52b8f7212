"""The two kinds of rounds: a rule gets one vote, or each cell of a rule gets a value.

Both go the same way. ``find`` asks the learner until a rule has an edge, and measures it on the
full weighted sample; ``step`` lets the booster vote and weigh the rows anew.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Booster, Measured, Moved
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Answers, Cells, CellValues, Hypothesis, Rule
from pacboost.hypotheses.tree import TreeRule
from pacboost.learners.learner import Learner, Weights
from pacboost.ledgers.ledger import Round
from pacboost.numerics.exact import FRESH_TOTAL, draw
from pacboost.numerics.same_bits import total
from pacboost.samples.sample import Request, Sample, Sums, Wholes
from pacboost.training.run import scores as exact_sums
from pacboost.training.run.openings import Opening
from pacboost.training.run.potentials import Potential, potential_of
from pacboost.training.run.scores import Margins, agreement, names_class, scores_of
from pacboost.training.run.stop_reason import Stop, StopReason

# The rows that a learner sees in a round; they depend on the seed and the round alone.


@lru_cache(maxsize=8)
def _seed_of(seed: int, number: int, attempt: int) -> int:
    return int(np.random.SeedSequence((seed, number, attempt)).generate_state(1)[0])


@dataclass(frozen=True)
class RowsShown:
    """All ``rows``, a draw of ``resample`` rows from D_t, or a share ``subsample`` of the rows."""

    rows: int
    seed: int
    resample: int = 0
    """The number of rows to draw; -1 for as many as there are, 0 for no draw."""
    subsample: float = 1.0

    @property
    def all_rows(self) -> bool:
        """Whether the learner sees all rows, so that nothing is random."""
        return not self.resample and self.subsample >= 1

    @property
    def _draws(self) -> int:
        return self.rows if self.resample < 0 else self.resample

    def seed_of(self, number: int, attempt: int) -> int:
        """Return a seed for each call, from the run's seed, the round and the attempt alone."""
        return _seed_of(self.seed, number, attempt)

    def shown(self, weights: Weights, seed: int) -> Weights:
        """Return the weights that the learner sees: D_t, or the counts of a draw from D_t."""
        if self.resample:
            drawn = draw(weights, self._draws, np.random.default_rng(seed))
            return np.bincount(drawn, minlength=weights.size).astype(np.int64)
        chosen = self.chosen(seed)
        if chosen is None:
            return weights
        left_out = np.ones(weights.size, dtype=np.bool_)
        left_out[chosen] = False
        return np.where(left_out, 0, weights)

    def chosen(self, seed: int) -> NDArray[np.intp] | None:
        """Return the rows that the learner may use; None for all."""
        if self.subsample >= 1:
            return None
        count = max(1, round(self.rows * self.subsample))
        drawn = np.zeros(self.rows, dtype=np.bool_)
        drawn[np.random.default_rng(seed).permutation(self.rows)[:count]] = True
        return np.flatnonzero(drawn)  # in ascending order, without sorting

    def entropy(self, number: int) -> NDArray[np.uint32]:
        """Return what ``seed_of`` makes the first seed of a round of, in words of 32 bits."""
        words = [
            (self.seed >> k) & 0xFFFFFFFF for k in range(0, max(1, self.seed.bit_length()), 32)
        ]
        return np.array([*words, number, 0], dtype=np.uint32)

    def drawn(self, request: Request, seed: int, booster: str) -> Request:
        """Replace weights by the counts of a draw of pairs of row and output, if rows are drawn."""
        if not self.resample:
            return request
        if not request.signed:
            raise ParameterError(
                f"resample draws rows by their weight, and {booster} has pulls that differ from "
                "it; set subsample instead",
                parameter="resample",
            )
        size = self._draws * request.weights.shape[1]
        drawn = draw(request.weights.reshape(-1), size, np.random.default_rng(seed))
        counts = np.bincount(drawn, minlength=request.weights.size).astype(np.int64)
        weights = counts.reshape(request.weights.shape)
        return replace(request, weights=weights, weight=size, pull=size)


RETRIES = 10
"""How often a learner that found no edge is asked again with another seed."""

LEAST_EDGE = 1e-12


@dataclass(frozen=True, eq=False)
class MeasuredRule:
    """A rule, and what it does on the full weighted sample."""

    hypothesis: Hypothesis
    measured: Measured
    effective_size: float


@dataclass(frozen=True, eq=False)
class MeasuredAnswers(MeasuredRule):
    """A rule that is right (+1) or wrong (-1) on every row."""

    agree: Answers


@dataclass(frozen=True, eq=False)
class MeasuredCells(MeasuredRule):
    """A rule with a value in each cell, the sums over its cells, and the rows it may move."""

    cells: Cells
    values: CellValues
    sums: Sums
    rows: NDArray[np.intp] | None


@dataclass(frozen=True)
class FinishedRound:
    """One finished round: the rule and its record."""

    hypothesis: Hypothesis
    entry: Round


@dataclass(frozen=True, eq=False)
class Step:
    """What a step of the booster led to."""

    state: Any
    vote: float
    """The number that multiplies the values of the rule."""
    largest: float
    """The most that the rule can add to a score."""
    normaliser: float
    """Z_t."""


class Rounds(ABC):
    """How a run finds and measures rules; ``scores`` and ``potential`` are measured as it goes."""

    cells: ClassVar[bool]
    """Whether cells get values; else rules get votes."""
    scores: Margins
    potential: Potential
    first_weights: Wholes
    """D_1 in whole units, one for each row, or a single one where all rows weigh the same."""

    def __init__(
        self, sample: Sample, learner: Learner, booster: Booster[Any], shown: RowsShown
    ) -> None:
        self.sample, self.booster, self.shown = sample, booster, shown
        self._attempts = 1 if learner.deterministic and shown.all_rows else RETRIES
        self._on_other_rows = False
        self.search = learner.on(sample)

    def start(self) -> Any:
        """Set all scores to 0, and give the booster's first state."""
        self.scores = scores_of(self.booster, self.sample)
        signs = self.scores.signs
        if self.cells and self.booster.on_gpu:
            signs = self.search.beside(signs)
        state = self.booster.init(signs, self.sample.base, self.sample.targets)
        self.scores.look(self.booster, state, None)
        first = self.booster.request(state)
        self.potential = potential_of(self.booster, self.sample, self.scores, first)
        weighted = self.sample.base.size > 1
        self.first_weights = (
            self.potential.first_weights(first) if weighted else np.ones(1, dtype=np.int64)
        )
        return state

    def continue_on_other_rows(self) -> None:
        """Measure rows that earlier rounds were not trained on: no potential bounds their error."""
        self.scores, self.potential = Margins(self.sample), self.potential.on_other_rows()
        self._on_other_rows = True

    def training_error(self, state: Any) -> float:
        """Return the training error; in regression the mean loss, which was measured last."""
        if self.sample.targets is not None:
            return self.potential.now
        return self.scores.error(state.margins, self.first_weights)

    @abstractmethod
    def find(self, state: Any, number: int) -> MeasuredRule | None:
        """Ask the learner for the rule of a round until it has an edge; None if it never does."""

    @abstractmethod
    def step(self, state: Any, rule: Any, number: int) -> Step:
        """Let the booster take the rule in, and measure what that changed."""

    def opened(self, state: Any, openings: Sequence[Opening]) -> list[Hypothesis]:
        """Return the rules that come before those of the learner, given the first state."""
        if openings:
            raise ParameterError(
                f"the rules of an opening have values, and {self.booster.name} gives votes to "
                "rules; leave openings out",
                parameter="booster",
            )
        return []

    def measure(self, state: Any, rule: Hypothesis) -> MeasuredRule | None:
        """Measure a rule of an opening; None if it has no edge and is left out."""
        raise NotImplementedError

    def stands_alone(self, rule: MeasuredRule) -> bool:
        """Check whether the best vote of a rule is infinite, so that earlier rounds are dropped."""
        return False

    def measured_again(self, state: Any, rule: MeasuredRule) -> MeasuredRule:
        """Measure a rule that stands alone under the weights of a fresh state."""
        return rule

    @abstractmethod
    def finished(self, entry: Round) -> StopReason | None:
        """Return why no round can follow this one; None if one can."""


class RuleRounds(Rounds):
    """Rounds in which a rule answers -1 or +1, or names a class, and gets one vote."""

    cells = False

    def find(self, state: Any, number: int) -> MeasuredAnswers | None:
        weights, sample = self.booster.request(state).weights[:, 0], self.sample
        answers = sample.signs[:, 0] if sample.labels is None else sample.labels
        for attempt in range(self._attempts):
            seed = self.shown.seed_of(number, attempt)
            rule = self.search.find(self.shown.shown(weights, seed), answers, seed)
            found = self._measure(rule, weights)
            if found.measured.edge < 0 and isinstance(rule, Rule):
                found = self._measure(rule.negated(), weights)
            rounding = 4 * weights.size / found.measured.total + LEAST_EDGE
            if found.measured.error < self._guessing - rounding / 2:
                return found
        return None

    @property
    def _guessing(self) -> float:
        """The error of guessing, which a rule has to be better than."""
        classes: int = self.sample.signs.shape[1]
        naming = names_class(self.booster, self.sample)
        return 1 - 1 / classes if naming and self.booster.multiclass == "samme" else 0.5

    def _measure(self, rule: Hypothesis, weights: Weights) -> MeasuredAnswers:
        agree = agreement(rule, self.sample)
        return MeasuredAnswers(rule, *exact_sums.masses(weights, agree), agree)

    def measured_again(self, state: Any, rule: MeasuredRule) -> MeasuredAnswers:
        return self._measure(rule.hypothesis, self.booster.request(state).weights[:, 0])

    def step(self, state: Any, rule: MeasuredAnswers, number: int) -> Step:
        state = self.booster.step(state, rule.agree[:, None], rule.measured)
        vote = self.booster.last_vote(state)
        self.scores.add(rule.hypothesis, vote)
        error = rule.measured.error
        by_sums = error * math.exp(vote) + (1 - error) * math.exp(-vote)
        return Step(state, vote, vote, self.potential.after_round(by_sums, state, number))

    def stands_alone(self, rule: MeasuredRule) -> bool:
        """Check whether the rule has no mistakes; rounds on other rows are not dropped."""
        return rule.measured.wrong == 0 and not self._on_other_rows

    def finished(self, entry: Round) -> StopReason | None:
        return StopReason(Stop.STANDS_ALONE) if entry.error == 0 else None


class CellRounds(Rounds):
    """Rounds in which the learner divides the rows into cells, and each gets a value."""

    cells = True

    def find(self, state: Any, number: int) -> MeasuredCells | None:
        request = self.booster.request(state)
        for attempt in range(self._attempts):
            found = self._measure(state, request, *self._partition(request, number, attempt))
            if _is_useful(found):
                return found
        return None

    def opened(self, state: Any, openings: Sequence[Opening]) -> list[Hypothesis]:
        rules: list[Hypothesis] = []
        start = np.zeros(self.sample.signs.shape[1])
        if self.booster.prior:
            rule, request = self.search.constant(), self.booster.request(state)
            constant = self._measure(state, request, rule, rule.cells(self.sample))
            if _is_useful(constant):  # balanced classes have none
                rules, start = [constant.hypothesis], constant.values[0]
        unit = self.booster.unit(state)
        for opening in openings:
            rules += opening.rules(self.sample, start, unit)
        return rules

    def measure(self, state: Any, rule: Hypothesis) -> MeasuredCells | None:
        request = self.booster.request(state)
        if rule.adds_up:
            whole = self._measure_by_row(request, rule)
            return whole if _is_useful(whole) else None
        # one of several lines may have no edge, though all together have one
        measured = self._measure(state, request, rule, rule.cells(self.sample), rule.values)
        return replace(measured, hypothesis=self._with_gain(measured))

    def _measure_by_row(self, request: Request, rule: Hypothesis) -> MeasuredCells:
        """Measure a rule whose cells add up: each row is a cell of its own."""
        one, rows = self.search.constant(), self.sample.n_rows
        _, sums, effective_size = self.scores.cell_sums(request, one, one.cells(self.sample))
        pulls = request.pulls.astype(np.int64)
        pulls = request.weights * pulls if request.signed else pulls
        sums = replace(sums, pulls=pulls, weights=request.weights.copy())
        values = rule.said(self.sample)
        cells: Cells = np.arange(rows).astype(np.uint16 if rows < 2**16 else np.uint32)
        measured = self._measured(sums, values)
        return MeasuredCells(rule, measured, effective_size, cells, values, sums, None)

    def _with_gain(self, found: MeasuredCells) -> Hypothesis:
        """Write down what a tree wins that no learner has grown, as importances need it.

        It wins as much as trees of a small rate win together in all their rounds.
        """
        tree = found.hypothesis
        if not isinstance(tree, TreeRule) or not tree.gain.size or tree.gain.any():
            return tree
        rate = getattr(self.booster, "learning_rate", 1.0)
        won = total(tree.values * found.sums.pulls) ** 2 / FRESH_TOTAL
        gain = np.zeros(tree.gain.size)
        gain[0] = won / (total(tree.values * tree.values * found.sums.weights) * rate * (2 - rate))
        return replace(tree, gain=gain)

    def _measure(
        self,
        state: Any,
        request: Request,
        rule: Hypothesis,
        cells: Cells,
        values: CellValues | None = None,
    ) -> MeasuredCells:
        """Measure a rule of these values, or of those that the booster finds best."""
        rows, sums, effective_size = self.scores.cell_sums(request, rule, cells)
        if values is None:
            values = self.booster.values(state, sums, cells)
            values = rule.allowed(values, self.booster.unit(state))
        hypothesis = rule.valued(values, sums.weights.sum(axis=1).astype(np.float64))
        measured = self._measured(sums, values)
        return MeasuredCells(hypothesis, measured, effective_size, cells, values, sums, rows)

    def _measured(self, sums: Sums, values: CellValues) -> Measured:
        wrong = round(sums.pull * (1 - exact_sums.edge_of(sums, values)) / 2)
        return Measured(sums.pull, wrong)

    def _partition(self, request: Request, number: int, attempt: int) -> tuple[Hypothesis, Cells]:
        """Ask the learner for cells."""
        seed = self.shown.seed_of(number, attempt)
        request = self.shown.drawn(request, seed, self.booster.name)
        return self.search.partition(request, seed, self.shown.chosen(seed))

    def step(self, state: Any, rule: MeasuredCells, number: int) -> Step:
        by_sums = self.potential.of_cells(rule.sums, rule.values)
        if self.shown.all_rows and self.search.expects:
            self.search.expect(self.booster.request(state), self.shown.seed_of(number + 1, 0))
        state = self.booster.move(state, Moved(rule.cells, rule.values, by_sums, rule.rows))
        if self.shown.all_rows:
            seed = self.shown.seed_of(number + 1, 0)
            self.search.look_ahead(self.booster.request(state), seed)
            self.shown.seed_of(number + 2, 0)  # kept for the next round: a GPU is busy now
        self.scores.look(self.booster, state, rule.rows)
        normaliser = self.potential.after_round(by_sums, state, number)
        return Step(state, 1.0, float(np.abs(rule.values).max()), normaliser)

    def finished(self, entry: Round) -> StopReason | None:
        """Stop after a plain rule without mistakes: the next one would be the same again."""
        perfect = entry.error == 0 and entry.training_error == 0
        return StopReason(Stop.NO_MISTAKES) if perfect and self.booster.plain else None


def _is_useful(found: MeasuredCells) -> bool:
    return found.measured.edge > LEAST_EDGE and bool(np.any(found.values))


def rounds_of(sample: Sample, learner: Learner, booster: Booster[Any], shown: RowsShown) -> Rounds:
    """Choose the kind of rounds: votes for rules, unless cells need values."""
    two_classes = sample.signs.shape[1] == 1
    votes = names_class(booster, sample) or (
        booster.plain and two_classes and learner.finds_rules(sample)
    )
    return (RuleRounds if votes else CellRounds)(sample, learner, booster, shown)
