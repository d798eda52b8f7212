"""Many rounds in one call of compiled code (src/native/rounds/rounds.h).

Their records are turned into rules and measurements, equal to the last bit to those of rounds that
run one by one.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Booster, Measured, grown
from pacboost.boosters.logit import MAX_STEP, Logit
from pacboost.boosters.losses.square import Square
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels import layout
from pacboost.kernels.native import native
from pacboost.kernels.rounds import Progress, Records, RoundInputs, RoundRows, RoundSettings
from pacboost.kernels.row_draws import KEY_BITS
from pacboost.kernels.threads import ROWS_PER_SUM, sum_count
from pacboost.learners.growing import MAX_SUM
from pacboost.learners.tree import DenseTreeSearch, ManyTrees
from pacboost.numerics.exact import FRESH_TOTAL, VOTE_UNIT
from pacboost.numerics.same_bits import total, totals
from pacboost.training.run.potentials import (
    MIN_NORMALISER,
    Logistic,
    LossPotential,
    MeasuredPotential,
    Unmeasured,
)
from pacboost.training.run.rounds import MIN_EDGE, CellRounds, FinishedRound, MeasuredRule, Step
from pacboost.training.run.scores import MIN_COST, Margins
from pacboost.training.run.so_far import RunSoFar

MAX_ROUNDS_PER_CALL = 64
"""Maximum number of rounds of one call; Ctrl-C is handled between calls."""
MAX_ROWS_PER_CALL = 200_000
"""Maximum number of rows times rounds of one call and thread, which take about 0.1 s."""

NO_SIGNS, NO_NUMBERS = np.empty(0, dtype=np.int8), np.empty(0)


class QuickLoss(ABC):
    """A loss of which compiled code runs many rounds: its limits, rates, rows and state."""

    potential: ClassVar[type[MeasuredPotential]]
    unit: ClassVar[float] = 1.0
    """The unit of the potential."""
    min_cost: ClassVar[float] = 0.0
    has_mistakes: ClassVar[bool] = False
    """Whether the training error counts mistakes; otherwise it is the potential."""
    max_target: float = math.inf

    def __init__(self, run: RunSoFar) -> None:
        self.run = run
        self.booster: Any = run.booster

    @property
    @abstractmethod
    def limits(self) -> tuple[float, float]:
        """The maximum mean of a leaf, and the unit of values."""

    @abstractmethod
    def rates(self, rounds: int) -> NDArray[np.float64]:
        """Return the learning rates of the next rounds."""

    @abstractmethod
    def start(self) -> Progress:
        """Return where the run stands before a batch."""

    @abstractmethod
    def state_after(self, progress: Progress) -> Any:
        """Return the booster's state after a batch."""

    def rows(self) -> RoundRows:
        """Return the rows of the run, with the arrays that rounds change."""
        state, sample = self.run.state, self.run.sample
        columns = state.margins, state.weights, state.pulls
        signs, targets, base = self.labels()
        base_of_costs = np.ones(1) if sample.base.size == 1 else sample.base
        first_weights = self.run.rounds.first_weights
        flat = (column.reshape(-1) for column in columns)
        return RoundRows(signs, targets, base, base_of_costs, first_weights, *flat)

    @abstractmethod
    def labels(self) -> tuple[NDArray[np.int8], NDArray[np.float64], NDArray[np.float64]]:
        """Return the signs, the targets, and the base of weights."""


class LogitLoss(QuickLoss):
    """The logistic loss of two classes."""

    potential, unit, min_cost, has_mistakes = Logistic, Logistic.unit, MIN_COST, True
    limits = MAX_STEP, VOTE_UNIT

    def __init__(self, run: RunSoFar) -> None:
        super().__init__(run)
        self.max_target = float(self.booster.max_target)

    def rates(self, rounds: int) -> NDArray[np.float64]:
        return np.full(rounds, 0.5 * self.booster.learning_rate, dtype=np.float64)

    def labels(self) -> tuple[NDArray[np.int8], NDArray[np.float64], NDArray[np.float64]]:
        return self.run.state.signs.reshape(-1), NO_NUMBERS, self.run.state.base

    def start(self) -> Progress:
        return Progress(0, self.run.state.weight, self.run.state.pull, 1.0, math.inf)

    def state_after(self, progress: Progress) -> Any:
        return replace(self.run.state, weight=progress.weight, pull=progress.pull)


class SquareLoss(QuickLoss):
    """The squared error."""

    potential = LossPotential

    @property
    def limits(self) -> tuple[float, float]:
        return math.inf, self.run.state.unit

    def rates(self, rounds: int) -> NDArray[np.float64]:
        booster, done = self.booster, len(self.run.state.cast)
        rates = [grown(booster.learning_rate, done + k, booster.grows_after) for k in range(rounds)]
        return np.array(rates)

    def labels(self) -> tuple[NDArray[np.int8], NDArray[np.float64], NDArray[np.float64]]:
        return NO_SIGNS, self.run.state.targets, np.ones(1)

    def start(self) -> Progress:
        state = self.run.state
        return Progress(0, state.weight, state.pull, state.scale, state.largest)

    def state_after(self, progress: Progress) -> Any:
        pull, scale, largest = max(1, progress.pull), progress.scale, progress.largest
        return replace(self.run.state, pull=pull, scale=scale, largest=largest)


LOSSES: dict[type[Booster[Any]], type[QuickLoss]] = {Logit: LogitLoss, Square: SquareLoss}


class QuickRounds:
    """Rounds of a run in batches: one call of compiled code for each batch."""

    def __init__(self, run: RunSoFar, trees: ManyTrees, at_once: int) -> None:
        self.run, self.trees = run, trees
        self.loss = LOSSES[type(run.booster)](run)
        self.room = max(1, min(trees.team, 4) * MAX_ROWS_PER_CALL // run.sample.n_rows)
        self.at_once = at_once
        self.measured = type(run.rounds.potential) is self.loss.potential

    @classmethod
    def of(cls, run: RunSoFar, at_once: int = MAX_ROUNDS_PER_CALL) -> QuickRounds | None:
        """Return None if compiled code has no such rounds, or if one takes long."""
        rounds, sample, watch = run.rounds, run.sample, run.watch
        search, booster, shown = rounds.search, run.booster, rounds.shown
        kinds = type(rounds), type(search), type(rounds.scores)
        # by exact types: a subclass may have another loss, which compiled code does not know
        if kinds != (CellRounds, DenseTreeSearch, Margins) or type(booster) not in LOSSES:
            return None
        assert isinstance(search, DenseTreeSearch)
        assert sample.bins is not None
        measured = type(rounds.potential) in (Unmeasured, LOSSES[type(booster)].potential)
        if sample.signs.shape[1] > 1 or shown.resample or not measured:
            return None
        if watch is not None and watch.quick(sample.bins) is None:
            return None
        trees = search.many_trees(booster.request(run.state), shown.chosen(0))
        return None if trees is None or trees.takes_long else cls(run, trees, at_once)

    def advance(self, rounds: int) -> list[FinishedRound]:
        """Run a batch, up to ``rounds`` rounds in all; it is empty if no rule has an edge.

        A batch ends at the next multiple of ``at_once``, or with a heat.
        """
        run, started, trees = self.run, time.perf_counter(), self.trees
        done, bins = len(run.done), run.sample.bins
        assert bins is not None
        n_rounds = min(self.room, self.at_once - done % self.at_once, rounds - done)
        if run.watch is not None:
            # a batch beyond a heat would do rounds of a run that is given up
            n_rounds = int(min(n_rounds, run.watch.rounds_to_heat))
        records = self._room(n_rounds)
        progress = Progress(
            *native.boost_trees(
                trees.team, trees.work, trees.spans, self.loss.rows(), self._settings(),
                self._inputs(done + 1, n_rounds), self.loss.start(), records,
                None if run.watch is None else run.watch.quick(bins),
            )
        )  # fmt: skip
        run.state.cast.extend([1.0] * progress.rounds)
        run.state = self.loss.state_after(progress)
        seconds = (time.perf_counter() - started) / max(1, progress.rounds)
        return self._read(records, progress.rounds, seconds)

    def _settings(self) -> RoundSettings:
        penalty = self.run.booster.request(self.run.state).penalty
        level_penalty = -1.0 if self.trees.penalty is None else self.trees.penalty
        return RoundSettings(
            MAX_SUM, penalty, *self.loss.limits, MIN_EDGE, self.loss.max_target, level_penalty,
            ROWS_PER_SUM, self.measured,
        )  # fmt: skip

    def _inputs(self, first: int, n_rounds: int) -> RoundInputs:
        shown = self.run.rounds.shown
        keys = [shown.seed_of(first + k, 0) << KEY_BITS for k in range(n_rounds)]
        return RoundInputs(np.array(keys, dtype=np.int64), self.loss.rates(n_rounds))

    def _room(self, n_rounds: int) -> Records:
        leaves, spans = self.trees.leaves, sum_count(self.run.sample.n_rows)
        subsets = 0 if self.trees.penalty is None else leaves
        per_leaf = n_rounds, leaves
        return Records(
            np.zeros((n_rounds, 5, leaves), dtype=np.int32),
            np.zeros((n_rounds, subsets, 256), dtype=np.uint8),
            np.zeros(per_leaf), np.zeros(per_leaf), np.zeros((n_rounds, 2 * leaves)),
            *np.zeros((4, n_rounds), dtype=np.int64), *np.zeros((2, n_rounds)),
            *np.zeros((2, n_rounds, spans)),
        )  # fmt: skip

    def _read(self, records: Records, count: int, seconds: float) -> list[FinishedRound]:
        run, potential, sample = self.run, self.run.rounds.potential, self.run.sample
        rows, first_weights = sample.n_rows, run.rounds.first_weights
        first_total = int(first_weights.sum()) if first_weights.size > 1 else rows
        mass = total(sample.base) if sample.base.size > 1 else float(rows)
        largest = np.abs(records.values).max(axis=1, initial=0.0).tolist()
        finished = []
        lines = zip(
            records.leaves.tolist(), records.weights.tolist(), records.pulls.tolist(),
            records.wrong.tolist(), records.edges.tolist(), records.validation_costs.tolist(),
            totals(records.squares).tolist(), totals(records.costs).tolist(), strict=True,
        )  # fmt: skip
        for k, line in enumerate(islice(lines, count)):
            leaves, weight, pull, wrong, edge, validation, squares, cost = line
            pull = max(1, pull)
            tree = self._tree(records, k, leaves, MAX_SUM / max(1, weight), MAX_SUM / pull)
            # edge = 1 - 2·error; the effective size is (Σ D)²/Σ D²
            measured = Measured(pull, round(pull * (1 - edge) / 2))
            rule = MeasuredRule(tree, measured, pull**2 / squares if squares > 0 else 0.0)
            before, normaliser = potential.now, 1.0
            if self.measured:
                potential.now = max(cost / float(self.loss.unit * mass), self.loss.min_cost)
                normaliser = max(potential.now / before if before > 0 else 1.0, MIN_NORMALISER)
            error = wrong / first_total if self.loss.has_mistakes else potential.now
            step = Step(run.state, 1.0, largest[k], normaliser)
            entry = run.entry_of(len(run.done) + k + 1, rule, step, error, seconds)
            if run.watch is not None:
                entry = replace(entry, validation=run.watch.note(validation))
            finished.append(FinishedRound(tree, entry))
        return finished

    def _tree(
        self, records: Records, k: int, leaves: int, weight_scale: float, pull_scale: float
    ) -> TreeRule:
        """Return the tree of a round."""
        splits, bins = leaves - 1, self.run.sample.bins
        assert bins is not None
        feature, cut, missing_left, left, right = records.splits[k, :, :splits]
        member, members = np.full(splits, -1, dtype=np.int32), records.members[0, :0]
        if self.trees.penalty is not None:
            subsets = self.trees.work.codes.features[feature, layout.CATEGORY] != 0
            member = np.where(subsets, np.cumsum(subsets) - 1, -1).astype(np.int32)
            members = records.members[k, :splits][subsets]
        return TreeRule(
            bins, feature, cut, missing_left.astype(np.bool_), left, right, member, members,
            records.gains[k, :splits] * (weight_scale / pull_scale**2 / FRESH_TOTAL),
            records.cover[k, : splits + leaves], records.values[k, :leaves, None],
        )  # fmt: skip
