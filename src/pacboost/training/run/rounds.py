"""The two kinds of rounds: a rule gets one vote, or each cell of a rule gets a value.

Both have the same steps. ``find`` asks the learner until a rule has an edge, and measures it on the
full weighted sample; ``step`` lets the booster vote and compute new weights.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Booster, Measured, Moved, State, whole_values
from pacboost.boosters.multiclass import method_of
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Answers, Cells, CellValues, Hypothesis, Rule
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels.row_draws import draw_rows
from pacboost.learners.learner import Learner, Weights
from pacboost.ledgers.ledger import Round
from pacboost.numerics.exact import FRESH_TOTAL, draw, round_vote
from pacboost.numerics.same_bits import total
from pacboost.samples.sample import Request, Sample, Sums, Wholes
from pacboost.training.run.openings import Opening
from pacboost.training.run.potentials import Potential, potential_of
from pacboost.training.run.scores import Margins, agreement, edge_of, masses, names_class, scores_of
from pacboost.training.run.stop_reason import Stop, StopReason


@lru_cache(maxsize=4096)
def _seed_of(seed: int, number: int, attempt: int) -> int:
    return int(np.random.SeedSequence((seed, number, attempt)).generate_state(1)[0])


@dataclass(frozen=True)
class RowsShown:
    """The rows that a learner sees in a round, which depend on the seed and the round alone.

    All ``rows``, a draw of ``resample`` rows from D_t, or a share ``subsample`` of the rows.
    """

    rows: int
    seed: int
    resample: int = 0
    """The number of rows to draw; -1 for the size of the sample, 0 for no draw."""
    subsample: float = 1.0

    @property
    def all_rows(self) -> bool:
        """Whether the learner sees all rows, so that nothing is random."""
        return not self.resample and self.subsample >= 1

    @property
    def _draws(self) -> int:
        return self.rows if self.resample < 0 else self.resample

    def seed_of(self, number: int, attempt: int) -> int:
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
        if self.subsample >= 1:
            return None
        return draw_rows(seed, self.rows, max(1, round(self.rows * self.subsample)))

    def drawn(self, request: Request, seed: int, booster: str) -> Request:
        """Replace weights by the counts of a draw of pairs of row and output, if rows are drawn."""
        if not self.resample:
            return request
        if not request.signed:
            raise ParameterError(
                f"resample draws rows by their weights, and {booster} fits gradients, which are no "
                "weights; set subsample instead",
                parameter="resample",
            )
        size = self._draws * request.weights.shape[1]
        drawn = draw(request.weights.reshape(-1), size, np.random.default_rng(seed))
        counts = np.bincount(drawn, minlength=request.weights.size).astype(np.int64)
        weights = counts.reshape(request.weights.shape)
        return replace(request, weights=weights, weight=size, pull=size)


RETRIES = 10
"""Number of seeds with which a learner is asked for a rule that has an edge."""
MIN_EDGE = 1e-12


R = TypeVar("R", bound="MeasuredRule")


@dataclass(frozen=True, eq=False)
class MeasuredRule:
    """A rule with its measurements on the full weighted sample."""

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
    """The result of a step of the booster."""

    state: Any
    vote: float
    """The number that multiplies the values of the rule."""
    largest: float
    """The largest number that the rule can add to a score."""
    normaliser: float


class Rounds(ABC, Generic[R]):
    """How a run finds and measures rules; ``scores`` and ``potential`` change with every round."""

    cells: ClassVar[bool]
    """Whether cells get values; otherwise rules get votes."""
    scores: Margins
    potential: Potential
    first_weights: Wholes
    """D_1 in whole units: one for each row, or a single one if all rows have the same weight."""

    def __init__(
        self, sample: Sample, learner: Learner, booster: Booster[Any], shown: RowsShown
    ) -> None:
        self.sample, self.booster, self.shown = sample, booster, shown
        # other seeds help only where something is random
        self._attempts = 1 if learner.deterministic and shown.all_rows else RETRIES
        self._on_other_rows = False
        self.search = learner.on(sample)

    def start(self) -> Any:
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
        """Accept rows that earlier rounds were not trained on; no potential bounds their error."""
        self.scores, self.potential = Margins(self.sample), self.potential.on_other_rows()
        self._on_other_rows = True

    def training_error(self, state: State) -> float:
        if self.sample.targets is not None:
            return self.potential.now
        return self.scores.error(state.margins, self.first_weights)

    @abstractmethod
    def find(self, state: State, number: int) -> R | None:
        """Ask the learner for the rule of a round until it has an edge; None if it never does."""

    @abstractmethod
    def step(self, state: State, rule: R, number: int) -> Step:
        """Let the booster add the rule to its vote, and measure the change."""

    def opened(self, state: State, openings: Sequence[Opening]) -> list[Hypothesis]:
        """Return the rules that come before those of the learner, given the first state."""
        if openings:
            raise ParameterError(
                f"the rules of an opening have values, and {self.booster.name} gives votes to "
                "rules; leave openings out",
                parameter="booster",
            )
        return []

    def measure(self, state: State, rule: Hypothesis) -> R | None:
        """Measure a rule of an opening; None if it has no edge and is dropped."""
        raise NotImplementedError

    def stands_alone(self, rule: R) -> bool:
        """Check whether the best vote of a rule is infinite, so that earlier rounds are dropped."""
        return False

    def measured_again(self, state: State, rule: R) -> R:
        """Measure a rule that stands alone under the weights of a fresh state."""
        return rule

    @abstractmethod
    def finished(self, entry: Round) -> StopReason | None:
        """Return why no round can follow this one; None if one can."""


class RuleRounds(Rounds[MeasuredAnswers]):
    """Rounds in which a rule answers -1 or +1, or names a class, and gets one vote."""

    cells = False

    def find(self, state: State, number: int) -> MeasuredAnswers | None:
        weights, sample = self.booster.request(state).weights[:, 0], self.sample
        answers = sample.signs[:, 0] if sample.labels is None else sample.labels
        samme = names_class(self.booster, sample) and method_of(self.booster.multiclass).guesses
        # SAMME asks of K classes only to be better than guessing one of them
        error_of_guessing = 1 - 1 / sample.signs.shape[1] if samme else 0.5
        for attempt in range(self._attempts):
            seed = self.shown.seed_of(number, attempt)
            rule = self.search.find(self.shown.shown(weights, seed), answers, seed)
            candidate = self._measure(rule, weights)
            # a rule that is wrong on most of the weight is as good as its opposite
            if candidate.measured.edge < 0 and isinstance(rule, Rule):
                candidate = self._measure(rule.negated(), weights)
            # whole weights are rounded: a smaller edge may be an effect of the rounding
            rounding = 4 * weights.size / candidate.measured.total + MIN_EDGE
            if candidate.measured.error < error_of_guessing - rounding / 2:
                return candidate
        return None

    def _measure(self, rule: Hypothesis, weights: Weights) -> MeasuredAnswers:
        agree = agreement(rule, self.sample)
        measured, size = masses(weights, agree)
        if not agree.all():
            # half of the weight it abstains on counts as wrong, so that 1 - 2·error is Σ D·y·h;
            # Z ≤ √(1 - edge²) holds for any answers in [-1, 1], since exp is convex
            abstained = int(weights[agree == 0].sum())
            measured = Measured(measured.total, measured.wrong + (abstained + 1) // 2)
        return MeasuredAnswers(rule, measured, size, agree)

    def measured_again(self, state: State, rule: MeasuredAnswers) -> MeasuredAnswers:
        return self._measure(rule.hypothesis, self.booster.request(state).weights[:, 0])

    def step(self, state: State, rule: MeasuredAnswers, number: int) -> Step:
        state = self.booster.step(state, rule.agree[:, None], rule.measured)
        vote = self._rounded(state, rule.agree)
        self.scores.add(rule.hypothesis, vote)
        error = rule.measured.error
        # Z_t = Σ D_t(i) exp(-vote·y_i h(x_i)) for answers of -1 and +1
        by_sums = error * math.exp(vote) + (1 - error) * math.exp(-vote)
        return Step(state, vote, vote, self.potential.after_round(by_sums, state, number))

    def _rounded(self, state: State, agree: Answers) -> float:
        """Return the last vote; round it, and the margins with it, if the booster has not."""
        vote = self.booster.last_vote(state)
        rounded = vote if self.booster.revises else round_vote(vote)
        if rounded != vote:
            # sums of votes that are not rounded have no ties where the exact majority has some:
            # a training error of .435 was recorded where it is .45
            before = whole_values(state.margins - vote * agree[:, None])
            state.margins[...] = before + rounded * agree[:, None]
            state.cast[-1] = rounded
        return rounded

    def stands_alone(self, rule: MeasuredAnswers) -> bool:
        """Check whether the rule has no mistakes; rounds on other rows are never dropped."""
        return rule.measured.wrong == 0 and not self._on_other_rows

    def finished(self, entry: Round) -> StopReason | None:
        return StopReason(Stop.STANDS_ALONE) if entry.error == 0 else None


class CellRounds(Rounds[MeasuredCells]):
    """Rounds in which the learner divides the rows into cells, and each gets a value."""

    cells = True

    def find(self, state: State, number: int) -> MeasuredCells | None:
        request = self.booster.request(state)
        for attempt in range(self._attempts):
            seed = self.shown.seed_of(number, attempt)
            shown = self.shown.drawn(request, seed, self.booster.name)
            partition = self.search.partition(shown, seed, self.shown.chosen(seed))
            candidate = self._measure(state, request, *partition)
            if _is_useful(candidate):
                return candidate
        return None

    def opened(self, state: State, openings: Sequence[Opening]) -> list[Hypothesis]:
        rules: list[Hypothesis] = []
        start = np.zeros(self.sample.signs.shape[1])
        if self.booster.prior:
            rule, request = self.search.constant(), self.booster.request(state)
            constant = self._measure(state, request, rule, rule.cells(self.sample))
            if _is_useful(constant):  # it is 0 for balanced classes
                rules, start = [constant.hypothesis], constant.values[0]
        unit = self.booster.unit(state)
        for opening in openings:
            rules += opening.rules(self.sample, start, unit)
        return rules

    def measure(self, state: State, rule: Hypothesis) -> MeasuredCells | None:
        request = self.booster.request(state)
        if rule.adds_up:
            by_row = self._measure_by_row(request, rule)
            return by_row if _is_useful(by_row) else None
        # a single line may have no edge even if the sum of all lines has one
        measured = self._measure(state, request, rule, rule.cells(self.sample), rule.values)
        return replace(measured, hypothesis=self._with_gain(measured))

    def _measure_by_row(self, request: Request, rule: Hypothesis) -> MeasuredCells:
        """Measure a rule whose values add up over cells: each row counts as one cell."""
        one, rows = self.search.constant(), self.sample.n_rows
        _, sums, effective_size = self.scores.cell_sums(request, one, one.cells(self.sample))
        pulls = request.pulls.astype(np.int64)
        pulls = request.weights * pulls if request.signed else pulls
        sums = replace(sums, pulls=pulls, weights=request.weights.copy())
        values = rule.said(self.sample)
        cells: Cells = np.arange(rows).astype(np.uint16 if rows < 2**16 else np.uint32)
        measured = self._measured(sums, values)
        return MeasuredCells(rule, measured, effective_size, cells, values, sums, None)

    def _with_gain(self, rule: MeasuredCells) -> Hypothesis:
        """Add the gain of a tree that no learner has grown, which feature importances need.

        It equals the total gain of trees that reach the same values at a small learning rate.
        """
        tree, sums = rule.hypothesis, rule.sums
        if not isinstance(tree, TreeRule) or not tree.gain.size or tree.gain.any():
            return tree
        rate = min(1.0, getattr(self.booster, "learning_rate", 1.0))
        fall = total(tree.values * sums.pulls) ** 2 / FRESH_TOTAL
        curvature = total(tree.values * tree.values * sums.weights)
        gain = np.zeros(tree.gain.size)
        if curvature > 0:  # it is 0 if one row has all the weight
            gain[0] = fall / (curvature * rate * (2 - rate))
        return replace(tree, gain=gain)

    def _measure(
        self,
        state: State,
        request: Request,
        rule: Hypothesis,
        cells: Cells,
        values: CellValues | None = None,
    ) -> MeasuredCells:
        rows, sums, effective_size = self.scores.cell_sums(request, rule, cells)
        if values is None:
            values = self.booster.values(state, sums, cells)
            values = rule.allowed(values, self.booster.unit(state))
        hypothesis = rule.valued(values, sums.weights.sum(axis=1).astype(np.float64))
        measured = self._measured(sums, values)
        return MeasuredCells(hypothesis, measured, effective_size, cells, values, sums, rows)

    def _measured(self, sums: Sums, values: CellValues) -> Measured:
        # edge = 1 - 2·error
        wrong = round(sums.pull * (1 - edge_of(sums, values)) / 2)
        return Measured(sums.pull, wrong)

    def step(self, state: State, rule: MeasuredCells, number: int) -> Step:
        by_sums = self.potential.of_cells(rule.sums, rule.values)
        if self.shown.all_rows and self.search.expects:
            self.search.expect(self.booster.request(state), self.shown.seed_of(number + 1, 0))
        state = self.booster.move(state, Moved(rule.cells, rule.values, by_sums, rule.rows))
        if self.shown.all_rows:
            seed = self.shown.seed_of(number + 1, 0)
            self.search.look_ahead(self.booster.request(state), seed)
            self.shown.seed_of(number + 2, 0)  # cached for the next round while a GPU is busy
        self.scores.look(self.booster, state, rule.rows)
        normaliser = self.potential.after_round(by_sums, state, number)
        return Step(state, 1.0, float(np.abs(rule.values).max()), normaliser)

    def finished(self, entry: Round) -> StopReason | None:
        """Stop after a rule of one vote without mistakes: the next one would be the same."""
        perfect = entry.error == 0 and entry.training_error == 0
        return StopReason(Stop.NO_MISTAKES) if perfect and self.booster.plain else None


def _is_useful(rule: MeasuredCells) -> bool:
    return rule.measured.edge > MIN_EDGE and bool(np.any(rule.values))


def rounds_of(
    sample: Sample, learner: Learner, booster: Booster[Any], shown: RowsShown
) -> Rounds[Any]:
    """Choose the kind of rounds: votes for rules, unless cells need values."""
    two_classes = sample.signs.shape[1] == 1
    votes = names_class(booster, sample) or (
        booster.plain and two_classes and learner.finds_rules(sample)
    )
    kind: type[Rounds[Any]] = RuleRounds if votes else CellRounds
    return kind(sample, learner, booster, shown)
